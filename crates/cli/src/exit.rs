//! How the command ends: messages and exit codes.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | it worked |
//! | 1 | it did not; the message says why and what helps |
//! | 2 | the command line makes no sense |
//! | other | that of the master, worker or application that it was |

use std::{fmt, process::ExitCode};

/// A command line that makes no sense.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Prints an error with its causes, and gives the exit code.
#[expect(clippy::print_stderr, reason = "a command says why it failed")]
pub(crate) fn failed(error: &anyhow::Error) -> ExitCode {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        // Some errors tell their cause themselves.
        if !text.contains(&cause) {
            text = if text.is_empty() { cause } else { format!("{text}: {cause}") };
        }
    }
    eprintln!("firesteel: {text}");
    ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
}

/// An exit code of a daemon as the operating system takes it.
pub(crate) fn code(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
