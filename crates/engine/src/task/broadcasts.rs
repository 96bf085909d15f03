//! The broadcast values of one process: [`BroadcastStore`].

use std::{any::Any, sync::Arc};

use hashbrown::HashMap;
use parking_lot::Mutex;

use firesteel_storage::{
    block::{BroadcastId, LockOwner, Wait},
    broadcast::{BroadcastError, Broadcasts, Manifest, PieceOptions},
    codec::Rows,
    memory::meter,
};

use crate::{
    contain::discard,
    data::Data,
    task::{BlockStore, TaskContext},
};

/// Values by the id of their variable: those that were made in this process, and pieces of all.
pub(crate) struct BroadcastStore {
    values: Mutex<HashMap<u64, Arc<dyn Any + Send + Sync>>>,
    pieces: Broadcasts,
}

impl BroadcastStore {
    pub(crate) fn new(blocks: &BlockStore) -> Self {
        let pieces = Broadcasts::new(blocks.manager().clone(), PieceOptions::default());
        Self { values: Mutex::default(), pieces }
    }

    pub(crate) fn put(&self, id: u64, value: Arc<dyn Any + Send + Sync>) {
        self.values.lock().insert(id, value);
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self, id: u64) -> Option<Arc<T>> {
        self.values.lock().get(&id).cloned()?.downcast().ok()
    }

    /// Cuts a value into pieces that other processes can fetch.
    pub(crate) fn publish<T: Data>(&self, id: u64, value: &T) -> Result<Manifest, BroadcastError> {
        self.pieces.publish(BroadcastId(id), |out| {
            let mut bytes = Vec::new();
            let encoded = Rows::compact().encode(std::slice::from_ref(value), &mut bytes);
            encoded.map_err(std::io::Error::other)?;
            out.write_all(&bytes)
        })
    }

    /// A value that another process made: the one that a task before has fetched, or put together from its pieces.
    pub(crate) fn fetch<T: Data>(
        &self,
        manifest: &Manifest,
        task: &TaskContext,
    ) -> Result<Arc<T>, BroadcastError> {
        let is_cancelled = || task.is_interrupted();
        let (owner, wait) = (LockOwner::Task(task.attempt_id()), Wait::UnlessCancelled(&is_cancelled));
        let read = self.pieces.value(manifest, owner, wait, |bytes| {
            let before = meter::live();
            let mut value: Vec<T> = Vec::new();
            Rows::compact().decode(bytes, 1, &mut value)?;
            let value = value.pop().ok_or("it has no value")?;
            let size = u64::try_from(meter::live() - before).unwrap_or(bytes.len() as u64);
            Ok((value, size))
        })?;
        Ok(read.share())
    }

    /// Forgets the value and its pieces here; with `destroyed`, for good.
    pub(crate) fn remove(&self, id: u64, destroyed: bool) {
        let removed = self.values.lock().remove(&id);
        discard(removed);
        let id = BroadcastId(id);
        let pieces = &self.pieces;
        let removed =
            if destroyed { pieces.destroy(id, Wait::Never) } else { pieces.unpersist(id, Wait::Never) };
        if let Err(error) = removed {
            tracing::debug!(%id, %error, "pieces of a broadcast variable are in use and stay");
        }
    }

    /// Whether nothing is kept.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.values.lock().is_empty()
    }

    pub(crate) fn clear(&self) {
        let removed = std::mem::take(&mut *self.values.lock());
        discard(removed);
    }
}
