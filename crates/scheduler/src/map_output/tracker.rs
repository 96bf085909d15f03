//! The driver's record of every map output.
//!
//! [`MapOutputTracker`] knows which outputs of which shuffle are available and where, and counts the epoch by
//! which executors notice that what they have cached is out of date. Queries over sizes are in `queries`.

use std::{collections::BTreeMap, ops::Range};

use firesteel_types::{AttemptId, ExecutorId, FetchFailure, Host, PartitionId, ShuffleId};

use super::{
    ExecutorBlocks, MapOutputConfig, MapOutputError, MapStatus, Registered, Relocated, input,
    shuffle::ShuffleOutputs,
    table::{self, ServedTable, TableBroadcastId, TableLookup},
};

/// The map outputs of every shuffle of an application.
///
/// Registering an output, asking whether a shuffle is complete and relocating an output cost the same however
/// many maps there are. Losing an executor or a host costs what it held, plus a look at each shuffle.
#[derive(Clone, Debug)]
pub struct MapOutputTracker {
    pub(super) config: MapOutputConfig,
    shuffles: BTreeMap<ShuffleId, ShuffleOutputs>,
    epoch: u64,
    next_broadcast: u64,
    /// Broadcasts of tables that no longer hold, until the owner takes and destroys them.
    stale: Vec<TableBroadcastId>,
}

impl MapOutputTracker {
    /// A tracker without shuffles.
    pub fn new(config: MapOutputConfig) -> Result<Self, MapOutputError> {
        config.check()?;
        Ok(Self { config, shuffles: BTreeMap::new(), epoch: 0, next_broadcast: 0, stale: Vec::new() })
    }

    /// Makes room for the outputs of `shuffle`: `maps` of them, each with a block for each of `reducers`.
    pub fn register_shuffle(
        &mut self,
        shuffle: ShuffleId,
        maps: u32,
        reducers: u32,
    ) -> Result<(), MapOutputError> {
        if self.contains(shuffle) {
            return Err(MapOutputError::ShuffleRegisteredTwice { shuffle });
        }
        self.shuffles.insert(shuffle, ShuffleOutputs::new(maps, reducers));
        Ok(())
    }

    /// Whether `shuffle` is registered.
    pub fn contains(&self, shuffle: ShuffleId) -> bool {
        self.shuffles.contains_key(&shuffle)
    }

    /// How many map and reduce partitions `shuffle` has, if it is registered.
    pub fn shape(&self, shuffle: ShuffleId) -> Option<(u32, u32)> {
        self.shuffles.get(&shuffle).map(|outputs| (outputs.maps(), outputs.reducers))
    }

    /// Forgets `shuffle` and its outputs, and returns whether it was registered.
    pub fn unregister_shuffle(&mut self, shuffle: ShuffleId) -> bool {
        let Some(mut outputs) = self.shuffles.remove(&shuffle) else { return false };
        self.stale.extend(outputs.table.invalidate());
        true
    }

    /// Records the output of `map`, in place of one that may be there.
    pub fn register_output(
        &mut self,
        shuffle: ShuffleId,
        map: PartitionId,
        status: MapStatus,
    ) -> Result<Registered, MapOutputError> {
        let outputs = known_map(&mut self.shuffles, shuffle, map)?;
        let (blocks, reducers) = (status.sizes.len(), outputs.reducers);
        if blocks != reducers {
            return Err(MapOutputError::WrongBlockCount { shuffle, map, blocks, reducers });
        }
        Ok(outputs.register(map, status, &mut self.stale))
    }

    /// Removes the output of `map` if it is still the one on `executor`, and returns whether it was.
    ///
    /// The epoch advances either way: a task could not read from that executor, so what executors have cached is out of
    /// date.
    pub fn unregister_output(
        &mut self,
        shuffle: ShuffleId,
        map: PartitionId,
        executor: ExecutorId,
    ) -> Result<bool, MapOutputError> {
        let outputs = known_map(&mut self.shuffles, shuffle, map)?;
        let removed = outputs.remove(map, executor, &mut self.stale);
        self.increment_epoch();
        Ok(removed)
    }

    /// Removes every output of `shuffle`, which stays registered, and returns whose they were.
    pub fn unregister_all_outputs(&mut self, shuffle: ShuffleId) -> Result<Vec<PartitionId>, MapOutputError> {
        let outputs = known(&mut self.shuffles, shuffle)?;
        let removed = outputs.remove_all(&mut self.stale);
        self.increment_epoch();
        Ok(removed)
    }

    /// Removes every output on `executor` and returns what was removed, in order.
    pub fn remove_executor(&mut self, executor: ExecutorId) -> Vec<(ShuffleId, PartitionId)> {
        self.remove_everywhere(|outputs, stale| outputs.remove_executor(executor, stale))
    }

    /// Removes every output on `host` and returns what was removed, in order.
    pub fn remove_host(&mut self, host: &Host) -> Vec<(ShuffleId, PartitionId)> {
        self.remove_everywhere(|outputs, stale| outputs.remove_host(host, stale))
    }

    fn remove_everywhere(
        &mut self,
        mut remove: impl FnMut(&mut ShuffleOutputs, &mut Vec<TableBroadcastId>) -> Vec<PartitionId>,
    ) -> Vec<(ShuffleId, PartitionId)> {
        let mut removed = Vec::new();
        for (&shuffle, outputs) in &mut self.shuffles {
            let maps = remove(outputs, &mut self.stale);
            removed.extend(maps.into_iter().map(|map| (shuffle, map)));
        }
        self.increment_epoch();
        removed
    }

