//! How a command ends when it does not end well.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// To be told.
    Message(String),
    /// Has been told.
    Reported,
    /// Nobody reads the output any more.
    Closed,
}

impl Failure {
    pub(crate) fn new(message: impl Display) -> Self {
        Self::Message(message.to_string())
    }

    /// The output cannot be written. A reader that has seen enough (`| head`) is no fault.
    #[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
    pub(crate) fn output(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Message(format!("the output cannot be written: {error}")),
        }
    }

    /// Tells it, and the exit code.
    pub(crate) fn report(&self) -> ExitCode {
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
