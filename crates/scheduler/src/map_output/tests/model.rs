//! The tracker against a model that has no index, over random operations.

use firesteel_types::{AttemptId, Host, PartitionId};
use proptest::prelude::*;

use super::harness::*;
use crate::map_output::{MapTable, Registered, Relocated, ServedTable, decode_table};

const SHUFFLES: u32 = 2;
const MAPS: u32 = 5;
const REDUCERS: u32 = 3;

#[derive(Clone, Copy, Debug)]
enum Step {
    Register { shuffle: u32, map: u32, executor: u32, host: u32, sizes: [u64; 3], checksum: Option<u64> },
    Unregister { shuffle: u32, map: u32, executor: u32 },
    UnregisterAll { shuffle: u32 },
    RemoveExecutor { executor: u32 },
    RemoveHost { host: u32 },
    Relocate { shuffle: u32, attempt: u64, executor: u32, host: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    let (shuffle, map) = (0..SHUFFLES, 0..MAPS);
    // The host is independent of the executor: the tracker takes what it is told.
    let (executor, host) = (0..4_u32, 0..3_u32);
    let sizes = prop::array::uniform3(0..50_u64);
    let checksum = prop::option::of(0..2_u64);
    prop_oneof![
        12 => (shuffle.clone(), map.clone(), executor.clone(), host.clone(), sizes, checksum).prop_map(
            |(shuffle, map, executor, host, sizes, checksum)| {
                Step::Register { shuffle, map, executor, host, sizes, checksum }
            }
        ),
        2 => (shuffle.clone(), map, executor.clone())
            .prop_map(|(shuffle, map, executor)| Step::Unregister { shuffle, map, executor }),
        1 => shuffle.clone().prop_map(|shuffle| Step::UnregisterAll { shuffle }),
        2 => executor.clone().prop_map(|executor| Step::RemoveExecutor { executor }),
        1 => host.clone().prop_map(|host| Step::RemoveHost { host }),
        4 => (shuffle, 0..40_u64, executor, host).prop_map(|(shuffle, attempt, executor, host)| {
            Step::Relocate { shuffle, attempt, executor, host }
        }),
    ]
}

fn host(number: u32) -> Host {
    format!("host-{number}").into()
}

/// Each output, last seen output and the epoch; everything else is found by looking at all of them.
#[derive(Default)]
struct Model {
    outputs: [[Option<MapStatus>; MAPS as usize]; SHUFFLES as usize],
    lost: [[Option<MapStatus>; MAPS as usize]; SHUFFLES as usize],
    /// Lost outputs that a copy does not bring back.
    discarded: [[bool; MAPS as usize]; SHUFFLES as usize],
    epoch: u64,
}

impl Model {
    fn remove(&mut self, which: impl Fn(u32, u32, &MapStatus) -> bool) -> Vec<(ShuffleId, PartitionId)> {
        let mut removed = Vec::new();
        for shuffle in 0..SHUFFLES {
            for map in 0..MAPS {
                let output = &mut self.outputs[shuffle as usize][map as usize];
                if output.as_ref().is_some_and(|status| which(shuffle, map, status)) {
                    self.lost[shuffle as usize][map as usize] = output.take();
                    removed.push((ShuffleId(shuffle), PartitionId(map)));
                }
            }
        }
        self.epoch += 1;
        removed
    }

    fn register(&mut self, shuffle: u32, map: u32, status: MapStatus) -> Registered {
        self.discarded[shuffle as usize][map as usize] = false;
        let output = &mut self.outputs[shuffle as usize][map as usize];
        let removed = self.lost[shuffle as usize][map as usize].take();
        let replaced = output.is_some();
        let last = output.take().or(removed);
        let checksum_changed = match (last.and_then(|last| last.checksum), status.checksum) {
            (Some(before), Some(now)) => before != now,
            _ => false,
        };
        *output = Some(status);
        Registered { replaced, checksum_changed }
    }

