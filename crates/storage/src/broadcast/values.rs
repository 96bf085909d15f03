//! The broadcast values of one process: [`Broadcasts`].

use std::{
    any::Any,
    collections::BTreeSet,
    error::Error,
    io::{self, Write},
    ops::Deref,
    sync::{Arc, Weak},
    time::Duration,
};

use bytes::Bytes;
use firesteel_types::{Rng, StorageLevel};
use hashbrown::HashMap;
use parking_lot::{Mutex, MutexGuard};

use super::{BroadcastError, Cutter, Manifest, PieceOptions};
use crate::block::{
    AnyValue, BlockData, BlockId, BlockManager, BlockRead, BroadcastId, LockError, LockOwner, NewBlock,
    Outcome, Put, ReadLock, Save, Wait, shuffle,
};

/// Storage level of the pieces: those that do not fit in memory go to disk.
const PIECES_LEVEL: StorageLevel = StorageLevel::MEMORY_AND_DISK_SER;

/// Storage level of the decoded value: it can be made from the pieces again.
const VALUE_LEVEL: StorageLevel = StorageLevel::MEMORY_ONLY;

/// How often a task that waits for a value checks whether it was cancelled.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The broadcast values of one process.
///
/// The first task that uses a value fetches its pieces, in random order from any process that holds them, offers them to
/// others in turn, and decodes the value; all tasks share it. The value is a block like others: when memory is short it
/// may go, but a task that uses it keeps it alive, and other tasks find it there.
#[derive(Debug)]
pub struct Broadcasts {
    manager: Arc<BlockManager>,
    options: PieceOptions,
    slots: Mutex<HashMap<BroadcastId, Arc<Slot>>>,
    destroyed: Mutex<BTreeSet<BroadcastId>>,
    rng: Mutex<Rng>,
}

/// One value, and the lock of the task that makes it.
#[derive(Debug, Default)]
struct Slot {
    value: Mutex<Option<Weak<dyn Any + Send + Sync>>>,
}

/// A broadcast value in use. While this guard lives, the memory it takes is not granted to others.
#[derive(Debug)]
pub struct BroadcastRead<T> {
    value: Arc<T>,
    _lock: Option<ReadLock>,
}

impl<T> BroadcastRead<T> {
    /// The value, to be shared further.
    pub fn share(&self) -> Arc<T> {
        self.value.clone()
    }
}

impl<T> Deref for BroadcastRead<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl Broadcasts {
    /// Without any value yet.
    pub fn new(manager: Arc<BlockManager>, options: PieceOptions) -> Self {
        let rng = Mutex::new(Rng::new(u64::from(manager.executor().0)));
        Self { manager, options, slots: Mutex::default(), destroyed: Mutex::default(), rng }
    }

    /// Stores the pieces of a new value here, for all to fetch. `write` gives its bytes.
    ///
    /// The value is a snapshot: later changes of the original are not seen by readers.
    pub fn publish(
        &self,
        id: BroadcastId,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Manifest, BroadcastError> {
        let mut failed = None;
        let mut cutter = Cutter::new(id, self.options, |piece, bytes| {
            self.put_piece(id, piece, bytes).map_err(|error| {
                failed = Some(error);
                io::Error::other("a piece cannot be stored")
            })
        });
        let result = write(&mut cutter).and_then(|()| cutter.finish());
        result.map_err(|source| {
            let error = failed.unwrap_or(BroadcastError::Encode { id, source });
            if !matches!(error, BroadcastError::Exists { .. })
                && let Err(error) = self.manager.remove_broadcast(id, Wait::Never)
            {
                tracing::warn!(broadcast = %id, %error, "pieces of a value that failed are left");
            }
            error
        })
    }

    fn put_piece(&self, id: BroadcastId, piece: u32, bytes: Bytes) -> Result<(), BroadcastError> {
        let block = BlockId::Broadcast { id, piece };
        let new = NewBlock::Bytes(bytes);
        match self.manager.put(block, new, PIECES_LEVEL, LockOwner::unique(), Wait::FOREVER)? {
            Put::Stored | Put::NotKept => Ok(()),
            Put::Exists => Err(BroadcastError::Exists { id }),
        }
    }

    /// The value, decoded once for all tasks of this process that use it at the same time or soon after.
    ///
    /// `decode` makes it from its bytes, and returns how many bytes of memory it takes.
    pub fn value<T: Send + Sync + 'static>(
        &self,
        manifest: &Manifest,
        owner: LockOwner,
        wait: Wait<'_>,
        decode: impl FnOnce(&[u8]) -> Result<(T, u64), Box<dyn Error + Send + Sync>>,
    ) -> Result<BroadcastRead<T>, BroadcastError> {
        let id = manifest.id;
        if self.destroyed.lock().contains(&id) {
            return Err(BroadcastError::Destroyed { id });
        }
        let slot = self.slots.lock().entry(id).or_default().clone();
        let mut known = lock(&slot.value, id, wait)?;
        if let Some((value, lock)) = self.decoded(id, known.as_ref(), owner, wait)? {
            *known = Some(Arc::downgrade(&value));
            let value = value.downcast().map_err(|_| BroadcastError::OtherType { id })?;
            return Ok(BroadcastRead { value, _lock: lock });
        }
        let bytes = self.assemble(manifest, wait)?;
        let (value, size) = decode(&bytes).map_err(|source| BroadcastError::Decode { id, source })?;
        drop(bytes);
        let value = Arc::new(value);
        let shared: AnyValue = value.clone();
        *known = Some(Arc::downgrade(&shared));
        let lock = self.keep(id, shared, size, owner, wait)?;
        Ok(BroadcastRead { value, _lock: lock })
    }

