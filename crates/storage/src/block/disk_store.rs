//! The blocks that are on disk, one file each: [`DiskStore`].
//!
//! Knows the size of each and of all together. A file appears under its name only when it is complete. Which folder it
//! goes to is decided elsewhere, and so is who may read it.

use std::{
    fmt,
    fs::{self, File},
    io::{self, BufWriter, Write},
    mem,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use hashbrown::HashMap;
use parking_lot::Mutex;

use super::{BlockFile, BlockFiles, BlockId, files::TemporaryFile};

/// Why a block could not be written to or read from disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum DiskError {
    /// The disk does not do what it should.
    #[error("cannot write {id} to disk: check the local folders' disks for space and errors")]
    Write {
        id: BlockId,
        #[source]
        source: io::Error,
    },

    /// The bytes to write could not be had: serializing or receiving them failed. The disk is not to blame.
    #[error("cannot serialize or receive {id}")]
    Content {
        id: BlockId,
        #[source]
        source: io::Error,
    },

    /// More bytes than blocks may take on this disk.
    #[error("{id} would make blocks on disk take more than {limit} bytes")]
    TooLarge { id: BlockId, limit: u64 },

    /// The file of a block that was stored cannot be read any more. The block is forgotten.
    #[error("the file of {id} at {} is lost", path.display())]
    Lost {
        id: BlockId,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// The blocks of one process that are on disk.
pub struct DiskStore {
    files: Arc<dyn BlockFiles>,
    blocks: Mutex<HashMap<BlockId, OnDisk>>,
    /// The bytes of all blocks, and of those that are just being written.
    used: AtomicU64,
    next_temporary: AtomicU64,
}

#[derive(Clone)]
struct OnDisk {
    path: PathBuf,
    size: u64,
}

impl fmt::Debug for DiskStore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = out.debug_struct("DiskStore");
        fields.field("blocks", &self.blocks.lock().len()).field("used", &self.used).finish_non_exhaustive()
    }
}

impl DiskStore {
    /// A store without blocks.
    pub fn new(files: Arc<dyn BlockFiles>) -> Self {
        Self { files, blocks: Mutex::default(), used: AtomicU64::new(0), next_temporary: AtomicU64::new(0) }
    }

    /// Writes a block, which the caller has locked for writing, and returns how large it is.
    ///
    /// `write` gives the bytes, once more if the first folder fails and there is another. With a limit, fails when all
    /// blocks together would take more bytes. After an error there is no trace of the block.
    pub fn write(
        &self,
        id: BlockId,
        limit: Option<u64>,
        write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<u64, DiskError> {
        let mut tried: Vec<PathBuf> = Vec::new();
        loop {
            let path = self.files.place(&id.to_string()).map_err(|source| DiskError::Write { id, source })?;
            match self.write_at(id, &path, limit, write) {
                Err(DiskError::Write { source, .. }) => {
                    self.files.failed(&path, &source);
                    if tried.contains(&path) {
                        return Err(DiskError::Write { id, source });
                    }
                    tried.push(path);
                }
                Err(error) => return Err(error),
                Ok(size) => {
                    if let Some(old) = self.blocks.lock().insert(id, OnDisk { path, size }) {
                        self.used.fetch_sub(old.size, Ordering::Relaxed);
                    }
                    return Ok(size);
                }
            }
        }
    }

    fn write_at(
        &self,
        id: BlockId,
        path: &Path,
        limit: Option<u64>,
        write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<u64, DiskError> {
        let disk_failed = |source| DiskError::Write { id, source };
        let number = self.next_temporary.fetch_add(1, Ordering::Relaxed);
        let temporary = TemporaryFile::new(path.with_extension(format!("{number}.tmp")));
        let file = File::create(temporary.path()).map_err(disk_failed)?;
        let mut out = BufWriter::new(Counted { file, used: &self.used, limit, written: 0, stop: None });
        let result = write(&mut out).and_then(|()| out.flush());
        let (mut counted, _) = out.into_parts();
        match (result, &counted.stop) {
            (Ok(()), None) => temporary.keep_as(path).map_err(disk_failed)?,
            (Err(source), None) => return Err(DiskError::Content { id, source }),
            (_, Some(Stop::Full(limit))) => return Err(DiskError::TooLarge { id, limit: *limit }),
            (Err(source), Some(Stop::Disk)) => return Err(disk_failed(source)),
            // A serializer that swallows the error of its sink has not written everything.
            (Ok(()), Some(Stop::Disk)) => return Err(disk_failed(io::ErrorKind::WriteZero.into())),
        }
        Ok(mem::take(&mut counted.written))
    }

    /// Opens a block for reading; `None` if it is not here.
    ///
    /// If its file is gone or has another length, the block is forgotten and the read fails.
    pub fn open(&self, id: BlockId) -> Result<Option<BlockFile>, DiskError> {
        let Some(OnDisk { path, size }) = self.blocks.lock().get(&id).cloned() else { return Ok(None) };
        let source = match BlockFile::open(&path) {
            Ok(file) if file.len() == size => return Ok(Some(file)),
            Ok(file) => {
                let lengths = format!("it has {} bytes instead of {size}", file.len());
                io::Error::new(io::ErrorKind::InvalidData, lengths)
            }
            Err(source) => source,
        };
        self.remove(id);
        Err(DiskError::Lost { id, path, source })
    }

    /// How many bytes a block takes, if it is here.
    pub fn size(&self, id: BlockId) -> Option<u64> {
        self.blocks.lock().get(&id).map(|block| block.size)
    }

    /// Where the file of a block is.
    pub fn path(&self, id: BlockId) -> Option<PathBuf> {
        self.blocks.lock().get(&id).map(|block| block.path.clone())
    }

    /// How many bytes all blocks take.
    pub fn used_bytes(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Removes a block and returns whether it was here.
    pub fn remove(&self, id: BlockId) -> bool {
        let Some(OnDisk { path, size }) = self.blocks.lock().remove(&id) else { return false };
        self.used.fetch_sub(size, Ordering::Relaxed);
        if let Err(error) = fs::remove_file(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(block = %id, path = %path.display(), %error, "cannot remove the file of a block");
        }
        true
    }

    /// A new file for bytes that belong to no block, removed with the value.
    pub(super) fn temporary(&self) -> io::Result<(File, TemporaryFile)> {
        let number = self.next_temporary.fetch_add(1, Ordering::Relaxed);
        let temporary = TemporaryFile::new(self.files.place(&format!("temp_remote_{number}"))?);
        Ok((File::create(temporary.path())?, temporary))
    }
}

/// Counts bytes as they are written, and knows whether an error was the disk's or the limit's.
///
/// Dropped with bytes that it wrote, it takes them off the count again, also when the serializer panics.
struct Counted<'a> {
    file: File,
    used: &'a AtomicU64,
    limit: Option<u64>,
    written: u64,
    stop: Option<Stop>,
}

enum Stop {
    Disk,
    Full(u64),
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len() as u64;
        let before = self.used.fetch_add(count, Ordering::Relaxed);
        if let Some(limit) = self.limit
            && before.saturating_add(count) > limit
        {
            self.used.fetch_sub(count, Ordering::Relaxed);
            self.stop = Some(Stop::Full(limit));
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        match self.file.write_all(bytes) {
            Ok(()) => {
                self.written += count;
                Ok(bytes.len())
            }
            Err(error) => {
                self.used.fetch_sub(count, Ordering::Relaxed);
                self.stop = Some(Stop::Disk);
                Err(error)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.used.fetch_sub(self.written, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
