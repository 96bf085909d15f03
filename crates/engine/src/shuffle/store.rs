//! Where the map outputs of one process are kept: [`ShuffleStore`].
//!
//! An output stays in memory, as it was made, while there is room; else it goes to its file, at once or when its memory
//! is needed. Readers have it either way.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use hashbrown::{HashMap, HashSet};
use parking_lot::Mutex;

use firesteel_storage::{
    codec::Compression,
    memory::{MemoryManager, meter},
    shuffle::files::{MapOutputFile, MapOutputWriter, ShuffleFileError, SpillFile, remove_shuffle},
};
use firesteel_types::{AttemptId, PartitionId, ShuffleId};

use super::{
    RemoteShuffles,
    buckets::Dealt,
    map_output::{MapBlocks, TypedBlocks},
};
use crate::{
    contain::discard,
    data::Data,
    executor::{Disk, hand_over},
    stage::Form,
};

/// The map outputs of one process.
pub(crate) struct ShuffleStore {
    outputs: Mutex<HashMap<ShuffleId, Vec<Option<Output>>>>,
    /// Shuffles that were removed while a map task of theirs may have been running; on executors only.
    removed: Mutex<HashSet<ShuffleId>>,
    /// The way to the outputs of other processes, if there are any.
    remote: Option<RemoteShuffles>,
    memory: Arc<MemoryManager>,
    disk: Arc<Disk>,
    compression: Compression,
    /// Counts uses, for their order.
    clock: AtomicU64,
    /// Counts files, so that two attempts of a task do not write to the same one.
    writers: AtomicU64,
}

/// One map task of a shuffle.
#[derive(Clone, Copy)]
pub(crate) struct MapPlace {
    pub(crate) shuffle: ShuffleId,
    pub(crate) map: PartitionId,
    pub(crate) maps: u32,
}

struct Output {
    blocks: MapBlocks,
    /// The memory that is taken for it.
    bytes: u64,
    used: u64,
}

impl ShuffleStore {
    pub(crate) fn new(
        memory: &Arc<MemoryManager>,
        disk: &Arc<Disk>,
        compression: Compression,
        remote: Option<RemoteShuffles>,
    ) -> Self {
        Self {
            outputs: Mutex::default(),
            removed: Mutex::default(),
            remote,
            memory: memory.clone(),
            disk: disk.clone(),
            compression,
            clock: AtomicU64::new(0),
            writers: AtomicU64::new(0),
        }
    }

    /// Outputs of a shuffle will come, until it is removed.
    pub(crate) fn open(&self, shuffle: ShuffleId) {
        self.outputs.lock().entry(shuffle).or_default();
    }

    /// Keeps what a map task made, unless the shuffle was removed while the task ran; says how large each block is. A second
    /// attempt of the same task replaces the first: both made the same rows.
    pub(crate) fn keep<T: Data>(
        &self,
        place: MapPlace,
        dealt: Dealt<T>,
        form: Form,
    ) -> Result<Vec<u64>, ShuffleFileError> {
        let Dealt { spills, rows, bytes } = dealt;
        let stays = match form {
            Form::Typed => spills.is_empty() && self.take_over(bytes),
            Form::Shipped => false,
        };
        if stays {
            let sizes = rows.iter().map(|rows| size_of_val(rows) as u64).collect();
            self.put(place, MapBlocks::Typed(Arc::new(rows)), bytes);
            return Ok(sizes);
        }
        let file = self.write_out(place, &rows, &spills)?;
        drop((rows, spills));
        let sizes = file.lengths();
        self.put(place, MapBlocks::File(Arc::new(file)), 0);
        Ok(sizes)
    }

    /// Makes memory of the running task memory of stored outputs, if there is room.
    fn take_over(&self, bytes: u64) -> bool {
        hand_over(bytes);
        let is_granted = self.memory.acquire_storage(bytes, None);
        if !is_granted {
            meter::adopt(bytes);
        }
        is_granted
    }

