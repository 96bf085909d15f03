//! The broadcast values of one executor.

use std::{any::Any, sync::Arc};

use hashbrown::HashMap;
use parking_lot::Mutex;

use crate::contain::discard;

/// The broadcast values of one executor, by id; each decoded once and shared by its tasks.
#[derive(Default)]
pub(crate) struct BroadcastStore(Mutex<HashMap<u64, Arc<dyn Any + Send + Sync>>>);

impl BroadcastStore {
    pub(crate) fn put(&self, id: u64, value: Arc<dyn Any + Send + Sync>) {
        self.0.lock().insert(id, value);
    }

    pub(crate) fn get<T: Send + Sync + 'static>(&self, id: u64) -> Option<Arc<T>> {
        self.0.lock().get(&id).cloned()?.downcast().ok()
    }

    /// Forgets a value.
    pub(crate) fn remove(&self, id: u64) {
        let removed = self.0.lock().remove(&id);
        discard(removed);
    }

    /// Whether nothing is kept.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        let removed = std::mem::take(&mut *self.0.lock());
        discard(removed);
    }
}
