//! [`ModelError`]: what is wrong with the description of a machine, and what to write instead.

use std::fmt;

/// A machine cannot be modelled as it is described.
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
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { text } => write!(
                f,
                "`{text}` is not a size; write a whole number of bytes, with `k` (1024) or `M` (1024k) after it if wanted: \
                 `512`, `32k`, `1M`"
            ),
            Self::Setting { setting, value, instead } => {
                write!(f, "`{setting}` is {value}; write {instead}")
            }
        }
    }
}

impl std::error::Error for ModelError {}