    /// Writes an output to its file.
    fn write_out(
        &self,
        MapPlace { shuffle, map, .. }: MapPlace,
        blocks: &dyn TypedBlocks,
        spills: &[SpillFile],
    ) -> Result<MapOutputFile, ShuffleFileError> {
        let dirs = self.disk.dirs()?;
        let attempt = AttemptId(self.writers.fetch_add(1, Ordering::Relaxed));
        let mut file =
            MapOutputWriter::new(&dirs, shuffle, map, blocks.partitions(), self.compression, attempt);
        blocks.write(spills, &mut file)?;
        file.commit()?;
        MapOutputFile::open(&dirs, shuffle, map)
    }

    fn put(&self, MapPlace { shuffle, map, maps }: MapPlace, blocks: MapBlocks, bytes: u64) {
        let mut output = Some(Output { blocks, bytes, used: self.clock.fetch_add(1, Ordering::Relaxed) });
        // An executor hears of a shuffle by its first map task.
        if self.remote.is_some() && !self.removed.lock().contains(&shuffle) {
            self.open(shuffle);
        }
        if let Some(outputs) = self.outputs.lock().get_mut(&shuffle) {
            if outputs.len() < maps as usize {
                outputs.resize_with(maps as usize, || None);
            }
            std::mem::swap(&mut outputs[map.index()], &mut output);
        } else if let Some(Output { blocks: MapBlocks::File(_), .. }) = output {
            self.remove_files(shuffle);
        }
        self.forget(output);
    }

    /// The way to the outputs of other processes, if there are any.
    pub(crate) fn remote(&self) -> Option<&RemoteShuffles> {
        self.remote.as_ref()
    }

    /// The output of one map task as a file, for whoever serves it.
    pub(crate) fn file(&self, shuffle: ShuffleId, map: PartitionId) -> Option<Arc<MapOutputFile>> {
        match &self.outputs.lock().get(&shuffle)?.get(map.index())?.as_ref()?.blocks {
            MapBlocks::File(file) => Some(file.clone()),
            MapBlocks::Typed(_) => None,
        }
    }

    /// Every map output of a shuffle, by map partition; none where it is missing.
    pub(crate) fn outputs(&self, shuffle: ShuffleId) -> Vec<Option<MapBlocks>> {
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        let mut shuffles = self.outputs.lock();
        let outputs = shuffles.get_mut(&shuffle).map(Vec::as_mut_slice).unwrap_or_default();
        let blocks = |output: &mut Option<Output>| {
            output.as_mut().map(|output| {
                output.used = now;
                output.blocks.clone()
            })
        };
        outputs.iter_mut().map(blocks).collect()
    }

    /// Writes outputs that nobody reads to their files, those first that were not used for the longest time, until so many
    /// bytes are free; says how many are.
    pub(crate) fn evict(&self, bytes: u64) -> u64 {
        let mut freed = 0;
        for (place, blocks, size) in self.idle() {
            if freed >= bytes {
                break;
            }
            match self.write_out(place, &*blocks, &[]) {
                Ok(file) => freed += if self.replace(place, blocks, file) { size } else { 0 },
                Err(error) => {
                    tracing::warn!(%error, "a map output cannot be written to disk to free its memory");
                    break;
                }
            }
        }
        freed
    }

    /// The outputs in memory that nobody reads, by their last use.
    fn idle(&self) -> Vec<(MapPlace, Arc<dyn TypedBlocks>, u64)> {
        let mut idle = Vec::new();
        for (&shuffle, outputs) in &*self.outputs.lock() {
            let maps = outputs.len() as u32;
            for (map, output) in (0..).map(PartitionId).zip(outputs) {
                if let Some(Output { blocks: MapBlocks::Typed(blocks), bytes, used }) = output
                    && Arc::strong_count(blocks) == 1
                {
                    idle.push((*used, MapPlace { shuffle, map, maps }, blocks.clone(), *bytes));
                }
            }
        }
        idle.sort_by_key(|(used, ..)| *used);
        idle.into_iter().map(|(_, place, blocks, bytes)| (place, blocks, bytes)).collect()
    }

