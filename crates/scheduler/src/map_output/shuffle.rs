//! The map outputs of one shuffle.
//!
//! `ShuffleOutputs` keeps one slot for each map partition and the indexes that find slots by attempt, executor
//! and host. It knows nothing of epochs, nor of other shuffles.
//!
//! ```text
//!            register             remove
//!   Unwritten ------> Available <--------> Removed
//!                     |     ^     register, relocate
//!                     +-----+
//!                register, relocate
//! ```

use std::collections::BTreeSet;

use firesteel_types::{AttemptId, ExecutorId, Host, PartitionId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::{
    MapStatus,
    groups::Groups,
    table::{TableBroadcastId, TableCache},
};

/// What registering a map output did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// Whether it took the place of an output that was available.
    pub replaced: bool,
    /// Whether the last known output of this map partition, available or lost, had other content. False where
    /// either of the two carries no checksum.
    pub checksum_changed: bool,
}

/// What relocating a map output did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Relocated {
    /// The output was available and is now recorded at the new place.
    Moved {
        /// Whose output it is.
        map: PartitionId,
    },
    /// The output was lost and is available again, at the new place.
    Restored {
        /// Whose output it is.
        map: PartitionId,
    },
    /// The attempt wrote no output that is known here; nothing changed.
    Untracked,
}

/// One map partition's output.
#[derive(Clone, Debug)]
enum Slot {
    /// No attempt has finished.
    Unwritten,
    /// The output can be read.
    Available(MapStatus),
    /// The output was lost. Kept to compare checksums, and in case it turns up elsewhere.
    Removed(MapStatus),
}

/// Up to this many maps a debug build checks the whole shuffle after each change.
const CHECKED_MAPS_MAX: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct ShuffleOutputs {
    pub(super) reducers: u32,
    pub(super) table: TableCache,
    slots: Vec<Slot>,
    available: u32,
    /// The map partition of each attempt whose status is in a slot.
    by_attempt: IndexMap<AttemptId, PartitionId, FxBuildHasher>,
    by_executor: Groups<ExecutorId>,
    by_host: Groups<Host>,
    checksum_mismatches: BTreeSet<PartitionId>,
}

impl ShuffleOutputs {
    pub(super) fn new(maps: u32, reducers: u32) -> Self {
        Self {
            reducers,
            table: TableCache::default(),
            slots: vec![Slot::Unwritten; maps as usize],
            available: 0,
            by_attempt: IndexMap::default(),
            by_executor: Groups::new(maps),
            by_host: Groups::new(maps),
            checksum_mismatches: BTreeSet::new(),
        }
    }

    pub(super) fn maps(&self) -> u32 {
        self.slots.len() as u32
    }

    pub(super) fn available(&self) -> u32 {
        self.available
    }

    pub(super) fn is_complete(&self) -> bool {
        self.available == self.maps()
    }

    pub(super) fn checksum_mismatches(&self) -> &BTreeSet<PartitionId> {
        &self.checksum_mismatches
    }

    pub(super) fn output(&self, map: PartitionId) -> Option<&MapStatus> {
        match self.slots.get(map.index())? {
            Slot::Available(status) => Some(status),
            Slot::Unwritten | Slot::Removed(_) => None,
        }
    }

    /// Every map partition's output, in order; none where it is missing.
    pub(super) fn outputs(&self) -> impl ExactSizeIterator<Item = Option<&MapStatus>> + Clone {
        self.slots.iter().map(|slot| match slot {
            Slot::Available(status) => Some(status),
            Slot::Unwritten | Slot::Removed(_) => None,
        })
    }

    pub(super) fn missing(&self) -> Vec<PartitionId> {
        let missing = (self.maps() - self.available) as usize;
        let outputs = (0..).map(PartitionId).zip(self.outputs());
        outputs.filter(|(_, output)| output.is_none()).map(|(map, _)| map).take(missing).collect()
    }

    pub(super) fn outputs_on(&self, executor: ExecutorId) -> usize {
        self.by_executor.members(&executor).len()
    }

    /// Records the output of `map`. A table that lists the former output of `map` stays in use, as in Spark's
    /// `ShuffleStatus`: that output can still be read.
    pub(super) fn register(
        &mut self,
        map: PartitionId,
        status: MapStatus,
        stale: &mut Vec<TableBroadcastId>,
    ) -> Registered {
        let before = std::mem::replace(&mut self.slots[map.index()], Slot::Unwritten);
        let (last, replaced) = match before {
            Slot::Unwritten => (None, false),
            Slot::Removed(last) => (Some(last), false),
            Slot::Available(last) => {
                self.leave(map, &last);
                (Some(last), true)
            }
        };
        if replaced {
            self.table.mark_outdated();
        } else {
            stale.extend(self.table.invalidate());
        }
        if let Some(last) = &last {
            self.forget_attempt(map, last.attempt);
        }
        let last_checksum = last.and_then(|last| last.checksum);
        let checksum_changed = last_checksum.zip(status.checksum).is_some_and(|(before, now)| before != now);
        if checksum_changed {
            self.checksum_mismatches.insert(map);
        }
        self.by_attempt.insert(status.attempt, map);
        self.enter(map, status);
        self.check_if_small();
        Registered { replaced, checksum_changed }
    }

