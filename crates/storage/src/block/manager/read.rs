//! Getting blocks that are in this process: [`BlockRead`].

use std::{fmt, sync::Arc};

use bytes::Bytes;
use firesteel_types::StorageLevel;

use super::{BlockError, BlockManager};
use crate::block::{
    AnyValue, BlockData, BlockId, Body, DiskError, LockError, LockOwner, LockTable, PeerId, Reservation,
    Save, Stored, Unroll, Wait,
};

/// Where a block was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The memory of this process.
    Memory,
    /// A file of this process.
    Disk,
    /// Another process.
    Remote(PeerId),
}

/// A block that is read. It cannot be evicted or removed while this value lives, if it is a local one.
#[derive(Debug)]
pub struct BlockRead {
    id: BlockId,
    data: BlockData,
    source: Source,
    /// How many bytes it takes where it was read.
    size: u64,
    /// The level of a local block.
    level: Option<StorageLevel>,
    lock: Option<ReadLock>,
}

impl BlockRead {
    /// What it is called.
    pub fn id(&self) -> BlockId {
        self.id
    }

    /// Its content.
    pub fn data(&self) -> &BlockData {
        &self.data
    }

    /// Where it came from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// How many bytes it takes where it was read, for metrics.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The content, and the lock that keeps a local block where it is.
    pub fn into_parts(self) -> (BlockData, Option<ReadLock>) {
        (self.data, self.lock)
    }

    pub(super) fn remote(id: BlockId, data: BlockData, size: u64, from: PeerId) -> Self {
        Self { id, data, source: Source::Remote(from), size, level: None, lock: None }
    }

    pub(super) fn local(data: BlockData, source: Source, size: u64, lock: ReadLock) -> Self {
        let level = Some(lock.level);
        Self { id: lock.id, data, source, size, level, lock: Some(lock) }
    }
}

/// A read lock, given back when dropped.
pub struct ReadLock {
    locks: Arc<LockTable>,
    id: BlockId,
    owner: LockOwner,
    level: StorageLevel,
}

impl ReadLock {
    /// Takes charge of a lock that the owner has.
    pub(super) fn adopt(locks: &Arc<LockTable>, id: BlockId, owner: LockOwner, level: StorageLevel) -> Self {
        Self { locks: locks.clone(), id, owner, level }
    }

    pub(super) fn level(&self) -> StorageLevel {
        self.level
    }
}

impl Drop for ReadLock {
    fn drop(&mut self) {
        self.locks.unlock(self.id, self.owner);
    }
}

impl fmt::Debug for ReadLock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ReadLock").field("id", &self.id).field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// A block in serialized form, for another process, and the lock that keeps it in place meanwhile.
#[derive(Debug)]
pub struct Served {
    /// The bytes.
    pub body: Body,
    /// To be dropped when they are sent.
    pub lock: ReadLock,
}

impl BlockManager {
    /// A block from this process or another; `None` if no process has it.
    pub fn get(
        &self,
        id: BlockId,
        owner: LockOwner,
        wait: Wait<'_>,
    ) -> Result<Option<BlockRead>, BlockError> {
        match self.get_local(id, owner, wait)? {
            Some(read) => Ok(Some(read)),
            None => Ok(self.get_remote(id)),
        }
    }

    /// A block of this process; waits for one that is just being made. `None` if there is none.
    ///
    /// Fails if the file of a block on disk is lost. The block is gone then, so that the next try makes it again.
    pub fn get_local(
        &self,
        id: BlockId,
        owner: LockOwner,
        wait: Wait<'_>,
    ) -> Result<Option<BlockRead>, BlockError> {
        let Some(lock) = self.read_lock(id, owner, wait)? else { return Ok(None) };
        if let Some(stored) = self.memory.get(id) {
            let size = self.memory.size(id).unwrap_or(0);
            return Ok(Some(BlockRead::local(stored.into(), Source::Memory, size, lock)));
        }
        match self.read_from_disk(id, lock.level) {
            Ok(Some((data, size))) => Ok(Some(BlockRead::local(data, Source::Disk, size, lock))),
            // Its writer went without filling or removing it.
            Ok(None) => {
                drop(lock);
                self.remove_if_empty(id);
                Ok(None)
            }
            Err(error) => {
                drop(lock);
                self.remove_if_empty(id);
                Err(error.into())
            }
        }
    }