    fn relocate(&mut self, shuffle: u32, attempt: AttemptId, executor: ExecutorId, host: &Host) -> Relocated {
        for map in 0..MAPS {
            let output = &mut self.outputs[shuffle as usize][map as usize];
            let lost = &mut self.lost[shuffle as usize][map as usize];
            if self.discarded[shuffle as usize][map as usize] {
                continue;
            }
            let (found, relocated) = match (&output, &lost) {
                (Some(status), _) => (status.clone(), Relocated::Moved { map: PartitionId(map) }),
                (None, Some(status)) => (status.clone(), Relocated::Restored { map: PartitionId(map) }),
                (None, None) => continue,
            };
            if found.attempt == attempt {
                *output = Some(MapStatus { executor, host: host.clone(), ..found });
                *lost = None;
                return relocated;
            }
        }
        Relocated::Untracked
    }

    fn statistics(&self, shuffle: u32) -> Vec<u64> {
        let present = self.outputs[shuffle as usize].iter().flatten();
        (0..REDUCERS).map(|reducer| present.clone().map(|status| status.sizes.size(reducer)).sum()).collect()
    }

    fn missing(&self, shuffle: u32) -> Vec<PartitionId> {
        let outputs = (0..).map(PartitionId).zip(&self.outputs[shuffle as usize]);
        outputs.filter(|(_, output)| output.is_none()).map(|(map, _)| map).collect()
    }

