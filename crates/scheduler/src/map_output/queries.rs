//! Queries on the sizes of map outputs: statistics, and where a reducer would best run.
//!
//! Nothing here changes the tracker, and nothing starts a thread: [`MapOutputTracker::statistics_ranges`] returns how
//! to split a large sum, for a caller with threads.

use std::ops::Range;

use firesteel_types::{ExecutorId, Host, ShuffleId};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use super::{MapOutputTracker, OutputLocation};

/// A reducer prefers the hosts that hold at least this part of its input.
const PREFERRED_PERCENT: u8 = 20;
/// With this many maps or more the search for large outputs is not worth its cost.
const PREFERRED_MAPS_BELOW: u32 = 1000;
/// The same for the reducers, since the search is made for each.
const PREFERRED_REDUCERS_BELOW: u32 = 1000;

impl MapOutputTracker {
    /// The bytes of each reducer's input, summed over the outputs that are available. None for an unknown
    /// shuffle.
    pub fn statistics(&self, shuffle: ShuffleId) -> Option<Vec<u64>> {
        self.statistics_of(shuffle, 0..self.outputs(shuffle)?.reducers)
    }

    /// The bytes of the input of the reducers in `reducers`. None for an unknown shuffle.
    ///
    /// # Panics
    ///
    /// If the range ends beyond the reducers of the shuffle.
    pub fn statistics_of(&self, shuffle: ShuffleId, reducers: Range<u32>) -> Option<Vec<u64>> {
        let outputs = self.outputs(shuffle)?;
        assert!(reducers.end <= outputs.reducers, "{reducers:?} of {} reducers", outputs.reducers);
        let mut sums = vec![0; reducers.len()];
        for status in outputs.outputs().flatten() {
            status.sizes.add_to(reducers.start, &mut sums);
        }
        Some(sums)
    }

    /// The ranges of reducers over which up to `threads` threads should sum the statistics of `shuffle`: one for
    /// each ten million blocks begun, as equal as can be.
    pub fn statistics_ranges(&self, shuffle: ShuffleId, threads: u32) -> Vec<Range<u32>> {
        let Some(outputs) = self.outputs(shuffle) else { return Vec::new() };
        let blocks = u64::from(outputs.maps()) * u64::from(outputs.reducers);
        let wanted = blocks.checked_div(self.config.parallel_sum_blocks).map_or(u64::MAX, |parts| parts + 1);
        let parts = wanted.min(u64::from(threads.max(1))).min(u64::from(outputs.reducers)) as u32;
        equal_ranges(outputs.reducers, parts)
    }

    /// The places that each hold at least `percent` of the input of `reducer`, in the order of their first map.
    ///
    /// # Panics
    ///
    /// If the shuffle has no such reducer.
    pub fn largest_outputs(&self, shuffle: ShuffleId, reducer: u32, percent: u8) -> Vec<OutputLocation> {
        let Some(outputs) = self.outputs(shuffle) else { return Vec::new() };
        let mut bytes: IndexMap<(ExecutorId, &Host), u128, FxBuildHasher> = IndexMap::default();
        let mut total = 0;
        for status in outputs.outputs().flatten() {
            let size = u128::from(status.sizes.size(reducer));
            if size > 0 {
                *bytes.entry((status.executor, &status.host)).or_default() += size;
                total += size;
            }
        }
        bytes
            .into_iter()
            .filter(|&(_, held)| held * 100 >= total * u128::from(percent))
            .map(|((executor, host), _)| OutputLocation { executor, host: host.clone() })
            .collect()
    }

    /// The hosts where `reducer` would rather run: those of the executors that hold a fifth of its input or more.
    ///
    /// None for large shuffles, where the search costs more than it gains, and when reduce locality is off.
    pub fn preferred_hosts(&self, shuffle: ShuffleId, reducer: u32) -> Vec<Host> {
        let is_small = self.outputs(shuffle).is_some_and(|outputs| {
            outputs.maps() < PREFERRED_MAPS_BELOW && outputs.reducers < PREFERRED_REDUCERS_BELOW
        });
        if !self.config.reduce_locality || !is_small {
            return Vec::new();
        }
        let places = self.largest_outputs(shuffle, reducer, PREFERRED_PERCENT);
        distinct(places.into_iter().map(|place| place.host))
    }

    /// The hosts of the outputs of the maps in `maps`. None if the range is empty or ends beyond the maps, or
    /// when reduce locality is off.
    pub fn map_range_hosts(&self, shuffle: ShuffleId, maps: Range<u32>) -> Vec<Host> {
        let Some(outputs) = self.outputs(shuffle) else { return Vec::new() };
        if !self.config.reduce_locality || maps.is_empty() || maps.end > outputs.maps() {
            return Vec::new();
        }
        let range = outputs.outputs().skip(maps.start as usize).take(maps.len());
        distinct(range.flatten().map(|status| status.host.clone()))
    }
}

/// `hosts` without repetition, in the order of their first appearance.
fn distinct(hosts: impl Iterator<Item = Host>) -> Vec<Host> {
    hosts.collect::<IndexSet<Host, FxBuildHasher>>().into_iter().collect()
}

/// The numbers below `end` in `parts` ranges, the longer ones first.
fn equal_ranges(end: u32, parts: u32) -> Vec<Range<u32>> {
    let mut start = 0;
    (0..parts)
        .map(|part| {
            let len = end / parts + u32::from(part < end % parts);
            start += len;
            start - len..start
        })
        .collect()
}
