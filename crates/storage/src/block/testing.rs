//! Stand-ins for the parts of a process that blocks need, for tests only.

use std::sync::{Arc, OnceLock, Weak};

use firesteel_types::RddId;
use parking_lot::Mutex;

use super::{MemoryStore, StorageMemory};

/// A fixed number of bytes, which evicts when it runs short.
pub(crate) struct Budget {
    max: u64,
    used: Mutex<u64>,
    store: OnceLock<Weak<MemoryStore>>,
}

impl Budget {
    pub(crate) fn new(max: u64) -> Self {
        Self { max, used: Mutex::new(0), store: OnceLock::new() }
    }

    /// Lets it evict the blocks of this store.
    pub(crate) fn evicts_from(&self, store: &Arc<MemoryStore>) {
        assert!(self.store.set(Arc::downgrade(store)).is_ok(), "it has a store");
    }

    pub(crate) fn used(&self) -> u64 {
        *self.used.lock()
    }
}

impl StorageMemory for Budget {
    fn acquire(&self, bytes: u64, for_rdd: Option<RddId>) -> bool {
        let mut used = self.used.lock();
        if bytes > self.max {
            return false;
        }
        let free = self.max - *used;
        if free < bytes
            && let Some(store) = self.store.get().and_then(Weak::upgrade)
        {
            *used -= store.evict(bytes - free, for_rdd);
        }
        let fits = self.max - *used >= bytes;
        if fits {
            *used += bytes;
        }
        fits
    }

    fn release(&self, bytes: u64) {
        *self.used.lock() -= bytes;
    }
}
