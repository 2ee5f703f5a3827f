//! How a command ends when it does not end well.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// Why a command failed.
///
/// ```
/// use stratape_console::failure::Failure;
///
/// let failure = Failure::new("no such file; name another one");
/// assert!(matches!(failure, Failure::Message(text) if text.contains("another")));
/// ```
#[derive(Debug)]
pub enum Failure {
    /// To be told.
    Message(String),
    /// Has been told.
    Reported,
    /// Nobody reads the output any more.
    Closed,
}

impl Failure {
    /// One to be told as `error: …`.
    ///
    /// ```
    /// use stratape_console::failure::Failure;
    ///
    /// assert!(matches!(Failure::new(3), Failure::Message(text) if text == "3"));
    /// ```
    pub fn new(message: impl Display) -> Self {
        Self::Message(message.to_string())
    }

    /// The output cannot be written. A reader that has seen enough (`| head`) is no fault.
    ///
    /// ```
    /// use std::io::ErrorKind;
    /// use stratape_console::failure::Failure;
    ///
    /// assert!(matches!(Failure::output(ErrorKind::BrokenPipe.into()), Failure::Closed));
    /// assert!(matches!(Failure::output(ErrorKind::StorageFull.into()), Failure::Message(_)));
    /// ```
    #[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
    pub fn output(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Message(format!("the output cannot be written: {error}")),
        }
    }

    /// Prints it to the standard error, and returns the exit code.
    ///
    /// ```
    /// use stratape_console::failure::Failure;
    ///
    /// assert_eq!(Failure::Closed.report(), std::process::ExitCode::SUCCESS);
    /// ```
    pub fn report(&self) -> ExitCode {
        match self {
            // With nobody to tell it to, the exit code says enough.
            Self::Message(message) => {
                writeln!(io::stderr(), "error: {message}").unwrap_or_default();
            }
            Self::Reported => {}
            Self::Closed => return ExitCode::SUCCESS,
        }
        ExitCode::FAILURE
    }
}
