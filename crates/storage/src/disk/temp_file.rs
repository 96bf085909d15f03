//! A file that is gone unless it is given a name: [`TempFile`].

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::DiskError;
use super::local_dirs::{Shared, check_name};

/// A new local file. Removed when dropped, unless it was [given a name](TempFile::persist_as).
///
/// Writes go straight to the file: put a buffer before it. A write that fails because the folder is full or broken makes
/// new files avoid it; [`failed`](TempFile::failed) makes a [`DiskError`] of what the writer returned.
#[derive(Debug)]
pub struct TempFile {
    file: Arc<File>,
    path: PathBuf,
    dirs: Arc<Shared>,
    folder: usize,
    keep: bool,
}

impl TempFile {
    pub(super) fn new(file: File, path: PathBuf, dirs: Arc<Shared>, folder: usize) -> Self {
        Self { file: Arc::new(file), path, dirs, folder, keep: false }
    }

    /// Where it is at present.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, open for reading and writing. It can be read after it was removed.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Marks the file as failed, and returns the error to report.
    pub fn failed(&self, source: io::Error) -> DiskError {
        self.dirs.note(self.folder, &source);
        DiskError::new("write", &self.path, source)
    }

    /// Gives the file its name, in the same folder and at once: others see the whole file or none.
    ///
    /// A file that has the name already is replaced, also one in another folder.
    pub fn persist_as(mut self, name: &str) -> Result<PathBuf, DiskError> {
        check_name(name);
        let renamed = self.dirs.folder(self.folder).at(name, |path| fs::rename(&self.path, path));
        let (path, ()) = renamed.map_err(|source| self.failed(source))?;
        self.keep = true;
        self.dirs.remove(name, |folder| folder != self.folder)?;
        Ok(path)
    }
}

impl Write for TempFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        if let Err(error) = &written {
            self.dirs.note(self.folder, error);
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        match fs::remove_file(&self.path) {
            Ok(()) => (),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (),
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "cannot remove a temporary file")
            }
        }
    }
}
