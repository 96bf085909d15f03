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
    codec::{Compression, ContentSum},
    memory::{MemoryManager, meter},
    shuffle::files::{MapOutputFile, MapOutputWriter, ShuffleFileError, SpillFile, remove_map_output},
};
use firesteel_types::{AttemptId, PartitionId, ShuffleId, StageAttemptId};

use super::{
    RemoteShuffles,
    buckets::Dealt,
    map_output::{MapBlocks, TypedBlocks},
};
use crate::{
    contain::discard,
    data::Data,
    executor::{Disk, TaskContext, hand_over},
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
    conf: ShuffleConf,
    /// Counts uses, for their order.
    clock: AtomicU64,
    /// Counts files, so that two attempts of a task do not write to the same one.
    writers: AtomicU64,
}

/// How map outputs are kept.
#[derive(Clone, Copy)]
pub(crate) struct ShuffleConf {
    pub(crate) compression: Compression,
    /// Whether the rows of an output are summed up.
    pub(crate) sums_content: bool,
}

/// One map task of a shuffle.
#[derive(Clone, Copy)]
pub(crate) struct MapPlace {
    pub(crate) shuffle: ShuffleId,
    pub(crate) map: PartitionId,
    pub(crate) maps: u32,
    /// The run of its stage. What a later one leaves takes the place of what an earlier one left: it may have had other
    /// input.
    pub(crate) generation: u64,
}

impl MapPlace {
    /// Of the running task.
    pub(crate) fn of(shuffle: ShuffleId, task: &TaskContext) -> Self {
        // A shuffle may be made by several stages, one after the other.
        let StageAttemptId { stage, attempt } = task.stage();
        let generation = u64::from(stage.0) << 32 | u64::from(attempt);
        Self { shuffle, map: task.partition(), maps: task.num_partitions(), generation }
    }
}

/// What was kept of a map output.
pub(crate) struct KeptOutput {
    /// How large each block is.
    pub(crate) sizes: Vec<u64>,
    /// The sum of all rows, if it is wanted.
    pub(crate) content: Option<ContentSum>,
}

struct Output {
    generation: u64,
    blocks: MapBlocks,
    /// The memory that is taken for it.
    bytes: u64,
    used: u64,
}

impl ShuffleStore {
    pub(crate) fn new(
        memory: &Arc<MemoryManager>,
        disk: &Arc<Disk>,
        conf: ShuffleConf,
        remote: Option<RemoteShuffles>,
    ) -> Self {
        Self {
            outputs: Mutex::default(),
            removed: Mutex::default(),
            remote,
            memory: memory.clone(),
            disk: disk.clone(),
            conf,
            clock: AtomicU64::new(0),
            writers: AtomicU64::new(0),
        }
    }

    /// Whether the rows of map outputs are summed up.
    pub(crate) fn sums_content(&self) -> bool {
        self.conf.sums_content
    }

    /// Outputs of a shuffle will come, until it is removed.
    pub(crate) fn open(&self, shuffle: ShuffleId) {
        self.outputs.lock().entry(shuffle).or_default();
    }

    /// Keeps what a map task made, unless the shuffle was removed while the task ran. A second attempt of the same task
    /// replaces the first: both made the same rows. What a later run of the stage made stays.
    pub(crate) fn keep<T: Data>(
        &self,
        place: MapPlace,
        dealt: Dealt<T>,
        form: Form,
    ) -> Result<KeptOutput, ShuffleFileError> {
        let Dealt { spills, rows, bytes, mut content } = dealt;
        let stays = match form {
            Form::Typed => spills.is_empty() && self.take_over(bytes),
            Form::Shipped => false,
        };
        if stays {
            if content.is_some() {
                rows.add_to(&mut content)?;
            }
            let sizes = rows.iter().map(|rows| size_of_val(rows) as u64).collect();
            self.put(place, MapBlocks::Typed(Arc::new(rows)), bytes);
            return Ok(KeptOutput { sizes, content });
        }
        let file = self.write_out(place, &rows, &spills, content)?;
        drop((rows, spills));
        // Of the output that is there, which may be another attempt's.
        let kept = KeptOutput { sizes: file.lengths(), content: file.content_sum() };
        self.put(place, MapBlocks::File(Arc::new(file)), 0);
        Ok(kept)
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

    /// Writes an output to its file; `content` is the sum of what was spilled, if it is wanted.
    fn write_out(
        &self,
        MapPlace { shuffle, map, generation, .. }: MapPlace,
        blocks: &dyn TypedBlocks,
        spills: &[SpillFile],
        mut content: Option<ContentSum>,
    ) -> Result<MapOutputFile, ShuffleFileError> {
        let dirs = self.disk.dirs()?;
        let attempt = AttemptId(self.writers.fetch_add(1, Ordering::Relaxed));
        let compression = self.conf.compression;
        let file = MapOutputWriter::new(&dirs, shuffle, map, blocks.partitions(), compression, attempt);
        let mut file = file.of_generation(generation);
        blocks.write(spills, &mut file, &mut content)?;
        if let Some(content) = content {
            file.set_content_sum(content);
        }
        Ok(file.commit()?.file)
    }

    fn put(&self, place: MapPlace, blocks: MapBlocks, bytes: u64) {
        let MapPlace { shuffle, map, maps, generation } = place;
        let used = self.clock.fetch_add(1, Ordering::Relaxed);
        let mut output = Some(Output { generation, blocks, bytes, used });
        // An executor hears of a shuffle by its first map task.
        if self.remote.is_some() && !self.removed.lock().contains(&shuffle) {
            self.open(shuffle);
        }
        if let Some(outputs) = self.outputs.lock().get_mut(&shuffle) {
            if outputs.len() < maps as usize {
                outputs.resize_with(maps as usize, || None);
            }
            let before = &mut outputs[map.index()];
            if before.as_ref().is_none_or(|before| before.generation <= generation) {
                std::mem::swap(before, &mut output);
            }
        } else if let Some(Output { blocks: MapBlocks::File(_), .. }) = output {
            self.remove_file(shuffle, map);
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
            match self.write_out(place, &*blocks, &[], None) {
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
                if let Some(Output { generation, blocks: MapBlocks::Typed(blocks), bytes, used }) = output
                    && Arc::strong_count(blocks) == 1
                {
                    let place = MapPlace { shuffle, map, maps, generation: *generation };
                    idle.push((*used, place, blocks.clone(), *bytes));
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
        let generation = place.generation;
        self.forget(before.map(|blocks| Output { generation, blocks, bytes, used: 0 }));
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
        let removed = self.outputs.lock().remove(&shuffle).unwrap_or_default();
        let is_file =
            |output: &Option<Output>| matches!(output, Some(Output { blocks: MapBlocks::File(_), .. }));
        let files: Vec<_> = (0..).map(PartitionId).zip(removed.iter().map(is_file)).collect();
        self.forget(removed.into_iter().flatten());
        for (map, _) in files.into_iter().filter(|(_, is_file)| *is_file) {
            self.remove_file(shuffle, map);
        }
    }

    fn remove_file(&self, shuffle: ShuffleId, map: PartitionId) {
        let dirs = self.disk.dirs().map_err(Into::into);
        if let Err(error) = dirs.and_then(|dirs| remove_map_output(&dirs, shuffle, map)) {
            tracing::warn!(%error, %shuffle, %map, "the files of a map output cannot be removed");
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
mod tests;
