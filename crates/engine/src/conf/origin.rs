//! [`Origin`]: where a value was set.

use std::{fmt, path::PathBuf};

/// Where a value was set. Later ones in this list go before earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum Origin {
    /// Nowhere: it is the default.
    Default,
    /// At a line of a file, counted from 1.
    File { path: PathBuf, line: usize },
    /// In an environment variable, at a line of it if it holds several settings.
    Environment { variable: &'static str, line: Option<usize> },
    /// By the program.
    Code,
}

impl Origin {
    /// Its place in the order: a value of a higher layer is never replaced by one of a lower.
    pub(super) const fn layer(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File { .. } => 1,
            Self::Environment { .. } => 2,
            Self::Code => 3,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => out.write_str("the defaults"),
            Self::File { path, line } => write!(out, "{} line {line}", path.display()),
            Self::Environment { variable, line: None } => write!(out, "environment variable {variable}"),
            Self::Environment { variable, line: Some(line) } => {
                write!(out, "environment variable {variable} line {line}")
            }
            Self::Code => out.write_str("the program"),
        }
    }
}
