//! Where the map outputs of one process are kept: [`ShuffleStore`].
//!
//! An output stays in memory, as it was made, while there is room; else it goes to its file, at once or when its memory
//! is needed. Readers have it either way.
//!
//! Files are written without the lock, so a shuffle may be removed, or an output replaced, while one is written. Under the
//! one lock each slot notes that it has a file from before the file appears, and a writer that finds its shuffle removed when it
//! has written removes what it wrote. So no interleaving leaves an output or a file behind.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use hashbrown::HashMap;
use parking_lot::Mutex;

use firesteel_storage::{
    codec::{Compression, ContentSum},
    memory::{MemoryManager, meter},
    shuffle::files::{MapOutputFile, MapOutputWriter, ShuffleFileError, SpillFile, remove_map_output},
};
use firesteel_types::{AttemptId, PartitionId, ShuffleId, StageAttemptId};

use super::{
    RemoteShuffles,
    map_output::{Dealt, MapBlocks, TypedBlocks},
};
use crate::{
    contain::{contain, discard},
    data::Data,
    task::{Disk, Form, TaskContext, hand_over},
};

/// The map outputs of one process.
pub(crate) struct ShuffleStore {
    shuffles: Mutex<HashMap<ShuffleId, Shuffle>>,
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

enum Shuffle {
    /// By map partition, as far as one was heard of.
    Open(Vec<Slot>),
    /// Removed, while a map task may have been running that would open it again; on executors only.
    Removed,
}

/// The place of one map output.
#[derive(Default)]
struct Slot {
    output: Option<Output>,
    /// Whether its file is there or being written, be it of this output or of one before it.
    has_file: bool,
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
            shuffles: Mutex::default(),
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
        self.shuffles.lock().entry(shuffle).or_insert_with(|| Shuffle::Open(Vec::new()));
    }

    /// Does something to the slot of a map output, unless its shuffle is removed.
    fn with_slot<T>(&self, place: MapPlace, f: impl FnOnce(&mut Slot) -> T) -> Option<T> {
        let mut shuffles = self.shuffles.lock();
        let shuffle = if self.remote.is_some() {
            // An executor hears of a shuffle by its first map task.
            shuffles.entry(place.shuffle).or_insert_with(|| Shuffle::Open(Vec::new()))
        } else {
            shuffles.get_mut(&place.shuffle)?
        };
        match shuffle {
            Shuffle::Open(slots) => {
                if slots.len() < place.maps as usize {
                    slots.resize_with(place.maps as usize, Slot::default);
                }
                Some(f(&mut slots[place.map.index()]))
            }
            Shuffle::Removed => None,
        }
    }

