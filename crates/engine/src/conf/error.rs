//! [`ConfError`]: why settings cannot be used.

use std::{error::Error, io, path::PathBuf};

use firesteel_types::settings::ValueError;

use super::origin::Origin;

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ConfError {
    /// No setting has this key.
    #[error("unknown setting `{key}`{}", suggestion(*.nearest))]
    UnknownKey { key: String, nearest: Option<&'static str> },

    /// The setting does not take this value.
    #[error("setting `{key}` cannot be `{value}`: {reason}")]
    InvalidValue { key: &'static str, value: String, reason: ValueError },

    /// What is wrong stands outside the program.
    #[error("{origin}: {problem}")]
    At { origin: Origin, problem: Box<Self> },

    /// A file that a variable or a setting names cannot be read.
    #[error("cannot read `{}`, the file that {named_by} names", path.display())]
    Unreadable {
        path: PathBuf,
        named_by: &'static str,
        #[source]
        source: io::Error,
    },

    /// An environment variable holds bytes that are no text.
    #[error("environment variable {variable} is not valid Unicode")]
    NotUnicode { variable: &'static str },

    /// The allocation file is not XML, or its XML describes no pools.
    #[error("`{}` does not describe pools as <allocations><pool name=\"…\">…</pool></allocations>", path.display())]
    NoPools {
        path: PathBuf,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

fn suggestion(nearest: Option<&str>) -> String {
    match nearest {
        Some(key) => format!("; did you mean `{key}`?"),
        None => "; docs/settings.md lists all settings".to_owned(),
    }
}
