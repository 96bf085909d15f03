//! What can go wrong with local files: [`DiskError`].

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a local file cannot be made, written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum DiskError {
    /// There is no room left. The same task may succeed with another folder or on another host.
    #[error("no room left to write {}; free some, or add a folder to `firesteel.local.dir`: {source}", path.display())]
    Full { path: PathBuf, source: io::Error },

    /// The file cannot be made, written or read.
    #[error("cannot {action} {}: {source}", path.display())]
    Failed { action: &'static str, path: PathBuf, source: io::Error },

    /// Not one of the folders can be used.
    #[error("no folder of `firesteel.local.dir` can be used: {}", Listed(failures))]
    NoFolder { failures: Vec<FolderFailure> },
}

/// A folder, and why it cannot be used.
#[derive(Debug)]
#[expect(missing_docs, reason = "the field names say it")]
pub struct FolderFailure {
    pub folder: PathBuf,
    pub source: io::Error,
}

impl DiskError {
    /// The error of `action` on `path`.
    pub(crate) fn new(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path, source },
            _ => Self::Failed { action, path, source },
        }
    }

    /// Whether the reason is want of room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        match self {
            Self::Full { .. } => true,
            Self::Failed { .. } => false,
            Self::NoFolder { failures } => failures.iter().all(|failure| is_full(&failure.source)),
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Whether `error` means that the folder is at fault rather than one file: full, broken, read-only, forbidden or gone.
pub(super) fn blames_folder(error: &io::Error) -> bool {
    use rustix::io::Errno;

    is_full(error)
        || matches!(error.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied)
        || error.raw_os_error() == Some(Errno::IO.raw_os_error())
        || error.kind() == io::ErrorKind::NotFound
}

/// Failures in one line.
struct Listed<'a>(&'a [FolderFailure]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return out.write_str("it names none");
        }
        for (index, FolderFailure { folder, source }) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "; " };
            write!(out, "{comma}{}: {source}", folder.display())?;
        }
        Ok(())
    }
}