    fn outputs_on(&self, executor: ExecutorId) -> usize {
        self.outputs.iter().flatten().flatten().filter(|status| status.executor == executor).count()
    }
}

/// Does `step` to both and compares what they answer. The number of the step is its attempt.
fn apply(tracker: &mut MapOutputTracker, model: &mut Model, number: u64, step: Step) {
    match step {
        Step::Register { shuffle, map, executor, host: at, sizes, checksum } => {
            let output =
                MapStatus { host: host(at), checksum, ..status(ExecutorId(executor), number, &sizes) };
            let registered = tracker.register_output(ShuffleId(shuffle), PartitionId(map), output.clone());
            assert_eq!(registered, Ok(model.register(shuffle, map, output)));
        }
        Step::Unregister { shuffle, map, executor } => {
            let executor = ExecutorId(executor);
            let removed = tracker.unregister_output(ShuffleId(shuffle), PartitionId(map), executor);
            let expected = model.remove(|s, m, status| (s, m, status.executor) == (shuffle, map, executor));
            assert_eq!(removed, Ok(!expected.is_empty()));
        }
        Step::UnregisterAll { shuffle } => {
            let removed = tracker.unregister_all_outputs(ShuffleId(shuffle));
            let expected = model.remove(|s, _, _| s == shuffle).into_iter().map(|(_, map)| map).collect();
            assert_eq!(removed, Ok(expected));
            model.discarded[shuffle as usize] = [true; MAPS as usize];
        }
        Step::RemoveExecutor { executor } => {
            let executor = ExecutorId(executor);
            let expected = model.remove(|_, _, status| status.executor == executor);
            assert_eq!(tracker.remove_executor(executor), expected);
            assert_eq!(tracker.outputs_on(executor), 0);
        }
        Step::RemoveHost { host: at } => {
            let expected = model.remove(|_, _, status| status.host == host(at));
            assert_eq!(tracker.remove_host(&host(at)), expected);
        }
        Step::Relocate { shuffle, attempt, executor, host: to } => {
            let (attempt, executor, to) = (AttemptId(attempt), ExecutorId(executor), host(to));
            let relocated = tracker.relocate(ShuffleId(shuffle), attempt, executor, to.clone());
            assert_eq!(relocated, model.relocate(shuffle, attempt, executor, &to));
        }
    }
}

fn compare(tracker: &MapOutputTracker, model: &Model) {
    tracker.check_invariants();
    assert_eq!(tracker.epoch(), model.epoch);
    for executor in (0..4).map(ExecutorId) {
        assert_eq!(tracker.outputs_on(executor), model.outputs_on(executor));
    }
    for shuffle in 0..SHUFFLES {
        let id = ShuffleId(shuffle);
        let outputs: Vec<_> = (0..MAPS).map(|map| tracker.output(id, PartitionId(map)).cloned()).collect();
        assert_eq!(outputs, model.outputs[shuffle as usize]);
        let missing = model.missing(shuffle);
        assert_eq!(tracker.available(id) as usize, MAPS as usize - missing.len());
        assert_eq!(tracker.is_complete(id), missing.is_empty());
        assert_eq!(tracker.reducer_input(id, 0..REDUCERS).is_ok(), missing.is_empty());
        assert_eq!(tracker.missing(id), missing);
        assert_eq!(tracker.statistics(id), Some(model.statistics(shuffle)));
    }
}

proptest! {
    /// Behaviours: MOT-002, MOT-003, MOT-004, MOT-011, MOT-012, DAG-052.
    #[test]
    fn the_tracker_answers_like_a_model_without_indexes(steps in prop::collection::vec(step(), 1..40)) {
        let mut tracker = MapOutputTracker::new(MapOutputConfig::default()).unwrap();
        for shuffle in 0..SHUFFLES {
            tracker.register_shuffle(ShuffleId(shuffle), MAPS, REDUCERS).unwrap();
        }
        let mut model = Model::default();

        for (number, step) in (0..).zip(steps) {
            apply(&mut tracker, &mut model, number, step);
            compare(&tracker, &model);
        }
    }

    /// Behaviours: MOT-008.
    #[test]
    fn a_served_table_lists_only_outputs_that_were_not_lost(steps in prop::collection::vec(step(), 1..40)) {
        let mut tracker = MapOutputTracker::new(MapOutputConfig::default()).unwrap();
        for shuffle in 0..SHUFFLES {
            tracker.register_shuffle(ShuffleId(shuffle), MAPS, REDUCERS).unwrap();
        }
        let mut model = Model::default();
        let mut readable = Vec::new();

        for (number, step) in (0..).zip(steps) {
            apply(&mut tracker, &mut model, number, step);
            follow_readable(&mut readable, &model, step);
            for shuffle in 0..SHUFFLES {
                let table = served(&mut tracker, ShuffleId(shuffle));
                for (map, (entry, output)) in (0..).zip(table.iter().zip(&model.outputs[shuffle as usize])) {
                    prop_assert_eq!(entry.is_some(), output.is_some());
                    if let Some(entry) = entry {
                        prop_assert!(readable.contains(&(shuffle, map, entry.clone())), "{:?} is lost", entry);
                    }
                }
            }
        }
    }
}

/// Keeps `readable` the list of outputs that exist somewhere: those on record, and those that were replaced on
/// record but not lost since.
fn follow_readable(readable: &mut Vec<(u32, u32, MapStatus)>, model: &Model, step: Step) {
    readable.retain(|(in_shuffle, of_map, output)| match step {
        Step::Register { .. } => true,
        Step::Unregister { shuffle, map, executor } => {
            (*in_shuffle, *of_map, output.executor) != (shuffle, map, ExecutorId(executor))
        }
        Step::UnregisterAll { shuffle } => *in_shuffle != shuffle,
        Step::RemoveExecutor { executor } => output.executor != ExecutorId(executor),
        Step::RemoveHost { host: lost } => output.host != host(lost),
        // A copy of an output that is on record is found there; any other copy changes nothing.
        Step::Relocate { shuffle, attempt, .. } => {
            let mut on_record = model.outputs[shuffle as usize].iter().flatten();
            *in_shuffle != shuffle
                || output.attempt.0 != attempt
                || !on_record.any(|other| other.attempt.0 == attempt)
        }
    });
    for (shuffle, outputs) in (0..).zip(&model.outputs) {
        for (map, output) in (0..).zip(outputs) {
            readable.extend(output.clone().map(|output| (shuffle, map, output)));
        }
    }
}

fn served(tracker: &mut MapOutputTracker, shuffle: ShuffleId) -> MapTable {
    match tracker.table(shuffle).unwrap() {
        ServedTable::Inline { bytes } => decode_table(&bytes).unwrap(),
        ServedTable::NewBroadcast { .. } | ServedTable::Broadcast { .. } => panic!("the table is small"),
    }
}
