//! Putting blocks, and computing those that no process has: [`Lease`].

use std::{
    cell::Cell,
    io::{self, Read, Write},
};

use bytes::Bytes;
use firesteel_types::StorageLevel;

use super::{
    BlockError, BlockManager, BlockRead,
    read::{ReadLock, Source, serialize},
};
use crate::block::{
    BlockData, BlockId, DiskError, LockOwner, NewBlock, NewLock, Reservation, Save, Stored, Unroll, Wait,
};

/// What came of putting a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is stored.
    Stored,
    /// There was one of this name, which stays as it was.
    Exists,
    /// It does not fit, and its level does not allow the disk. Or this process takes no more blocks.
    NotKept,
}

/// What was found when a block was looked up to compute it if need be.
#[derive(Debug)]
pub enum Lookup<'a> {
    /// This process or another has it.
    Found(BlockRead),
    /// No process has it, and all tasks of this process wait for the holder of this lease.
    Compute(Lease<'a>),
}

/// What came of storing a computed block.
#[derive(Debug)]
pub enum Outcome {
    /// It is stored, and read.
    Kept(BlockRead),
    /// Its owner has saved it in a place of its own; it is no block any more.
    Saved,
    /// It was not stored: the content comes back.
    NotKept(NewBlock),
}

/// Where a new block has gone.
enum Place {
    Memory,
    Disk,
    Elsewhere,
    Nowhere,
}

/// The right, and the duty, to fill a block that does not exist yet.
///
/// Dropped without having stored anything, also by a panic, it leaves no trace, and the next task that waits for the
/// block makes it.
#[derive(Debug)]
#[must_use = "others wait for the block until this is stored or dropped"]
pub struct Lease<'a> {
    manager: &'a BlockManager,
    id: BlockId,
    level: StorageLevel,
    owner: LockOwner,
}

impl Lease<'_> {
    /// The block to fill.
    pub fn id(&self) -> BlockId {
        self.id
    }

    /// Begins to acquire memory for rows that are collected one by one, as values or serialized; `None` if there is none
    /// or the level wants none.
    pub fn unroll(&self) -> Option<Unroll> {
        self.level.memory.then(|| self.manager.memory.unroll(self.id.rdd())).flatten()
    }

    /// Stores the block as its level wants and makes the copies that it wants.
    ///
    /// Too few peers for the copies is only a warning.
    pub fn store(self, new: NewBlock) -> Result<Outcome, BlockError> {
        self.fill(new, None)
    }

    /// Stores a value, or its bytes if the level wants those, in the memory that was reserved for it row by row.
    pub fn store_unrolled(self, new: NewBlock, reserved: Reservation) -> Result<Outcome, BlockError> {
        self.fill(new, Some(reserved))
    }

    /// Writes the block straight to disk: rows that turned out not to fit in memory. `None` if the level has no disk.
    pub fn store_on_disk(
        self,
        write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Option<BlockRead>, BlockError> {
        if !self.level.disk || !self.manager.takes(self.id) {
            return Ok(None);
        }
        let (manager, id) = (self.manager, self.id);
        let size = manager.disk.write(id, None, write)?;
        let Some(lock) = self.finish() else { return Ok(None) };
        let Some(file) = manager.disk.open(id)? else { return Ok(None) };
        Ok(Some(BlockRead::local(BlockData::File(file), Source::Disk, size, lock)))
    }

    fn fill(self, new: NewBlock, reserved: Option<Reservation>) -> Result<Outcome, BlockError> {
        let (manager, id) = (self.manager, self.id);
        if !manager.takes(id) {
            return Ok(Outcome::NotKept(new));
        }
        let source = match manager.place(id, self.level, &new, reserved)? {
            Place::Memory => Source::Memory,
            Place::Disk => Source::Disk,
            Place::Elsewhere => return Ok(Outcome::Saved),
            Place::Nowhere => return Ok(Outcome::NotKept(new)),
        };
        let Some(lock) = self.finish() else { return Ok(Outcome::NotKept(new)) };
        let now = manager.status(id);
        let data = match new {
            NewBlock::Typed { value, .. } => BlockData::Typed(value),
            NewBlock::Bytes(bytes) => BlockData::Bytes(bytes),
        };
        Ok(Outcome::Kept(BlockRead::local(data, source, now.memory_size.max(now.disk_size), lock)))
    }

    /// Makes the filled block visible and copies it. `None` if the lock is gone, because the task has ended.
    fn finish(self) -> Option<ReadLock> {
        let Self { manager, id, level, owner } = self;
        if manager.locks.is_writer(id, owner) {
            manager.report(manager.status(id));
        }
        if !manager.locks.downgrade(id, owner) {
            // The task was ended from outside while it stored. What is not in the lock table would never be removed.
            if manager.locks.level(id).is_none() {
                manager.memory.remove(id);
                manager.disk.remove(id);
            }
            return None;
        }
        let lock = ReadLock::adopt(&manager.locks, id, owner, level);
        if level.replication > 1 {
            manager.make_copies(id, level, &[]);
        }
        Some(lock)
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // Once it is filled, the lock is a reader's and the block stays.
        if self.manager.locks.is_writer(self.id, self.owner) {
            self.manager.erase(self.id, self.owner);
        }
    }
}