    /// Puts a file in the place of the very output it was written from; says whether that was still there.
    fn replace(&self, place: MapPlace, written: Arc<dyn TypedBlocks>, file: MapOutputFile) -> bool {
        let mut before = Some(MapBlocks::File(Arc::new(file)));
        let mut bytes = 0;
        if let Some(Some(output)) =
            self.outputs.lock().get_mut(&place.shuffle).and_then(|outputs| outputs.get_mut(place.map.index()))
            && let MapBlocks::Typed(blocks) = &output.blocks
            && Arc::ptr_eq(blocks, &written)
        {
            bytes = std::mem::take(&mut output.bytes);
            before = before.map(|file| std::mem::replace(&mut output.blocks, file));
        }
        drop(written);
        let is_replaced = matches!(before, Some(MapBlocks::Typed(_)));
        self.forget(before.map(|blocks| Output { blocks, bytes, used: 0 }));
        is_replaced
    }

    /// Drops outputs, whose rows are the user's, and gives their memory back.
    fn forget(&self, outputs: impl IntoIterator<Item = Output>) {
        for output in outputs {
            // Freed on this thread, which may be a task's: it must not look as if the task had freed its own.
            meter::adopt(output.bytes);
            self.memory.release_storage(output.bytes);
            discard(output);
        }
    }

    /// Forgets a shuffle.
    pub(crate) fn remove(&self, shuffle: ShuffleId) {
        if self.remote.is_some() {
            self.removed.lock().insert(shuffle);
        }
        let removed = self.outputs.lock().remove(&shuffle);
        let has_files =
            removed.iter().flatten().flatten().any(|output| matches!(output.blocks, MapBlocks::File(_)));
        self.forget(removed.into_iter().flatten().flatten());
        if has_files {
            self.remove_files(shuffle);
        }
    }

    fn remove_files(&self, shuffle: ShuffleId) {
        let removed = self.disk.dirs().map_err(Into::into).and_then(|dirs| remove_shuffle(&dirs, shuffle));
        if let Err(error) = removed {
            tracing::warn!(%error, %shuffle, "the files of a shuffle cannot be removed");
        }
    }

    /// Whether nothing is kept.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.outputs.lock().is_empty()
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        let removed = std::mem::take(&mut *self.outputs.lock());
        self.forget(removed.into_values().flatten().flatten());
    }
}

#[cfg(test)]
mod tests {
    use firesteel_storage::memory::MemoryConf;

    use super::{super::map_output::TypedBuckets, *};

    #[test]
    fn an_output_whose_shuffle_is_gone_leaves_no_file() {
        let folder = tempfile::TempDir::new().unwrap();
        let memory = MemoryManager::new(MemoryConf { budget: 1 << 20, storage_fraction: 0.5 });
        let disk = Disk::new(vec![folder.path().to_path_buf()], "test");
        let store = ShuffleStore::new(&memory, &disk, Compression::None, None);
        let place = MapPlace { shuffle: ShuffleId(3), map: PartitionId(0), maps: 1 };
        let keep = || {
            let dealt = Dealt { spills: Vec::new(), rows: TypedBuckets(vec![vec![1_u8]]), bytes: 1 };
            store.keep(place, dealt, Form::Shipped).unwrap();
            MapOutputFile::open(&disk.dirs().unwrap(), place.shuffle, place.map).is_ok()
        };

        assert!(!keep(), "nobody could ever remove it");
        store.open(place.shuffle);
        assert!(keep());
        store.remove(place.shuffle);
        assert!(MapOutputFile::open(&disk.dirs().unwrap(), place.shuffle, place.map).is_err());
    }
}