    /// The content of a block on disk and its size; in memory again from now on if it is kept serialized and fits.
    fn read_from_disk(
        &self,
        id: BlockId,
        level: StorageLevel,
    ) -> Result<Option<(BlockData, u64)>, DiskError> {
        let Some(file) = self.disk.open(id)? else { return Ok(None) };
        let size = file.len();
        let wants_memory = level.memory && !level.deserialized;
        let Some(reserved) = wants_memory.then(|| self.memory.reserve(size, id.rdd())).flatten() else {
            return Ok(Some((BlockData::File(file), size)));
        };
        let path = file.path().to_owned();
        let bytes = file.read_all().map_err(|source| {
            self.disk.remove(id);
            DiskError::Lost { id, path, source }
        })?;
        if self.memory.put(id, Stored::Bytes(bytes.clone()), Save::Never, reserved) {
            self.report(self.status(id));
        }
        Ok(Some((BlockData::Bytes(bytes), size)))
    }

    pub(super) fn read_lock(
        &self,
        id: BlockId,
        owner: LockOwner,
        wait: Wait<'_>,
    ) -> Result<Option<ReadLock>, LockError> {
        let level = self.locks.lock_for_reading(id, owner, wait)?;
        Ok(level.map(|level| ReadLock::adopt(&self.locks, id, owner, level)))
    }

    /// Removes a block that has no content. If another task uses it, that task will find out and do the same.
    fn remove_if_empty(&self, id: BlockId) {
        let owner = LockOwner::unique();
        if let Ok(Some(_)) = self.locks.lock_for_writing(id, owner, Wait::Never) {
            if self.memory.size(id).is_none() && self.disk.size(id).is_none() {
                self.erase(id, owner);
            } else {
                self.locks.unlock(id, owner);
            }
        }
    }

    /// Begins to acquire memory for a block that is read from a file of this process, to have it in memory again as a
    /// value; `None` if its level wants no such value or there is no room. What is in the file has to fit at least: so
    /// nothing else is evicted for a block that is too large.
    pub fn unroll_again(&self, read: &BlockRead) -> Option<Unroll> {
        let wants_value = read.level.is_some_and(|level| level.memory && level.deserialized);
        if !wants_value || read.source != Source::Disk {
            return None;
        }
        self.memory.unroll_with(read.size, read.id.rdd())
    }

    /// Keeps in memory, as a value, what was read from a file and decoded, in the memory that was reserved for it.
    ///
    /// Returns whether it is kept: another reader may have been faster.
    pub fn cache_again(&self, lock: &ReadLock, value: AnyValue, save: Save, reserved: Reservation) -> bool {
        let kept = self.memory.put(lock.id, Stored::Typed(value), save, reserved);
        if kept {
            self.report(self.status(lock.id));
        }
        kept
    }

    /// A local block in serialized form, for another process; `None` if it is not here.
    pub fn serve(&self, id: BlockId, wait: Wait<'_>) -> Result<Option<Served>, BlockError> {
        let Some(lock) = self.read_lock(id, LockOwner::unique(), wait)? else { return Ok(None) };
        let Some(body) = self.body(id)? else {
            drop(lock);
            self.remove_if_empty(id);
            return Ok(None);
        };
        Ok(Some(Served { body, lock }))
    }

    /// The serialized bytes of a block that the caller has locked; `None` if it has no content.
    pub(super) fn body(&self, id: BlockId) -> Result<Option<Body>, BlockError> {
        // A file can be sent as it is, a value has to be serialized first.
        match self.memory.peek(id) {
            Some((Stored::Bytes(bytes), _)) => return Ok(Some(Body::Bytes(bytes))),
            Some((Stored::Typed(value), save)) if self.disk.size(id).is_none() => {
                return serialize(id, &value, &save).map(|bytes| Some(Body::Bytes(bytes)));
            }
            Some((Stored::Typed(_), _)) | None => {}
        }
        let file = self.disk.open(id)?;
        Ok(file.map(|file| Body::File { path: file.path().to_owned(), len: file.len() }))
    }
}

/// The serialized form of a value.
pub(super) fn serialize(id: BlockId, value: &AnyValue, save: &Save) -> Result<Bytes, BlockError> {
    let Save::Serialize(write) = save else {
        let source = std::io::Error::other("it was stored without a way to serialize it");
        return Err(BlockError::NotSerializable { id, source });
    };
    let mut bytes = Vec::new();
    write(&**value, &mut bytes).map_err(|source| BlockError::NotSerializable { id, source })?;
    Ok(bytes.into())
}
