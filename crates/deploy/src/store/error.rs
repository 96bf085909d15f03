//! Why an object is not stored: [`StoreError`].

use std::{io, path::PathBuf};

/// Why an object could not be stored, removed or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum StoreError {
    /// Something is stored under this name. It is kept as it is.
    #[error("{name} is stored already, in {}", path.display())]
    Exists { name: String, path: PathBuf },
    /// Another master uses the folder.
    #[error("{} is used by another master; give each a folder of its own", folder.display())]
    InUse { folder: PathBuf },
    /// The folder or a file in it cannot be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// An object cannot be written down.
    #[error("cannot write {name} down: {reason}")]
    NotSerializable { name: String, reason: String },
}