    /// The value if it is there: as a block, or because a task still uses it.
    fn decoded(
        &self,
        id: BroadcastId,
        known: Option<&Weak<dyn Any + Send + Sync>>,
        owner: LockOwner,
        wait: Wait<'_>,
    ) -> Result<Option<(AnyValue, Option<ReadLock>)>, BroadcastError> {
        let block = self.manager.get_local(BlockId::BroadcastValue(id), owner, wait)?;
        if let Some((BlockData::Typed(value), lock)) = block.map(BlockRead::into_parts) {
            return Ok(Some((value, lock)));
        }
        Ok(known.and_then(Weak::upgrade).map(|value| (value, None)))
    }

    /// Keeps the value as a block if there is room.
    fn keep(
        &self,
        id: BroadcastId,
        value: AnyValue,
        size: u64,
        owner: LockOwner,
        wait: Wait<'_>,
    ) -> Result<Option<ReadLock>, BroadcastError> {
        let new = || Ok::<_, BroadcastError>(NewBlock::Typed { value, size, save: Save::Never });
        match self.manager.get_or_else(BlockId::BroadcastValue(id), VALUE_LEVEL, owner, wait, new)? {
            Outcome::Kept(read) => Ok(read.into_parts().1),
            Outcome::Saved | Outcome::NotKept(_) => Ok(None),
        }
    }

    /// The bytes of a value, from pieces here and elsewhere; those from elsewhere are kept here and offered on.
    ///
    /// The order is random, so that executors that begin together soon have different pieces for each other.
    fn assemble(&self, manifest: &Manifest, wait: Wait<'_>) -> Result<Vec<u8>, BroadcastError> {
        let id = manifest.id;
        let mut order: Vec<u32> = (0..manifest.pieces()).collect();
        shuffle(&mut order, &mut self.rng.lock());
        let mut value = manifest.blank();
        for piece in order {
            if let Wait::UnlessCancelled(is_cancelled) = wait
                && is_cancelled()
            {
                return Err(LockError::Cancelled { id: BlockId::Broadcast { id, piece } }.into());
            }
            self.fetch_piece(manifest, piece, wait, &mut value)?;
        }
        Ok(value)
    }

    fn fetch_piece(
        &self,
        manifest: &Manifest,
        piece: u32,
        wait: Wait<'_>,
        value: &mut [u8],
    ) -> Result<(), BroadcastError> {
        let id = manifest.id;
        let block = BlockId::Broadcast { id, piece };
        let lost = || BroadcastError::Lost { id, piece };
        if let Some(read) = self.manager.get_local(block, LockOwner::unique(), wait)? {
            let (data, lock) = read.into_parts();
            let bytes = data.into_bytes().ok().flatten().ok_or_else(lost)?;
            let placed = manifest.place(piece, &bytes, value);
            if placed.is_err() {
                // The next try fetches it from another peer.
                drop(lock);
                self.manager.remove(block, wait)?;
            }
            return placed;
        }
        let read = self.manager.get_remote(block).ok_or_else(lost)?;
        let bytes = read.into_parts().0.into_bytes().ok().flatten().ok_or_else(lost)?;
        manifest.place(piece, &bytes, value)?;
        match self.put_piece(id, piece, bytes) {
            Ok(()) | Err(BroadcastError::Exists { .. }) => Ok(()),
            Err(error) => {
                tracing::warn!(block = %block, %error, "a piece cannot be kept to be offered on");
                Ok(())
            }
        }
    }

    /// Removes a value and its pieces from this process, and returns how many blocks those were. Later use fetches it
    /// again.
    pub fn unpersist(&self, id: BroadcastId, wait: Wait<'_>) -> Result<usize, BroadcastError> {
        self.slots.lock().remove(&id);
        Ok(self.manager.remove_broadcast(id, wait)?)
    }

    /// Removes a value for good: any later use in this process is an error.
    pub fn destroy(&self, id: BroadcastId, wait: Wait<'_>) -> Result<usize, BroadcastError> {
        self.destroyed.lock().insert(id);
        self.unpersist(id, wait)
    }
}

/// Locks a slot while looking after cancellation: another task may be fetching for long.
fn lock<'a, T>(
    slot: &'a Mutex<T>,
    id: BroadcastId,
    wait: Wait<'_>,
) -> Result<MutexGuard<'a, T>, BroadcastError> {
    let block = BlockId::BroadcastValue(id);
    let Wait::UnlessCancelled(is_cancelled) = wait else {
        return slot.try_lock().ok_or_else(|| LockError::Busy { id: block }.into());
    };
    loop {
        if let Some(guard) = slot.try_lock_for(CANCEL_POLL_INTERVAL) {
            return Ok(guard);
        }
        if is_cancelled() {
            return Err(LockError::Cancelled { id: block }.into());
        }
    }
}

#[cfg(test)]
mod tests;