    /// Keeps what a map task made, unless the shuffle was removed while the task ran. A second attempt of the same task
    /// replaces the first: both made the same rows. What a later run of the stage made stays.
    pub(crate) fn keep<T: Data>(
        &self,
        place: MapPlace,
        dealt: Dealt<T>,
        form: Form,
    ) -> Result<KeptOutput, ShuffleFileError> {
        let Dealt { spills, rows, bytes, content } = dealt;
        let may_stay = match form {
            Form::Typed => spills.is_empty(),
            Form::Shipped => false,
        };
        if may_stay {
            // Before memory is taken over: the rows are serialized for it, which may fail.
            let mut content = content;
            if content.is_some() {
                rows.add_to(&mut content)?;
            }
            if self.take_over(bytes) {
                let sizes = rows.iter().map(|rows| size_of_val(rows) as u64).collect();
                self.put(place, MapBlocks::Typed(Arc::new(rows)), bytes);
                return Ok(KeptOutput { sizes, content });
            }
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
        place: MapPlace,
        blocks: &dyn TypedBlocks,
        spills: &[SpillFile],
        mut content: Option<ContentSum>,
    ) -> Result<MapOutputFile, ShuffleFileError> {
        self.with_slot(place, |slot| slot.has_file = true);
        let MapPlace { shuffle, map, generation, .. } = place;
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
        let generation = place.generation;
        let used = self.clock.fetch_add(1, Ordering::Relaxed);
        let is_file = matches!(blocks, MapBlocks::File(_));
        let mut output = Some(Output { generation, blocks, bytes, used });
        let put = self.with_slot(place, |slot| {
            if slot.output.as_ref().is_none_or(|before| before.generation <= generation) {
                std::mem::swap(&mut slot.output, &mut output);
            }
        });
        if put.is_none() && is_file {
            self.remove_file(place.shuffle, place.map);
        }
        self.forget(output);
    }

    /// The way to the outputs of other processes, if there are any.
    pub(crate) fn remote(&self) -> Option<&RemoteShuffles> {
        self.remote.as_ref()
    }

    /// The output of one map task as a file, for the block server.
    pub(crate) fn file(&self, shuffle: ShuffleId, map: PartitionId) -> Option<Arc<MapOutputFile>> {
        match self.shuffles.lock().get(&shuffle)? {
            Shuffle::Open(slots) => match &slots.get(map.index())?.output.as_ref()?.blocks {
                MapBlocks::File(file) => Some(file.clone()),
                MapBlocks::Typed(_) => None,
            },
            Shuffle::Removed => None,
        }
    }

    /// Every map output of a shuffle, by map partition; none where it is missing.
    pub(crate) fn outputs(&self, shuffle: ShuffleId) -> Vec<Option<MapBlocks>> {
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        let mut shuffles = self.shuffles.lock();
        let Some(Shuffle::Open(slots)) = shuffles.get_mut(&shuffle) else { return Vec::new() };
        let blocks = |slot: &mut Slot| {
            slot.output.as_mut().map(|output| {
                output.used = now;
                output.blocks.clone()
            })
        };
        slots.iter_mut().map(blocks).collect()
    }

    /// Writes outputs that are not being read to their files, the least recently used first, until so many bytes are
    /// free; returns how many are.
    pub(crate) fn evict(&self, bytes: u64) -> u64 {
        let mut freed = 0;
        for (place, blocks, size) in self.idle() {
            if freed >= bytes {
                break;
            }
            // The rows are another job's, maybe, than that of the task which needs the memory.
            match contain(|| self.write_out(place, &*blocks, &[], None)) {
                Ok(Ok(file)) => freed += if self.replace(place, blocks, file) { size } else { 0 },
                Ok(Err(error)) => {
                    tracing::warn!(%error, "a map output cannot be written to disk to free its memory");
                    break;
                }
                Err(message) => {
                    tracing::warn!(message, "serializing a map output to free its memory panicked")
                }
            }
        }
        freed
    }

    /// The outputs in memory that are not being read, by their last use.
    fn idle(&self) -> Vec<(MapPlace, Arc<dyn TypedBlocks>, u64)> {
        let mut idle = Vec::new();
        for (&shuffle, state) in &*self.shuffles.lock() {
            let Shuffle::Open(slots) = state else { continue };
            let maps = slots.len() as u32;
            for (map, slot) in (0..).map(PartitionId).zip(slots) {
                if let Some(Output { generation, blocks: MapBlocks::Typed(blocks), bytes, used }) =
                    &slot.output
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

    /// Puts a file in the place of the very output it was written from; returns whether that was still there.
    fn replace(&self, place: MapPlace, written: Arc<dyn TypedBlocks>, file: MapOutputFile) -> bool {
        let mut file = Some(MapBlocks::File(Arc::new(file)));
        let replaced = self.with_slot(place, |slot| {
            let output = slot.output.as_mut()?;
            let MapBlocks::Typed(blocks) = &output.blocks else { return None };
            if !Arc::ptr_eq(blocks, &written) {
                return None;
            }
            let blocks = std::mem::replace(&mut output.blocks, file.take()?);
            Some(Output { blocks, bytes: std::mem::take(&mut output.bytes), ..*output })
        });
        drop(written);
        let Some(replaced) = replaced else {
            self.remove_file(place.shuffle, place.map);
            return false;
        };
        let is_replaced = replaced.is_some();
        self.forget(replaced);
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
        let mut shuffles = self.shuffles.lock();
        let removed = if self.remote.is_some() {
            shuffles.insert(shuffle, Shuffle::Removed)
        } else {
            shuffles.remove(&shuffle)
        };
        drop(shuffles);
        let Some(Shuffle::Open(slots)) = removed else { return };
        for (map, slot) in (0..).map(PartitionId).zip(slots) {
            self.forget(slot.output);
            if slot.has_file {
                self.remove_file(shuffle, map);
            }
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
        self.shuffles.lock().is_empty()
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        for shuffle in std::mem::take(&mut *self.shuffles.lock()).into_values() {
            match shuffle {
                Shuffle::Open(slots) => self.forget(slots.into_iter().filter_map(|slot| slot.output)),
                Shuffle::Removed => (),
            }
        }
    }
}

#[cfg(test)]
mod tests;