    /// Removes the output of `map` if `executor` holds it, and returns whether it did.
    pub(super) fn remove(
        &mut self,
        map: PartitionId,
        executor: ExecutorId,
        stale: &mut Vec<TableBroadcastId>,
    ) -> bool {
        let held = self.output(map).is_some_and(|status| status.executor == executor);
        self.remove_each(if held { vec![map] } else { Vec::new() }, stale) == [map]
    }

    /// Removes every output, for good: a copy that is made of one later does not bring it back. What is left is the
    /// content to compare the next one with.
    pub(super) fn remove_all(&mut self, stale: &mut Vec<TableBroadcastId>) -> Vec<PartitionId> {
        let outputs = (0..).map(PartitionId).zip(self.outputs());
        let held = outputs.filter(|(_, output)| output.is_some()).map(|(map, _)| map).collect();
        self.by_attempt.clear();
        self.remove_each(held, stale)
    }

    pub(super) fn remove_executor(
        &mut self,
        executor: ExecutorId,
        stale: &mut Vec<TableBroadcastId>,
    ) -> Vec<PartitionId> {
        self.remove_each(self.by_executor.members(&executor).to_vec(), stale)
    }

    pub(super) fn remove_host(&mut self, host: &Host, stale: &mut Vec<TableBroadcastId>) -> Vec<PartitionId> {
        self.remove_each(self.by_host.members(host).to_vec(), stale)
    }

    /// Removes the outputs of `maps`, which are all available, and returns them in order.
    ///
    /// An outdated table goes even if nothing is removed: it may name the place that was just reported lost for
    /// an output that has since been registered elsewhere. Spark keeps serving it, and readers keep failing.
    fn remove_each(
        &mut self,
        mut maps: Vec<PartitionId>,
        stale: &mut Vec<TableBroadcastId>,
    ) -> Vec<PartitionId> {
        maps.sort_unstable();
        for &map in &maps {
            let slot = std::mem::replace(&mut self.slots[map.index()], Slot::Unwritten);
            let Slot::Available(status) = slot else { unreachable!("only available outputs are removed") };
            self.leave(map, &status);
            self.slots[map.index()] = Slot::Removed(status);
        }
        if !maps.is_empty() || self.table.is_outdated() {
            stale.extend(self.table.invalidate());
        }
        self.check_if_small();
        maps
    }

    /// Records that the output which `attempt` wrote is at another place now.
    pub(super) fn relocate(
        &mut self,
        attempt: AttemptId,
        executor: ExecutorId,
        host: Host,
        stale: &mut Vec<TableBroadcastId>,
    ) -> Relocated {
        let Some(&map) = self.by_attempt.get(&attempt) else { return Relocated::Untracked };
        let slot = std::mem::replace(&mut self.slots[map.index()], Slot::Unwritten);
        let (status, relocated) = match slot {
            Slot::Available(status) => {
                self.leave(map, &status);
                (status, Relocated::Moved { map })
            }
            Slot::Removed(status) => (status, Relocated::Restored { map }),
            Slot::Unwritten => unreachable!("an attempt is indexed only while its status is in a slot"),
        };
        self.enter(map, MapStatus { executor, host, ..status });
        stale.extend(self.table.invalidate());
        self.check_if_small();
        relocated
    }

    /// Makes `status` the available output of `map`, which has none.
    fn enter(&mut self, map: PartitionId, status: MapStatus) {
        self.by_executor.insert(map, status.executor);
        self.by_host.insert(map, status.host.clone());
        self.slots[map.index()] = Slot::Available(status);
        self.available += 1;
    }

    /// Takes the output of `map`, which was available as `status`, out of the counts by place.
    fn leave(&mut self, map: PartitionId, status: &MapStatus) {
        self.by_executor.remove(map, &status.executor);
        self.by_host.remove(map, &status.host);
        self.available -= 1;
    }

    /// The status goes for good, so its attempt must not be found any more. Attempts are named by executors; one
    /// that was named for two maps belongs to the later.
    fn forget_attempt(&mut self, map: PartitionId, attempt: AttemptId) {
        if self.by_attempt.get(&attempt) == Some(&map) {
            self.by_attempt.swap_remove(&attempt);
        }
    }

    fn check_if_small(&self) {
        if cfg!(debug_assertions) && self.slots.len() <= CHECKED_MAPS_MAX {
            self.check_invariants();
        }
    }

    /// Compares every count and index with the slots. Costs the size of the shuffle.
    pub(super) fn check_invariants(&self) {
        let mut available = 0;
        for (map, output) in (0..).map(PartitionId).zip(self.outputs()) {
            let Some(status) = output else { continue };
            available += 1;
            assert!(self.by_executor.is_at_its_place(map, &status.executor), "{map} is indexed by executor");
            assert!(self.by_host.is_at_its_place(map, &status.host), "{map} is indexed by host");
        }
        assert_eq!(self.available, available, "the count of available outputs");
        assert_eq!(self.by_executor.total(), available as usize, "no executor holds anything else");
        assert_eq!(self.by_host.total(), available as usize, "no host holds anything else");
        for (&attempt, &map) in &self.by_attempt {
            match &self.slots[map.index()] {
                Slot::Available(status) | Slot::Removed(status) => assert_eq!(status.attempt, attempt),
                Slot::Unwritten => unreachable!("{attempt} is indexed, but {map} has no status"),
            }
        }
    }
}
