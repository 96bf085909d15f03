//! Where the map outputs of one process are kept.

use std::{any::Any, sync::Arc};

use hashbrown::HashMap;
use parking_lot::Mutex;

use firesteel_types::{PartitionId, ShuffleId};

use crate::contain::discard;

/// The output of one map task.
#[derive(Clone)]
pub(crate) enum MapBlocks {
    /// A `Buckets<T>`.
    Typed(Arc<dyn Any + Send + Sync>),
    /// The serialized rows for each reduce partition.
    Bytes(Arc<Vec<Vec<u8>>>),
}

/// The map outputs of one process.
#[derive(Default)]
pub(crate) struct ShuffleStore(Mutex<HashMap<ShuffleId, Vec<Option<MapBlocks>>>>);

impl ShuffleStore {
    /// Outputs of a shuffle will come, until it is removed.
    pub(crate) fn open(&self, shuffle: ShuffleId) {
        self.0.lock().entry(shuffle).or_default();
    }

    /// Keeps what a map task made, unless the shuffle was removed while the task ran. A second attempt of the same task replaces the first: both made the same rows.
    pub(crate) fn put(&self, shuffle: ShuffleId, map: PartitionId, maps: u32, blocks: MapBlocks) {
        let mut shuffles = self.0.lock();
        let Some(outputs) = shuffles.get_mut(&shuffle) else {
            drop(shuffles);
            return discard(blocks);
        };
        if outputs.len() < maps as usize {
            outputs.resize_with(maps as usize, || None);
        }
        let before = outputs[map.index()].replace(blocks);
        drop(shuffles);
        discard(before);
    }

    /// Every map output of a shuffle, by map partition; none where it is missing.
    pub(crate) fn outputs(&self, shuffle: ShuffleId) -> Vec<Option<MapBlocks>> {
        self.0.lock().get(&shuffle).cloned().unwrap_or_default()
    }

    /// Forgets a shuffle.
    pub(crate) fn remove(&self, shuffle: ShuffleId) {
        let removed = self.0.lock().remove(&shuffle);
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