    /// Records that the output which `attempt` wrote was copied to `executor` on `host`.
    ///
    /// An output that was lost meanwhile and not made again is available again. A copy of anything unknown is
    /// ignored: the shuffle may be over, or another attempt's output may have taken its place.
    pub fn relocate(
        &mut self,
        shuffle: ShuffleId,
        attempt: AttemptId,
        executor: ExecutorId,
        host: Host,
    ) -> Relocated {
        match self.shuffles.get_mut(&shuffle) {
            Some(outputs) => outputs.relocate(attempt, executor, host, &mut self.stale),
            None => Relocated::Untracked,
        }
    }

    /// How often outputs were removed or a map stage completed. Tasks carry it to the executors.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Makes executors drop the tables they have cached. Called when a map stage completes.
    pub fn increment_epoch(&mut self) {
        self.epoch += 1;
    }

    /// Whether every output of `shuffle` is available. False for an unknown shuffle.
    pub fn is_complete(&self, shuffle: ShuffleId) -> bool {
        self.outputs(shuffle).is_some_and(ShuffleOutputs::is_complete)
    }

    /// How many outputs of `shuffle` are available. 0 for an unknown shuffle.
    pub fn available(&self, shuffle: ShuffleId) -> u32 {
        self.outputs(shuffle).map_or(0, ShuffleOutputs::available)
    }

    /// The map partitions of `shuffle` without an output, in order. None for an unknown shuffle.
    pub fn missing(&self, shuffle: ShuffleId) -> Vec<PartitionId> {
        self.outputs(shuffle).map_or_else(Vec::new, ShuffleOutputs::missing)
    }

    /// The output of `map`, if it is available.
    pub fn output(&self, shuffle: ShuffleId, map: PartitionId) -> Option<&MapStatus> {
        self.outputs(shuffle)?.output(map)
    }

    /// How many outputs `executor` holds, over all shuffles.
    pub fn outputs_on(&self, executor: ExecutorId) -> usize {
        self.shuffles.values().map(|outputs| outputs.outputs_on(executor)).sum()
    }

    /// The map partitions of `shuffle` that were at some time registered with other content than before.
    pub fn checksum_mismatches(&self, shuffle: ShuffleId) -> impl Iterator<Item = PartitionId> {
        self.outputs(shuffle).into_iter().flat_map(|outputs| outputs.checksum_mismatches().iter().copied())
    }

    /// The blocks that the reducers in `reducers` read, by the executor that holds them.
    ///
    /// Nothing for an unknown shuffle. A missing output is a fetch failure without an address.
    pub fn reducer_input(
        &self,
        shuffle: ShuffleId,
        reducers: Range<u32>,
    ) -> Result<Vec<ExecutorBlocks>, FetchFailure> {
        match self.outputs(shuffle) {
            Some(outputs) => input::reducer_input(shuffle, outputs.outputs(), reducers),
            None => Ok(Vec::new()),
        }
    }

    /// The serialized table of `shuffle`, for an executor that asks.
    ///
    /// Encoded at the first request and kept until an output is added where none was, removed or relocated.
    pub fn table(&mut self, shuffle: ShuffleId) -> Result<ServedTable, MapOutputError> {
        let outputs = known(&mut self.shuffles, shuffle)?;
        match outputs.table.lookup() {
            TableLookup::Cached(served) => Ok(served),
            TableLookup::MustEncode => {
                let bytes = table::encode_table(outputs.outputs());
                let id = TableBroadcastId(self.next_broadcast);
                self.next_broadcast += 1;
                Ok(outputs.table.store(bytes, self.config.min_broadcast_bytes, id))
            }
        }
    }

    /// The broadcasts that hold tables which are no longer true, to be destroyed. Each is returned once.
    pub fn take_stale_broadcasts(&mut self) -> Vec<TableBroadcastId> {
        std::mem::take(&mut self.stale)
    }

    /// Whether nothing is left: no shuffle and no broadcast to destroy.
    pub fn is_quiescent(&self) -> bool {
        self.shuffles.is_empty() && self.stale.is_empty()
    }

    /// Compares every count and index with the outputs. Costs the size of all shuffles, so that only tests and
    /// changes to small shuffles in debug builds do it.
    ///
    /// # Panics
    ///
    /// If they differ.
    pub fn check_invariants(&self) {
        self.shuffles.values().for_each(ShuffleOutputs::check_invariants);
    }

    pub(super) fn outputs(&self, shuffle: ShuffleId) -> Option<&ShuffleOutputs> {
        self.shuffles.get(&shuffle)
    }
}

fn known(
    shuffles: &mut BTreeMap<ShuffleId, ShuffleOutputs>,
    shuffle: ShuffleId,
) -> Result<&mut ShuffleOutputs, MapOutputError> {
    shuffles.get_mut(&shuffle).ok_or(MapOutputError::UnknownShuffle { shuffle })
}

fn known_map(
    shuffles: &mut BTreeMap<ShuffleId, ShuffleOutputs>,
    shuffle: ShuffleId,
    map: PartitionId,
) -> Result<&mut ShuffleOutputs, MapOutputError> {
    let outputs = known(shuffles, shuffle)?;
    let maps = outputs.maps();
    if map.0 < maps { Ok(outputs) } else { Err(MapOutputError::UnknownMap { shuffle, map, maps }) }
}