impl BlockManager {
    /// Stores a block, unless there is one of this name.
    ///
    /// After an error there is no trace of it, and the master knows it to be absent.
    pub fn put(
        &self,
        id: BlockId,
        new: NewBlock,
        level: StorageLevel,
        owner: LockOwner,
        wait: Wait<'_>,
    ) -> Result<Put, BlockError> {
        let Some(lease) = self.lease(id, level, owner, wait)? else { return Ok(Put::Exists) };
        Ok(match lease.store(new)? {
            Outcome::Kept(_) | Outcome::Saved => Put::Stored,
            Outcome::NotKept(_) => Put::NotKept,
        })
    }

    /// The right to fill a block; `None` if it exists. Waits while another task is filling it.
    fn lease(
        &self,
        id: BlockId,
        level: StorageLevel,
        owner: LockOwner,
        wait: Wait<'_>,
    ) -> Result<Option<Lease<'_>>, BlockError> {
        if !level.is_valid() {
            return Err(BlockError::InvalidLevel { id, level });
        }
        match self.locks.lock_new_for_writing(id, level, owner, wait)? {
            NewLock::Writing => Ok(Some(Lease { manager: self, id, level, owner })),
            NewLock::Reading(_) => {
                self.locks.unlock(id, owner);
                Ok(None)
            }
        }
    }

    /// A block from this process or another, or else the right to fill it.
    ///
    /// Of all tasks that look up a missing block, one gets the right and the others wait for what comes of it.
    pub fn lookup(
        &self,
        id: BlockId,
        level: StorageLevel,
        owner: LockOwner,
        wait: Wait<'_>,
    ) -> Result<Lookup<'_>, BlockError> {
        loop {
            if let Some(read) = self.get(id, owner, wait)? {
                return Ok(Lookup::Found(read));
            }
            // A block that appeared meanwhile is read in the next round.
            if let Some(lease) = self.lease(id, level, owner, wait)? {
                return Ok(Lookup::Compute(lease));
            }
        }
    }

    /// A block from this process or another, computed and stored if no process has it.
    ///
    /// What `compute` makes comes back also if it could not be stored. Its error leaves nothing behind.
    pub fn get_or_else<E: From<BlockError>>(
        &self,
        id: BlockId,
        level: StorageLevel,
        owner: LockOwner,
        wait: Wait<'_>,
        compute: impl FnOnce() -> Result<NewBlock, E>,
    ) -> Result<Outcome, E> {
        match self.lookup(id, level, owner, wait)? {
            Lookup::Found(read) => Ok(Outcome::Kept(read)),
            Lookup::Compute(lease) => Ok(lease.store(compute()?)?),
        }
    }

    /// Stores a copy that another process sends: `len` bytes from `body`. Makes no further copies.
    ///
    /// A block that is here already is left as it is, and `body` unread.
    pub fn receive(
        &self,
        id: BlockId,
        level: StorageLevel,
        len: u64,
        body: &mut dyn Read,
    ) -> Result<Put, BlockError> {
        if !self.takes(id) {
            return Err(BlockError::Decommissioning { id, executor: self.executor });
        }
        let owner = LockOwner::unique();
        let Some(lease) = self.lease(id, level, owner, Wait::FOREVER)? else { return Ok(Put::Exists) };
        let no_room = || BlockError::NoRoom { id, executor: self.executor };
        let reserved = if level.memory { self.memory.reserve(len, id.rdd()) } else { None };
        if let Some(reserved) = reserved {
            let bytes = read_exactly(len, body).map_err(|source| BlockError::NotReceived { id, source })?;
            self.memory.put(id, Stored::Bytes(bytes), Save::Never, reserved);
        } else if level.disk {
            let once = Cell::new(Some(body));
            let written = self.disk.write(id, self.options.max_received_disk, &|out| {
                // What a failed disk has swallowed cannot be had again.
                let body = once.take().ok_or(io::ErrorKind::UnexpectedEof)?;
                if io::copy(&mut body.take(len), out)? == len {
                    Ok(())
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                }
            });
            match written {
                Ok(_) => {}
                Err(DiskError::TooLarge { .. }) => return Err(no_room()),
                Err(DiskError::Content { source, .. }) => return Err(BlockError::NotReceived { id, source }),
                Err(error) => return Err(error.into()),
            }
        } else {
            return Err(no_room());
        }
        self.report(self.status(id));
        self.locks.unlock(id, owner);
        drop(lease);
        Ok(Put::Stored)
    }

    /// Puts the content of a new block, which the caller has locked for writing, where its level wants it.
    fn place(
        &self,
        id: BlockId,
        level: StorageLevel,
        new: &NewBlock,
        reserved: Option<Reservation>,
    ) -> Result<Place, BlockError> {
        match new {
            NewBlock::Typed { value, size, save } if level.memory && level.deserialized => {
                let reserved = reserved.or_else(|| self.memory.reserve(*size, id.rdd()));
                if let Some(reserved) = reserved {
                    self.memory.put(id, Stored::Typed(value.clone()), save.clone(), reserved);
                    return Ok(Place::Memory);
                }
                match save {
                    Save::Serialize(write) if level.disk => {
                        self.disk.write(id, None, &|out| write(&**value, out))?;
                        Ok(Place::Disk)
                    }
                    Save::Elsewhere(save) if level.disk => {
                        save(&**value).map_err(|source| DiskError::Write { id, source })?;
                        Ok(Place::Elsewhere)
                    }
                    Save::Serialize(_) | Save::Elsewhere(_) | Save::Never => Ok(Place::Nowhere),
                }
            }
            NewBlock::Typed { value, save, .. } if level.memory => {
                // What was reserved was for the value.
                drop(reserved);
                self.place_bytes(id, level, serialize(id, value, save)?, None)
            }
            NewBlock::Typed { value, save: Save::Serialize(write), .. } => {
                self.disk.write(id, None, &|out| write(&**value, out))?;
                Ok(Place::Disk)
            }
            NewBlock::Typed { value, save, .. } => {
                self.place_bytes(id, level, serialize(id, value, save)?, None)
            }
            NewBlock::Bytes(bytes) => self.place_bytes(id, level, bytes.clone(), reserved),
        }
    }

    fn place_bytes(
        &self,
        id: BlockId,
        level: StorageLevel,
        bytes: Bytes,
        reserved: Option<Reservation>,
    ) -> Result<Place, BlockError> {
        let reserve = || self.memory.reserve(bytes.len() as u64, id.rdd());
        if level.memory
            && let Some(reserved) = reserved.or_else(reserve)
        {
            self.memory.put(id, Stored::Bytes(bytes), Save::Never, reserved);
            return Ok(Place::Memory);
        }
        if !level.disk {
            return Ok(Place::Nowhere);
        }
        self.disk.write(id, None, &|out| out.write_all(&bytes))?;
        Ok(Place::Disk)
    }
}

fn read_exactly(len: u64, body: &mut dyn Read) -> io::Result<Bytes> {
    let mut bytes = Vec::with_capacity(usize::try_from(len).map_err(io::Error::other)?);
    body.take(len).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == len { Ok(bytes.into()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
