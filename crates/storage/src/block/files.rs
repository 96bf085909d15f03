//! Where block files are put ([`BlockFiles`]), and files that are open for reading ([`BlockFile`]).

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use bytes::Bytes;

use crate::disk::open_regular;

/// The local folders, as far as block files are concerned.
pub trait BlockFiles: Send + Sync {
    /// The path for a new file of this name, in a folder that exists and is not known to fail.
    ///
    /// Nothing is created. Asked again, it may name another folder.
    fn place(&self, name: &str) -> io::Result<PathBuf>;

    /// Notes that `path` could not be written, so that its folder is avoided.
    fn failed(&self, path: &Path, error: &io::Error);
}

/// One folder for all block files.
#[derive(Debug)]
pub struct OneFolder {
    path: PathBuf,
}

impl OneFolder {
    /// The files go to `path`, which has to exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }
}

impl BlockFiles for OneFolder {
    fn place(&self, name: &str) -> io::Result<PathBuf> {
        Ok(self.path.join(name))
    }

    fn failed(&self, path: &Path, error: &io::Error) {
        tracing::warn!(path = %path.display(), %error, "cannot write a block");
    }
}

/// The bytes of a block in a file that is open for reading.
#[derive(Debug)]
pub struct BlockFile {
    file: File,
    path: PathBuf,
    len: u64,
    /// Removes the file when the last byte has been read or the reader is dropped.
    temporary: Option<TemporaryFile>,
}

impl BlockFile {
    /// Opens the file at `path`.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = open_regular(path)?;
        let len = file.metadata()?.len();
        Ok(Self { file, path: path.to_owned(), len, temporary: None })
    }

    /// Opens a file that goes when this value goes.
    pub(super) fn open_temporary(temporary: TemporaryFile) -> io::Result<Self> {
        let file = Self::open(temporary.path())?;
        Ok(Self { temporary: Some(temporary), ..file })
    }

    /// How many bytes it has.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file goes with this value.
    pub fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    /// All its bytes.
    pub fn read_all(mut self) -> io::Result<Bytes> {
        let mut bytes = Vec::with_capacity(usize::try_from(self.len).unwrap_or(0));
        self.file.read_to_end(&mut bytes)?;
        Ok(bytes.into())
    }
}

impl Read for BlockFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

/// A file that is removed when this value is dropped.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    path: PathBuf,
}

impl TemporaryFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its lasting name.
    pub(super) fn keep_as(self, path: &Path) -> io::Result<()> {
        // Dropped later, the old name names nothing any more.
        fs::rename(&self.path, path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %self.path.display(), %error, "cannot remove a temporary file");
        }
    }
}
