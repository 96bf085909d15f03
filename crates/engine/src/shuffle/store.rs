//! Where the map outputs of one process are kept.

use std::{any::Any, sync::Arc};

use hashbrown::HashMap;
use parking_lot::Mutex;

use firesteel_types::{PartitionId, ShuffleId};

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
    /// Keeps what a map task made. A second attempt of the same task replaces the first: both made the same rows.
    pub(crate) fn put(&self, shuffle: ShuffleId, map: PartitionId, maps: u32, blocks: MapBlocks) {
        let mut shuffles = self.0.lock();
        let outputs = shuffles.entry(shuffle).or_default();
        if outputs.len() < maps as usize {
            outputs.resize_with(maps as usize, || None);
        }
        let before = outputs[map.index()].replace(blocks);
        drop(shuffles);
        drop(before);
    }

    /// Every map output of a shuffle, by map partition; none where it is missing.
    pub(crate) fn outputs(&self, shuffle: ShuffleId) -> Vec<Option<MapBlocks>> {
        self.0.lock().get(&shuffle).cloned().unwrap_or_default()
    }

    /// Forgets a shuffle.
    pub(crate) fn remove(&self, shuffle: ShuffleId) {
        let removed = self.0.lock().remove(&shuffle);
        drop(removed);
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        let removed = std::mem::take(&mut *self.0.lock());
        drop(removed);
    }
}
