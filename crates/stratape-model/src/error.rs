//! [`ModelError`]: what is wrong with a machine or a program, and what to write instead.

use std::fmt;

/// A machine cannot be modelled as it is described, or a program cannot run on it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelError {
    /// A text is no size.
    Size {
        /// The text.
        text: String,
    },
    /// A setting of a [`Machine`](crate::Machine) is out of range, or contradicts another.
    Setting {
        /// Its name, as a path of fields.
        setting: &'static str,
        /// Its value.
        value: u64,
        /// What to write instead.
        instead: String,
    },
    /// A program cannot be compiled or run.
    Program {
        /// Its name.
        name: String,
        /// Why, and what to do.
        message: String,
    },
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { text } => write!(
                f,
                "`{text}` is not a size; write a whole number of bytes, with `k` (1024) or `M` (1024k) after it if wanted: \
                 `512`, `32k`, `1M`"
            ),
            Self::Program { name, message } => write!(f, "`{name}`: {message}"),
            Self::Setting { setting, value, instead } => {
                write!(f, "`{setting}` is {value}; write {instead}")
            }
        }
    }
}

impl std::error::Error for ModelError {}
