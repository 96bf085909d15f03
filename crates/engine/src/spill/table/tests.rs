//! Tables that spill at random points, and at chosen ones, against a plain map.

use std::{collections::BTreeMap, fmt::Debug, marker::PhantomData};

use firesteel_types::Rng;
use serde::{Deserialize, Serialize};

use super::*;
use crate::{
    pair::{ByKey, Filling},
    prelude::*,
    task::with_random_spills,
};

/// Cases of each kind.
const CASES: u64 = 120;
/// Rows of a case at most.
const ROWS_MAX: usize = 3_000;

/// Keys that a table can tell apart, and no hash can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Alike(u32);

impl Hash for Alike {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl From<u32> for Alike {
    fn from(key: u32) -> Self {
        Self(key)
    }
}

/// Random pairs, whose values are numbered in their order. The seed tells how the keys are spread.
fn random_pairs<K: From<u32>>(seed: u64, keys_max: usize) -> Vec<(K, u64)> {
    let mut rng = Rng::new(seed);
    let rows = rng.below(ROWS_MAX);
    let keys = 1 + rng.below(keys_max);
    let key_at = |place: usize| {
        let is_heavy = match seed % 6 {
            0 => false,
            1 => place < rows / 2,
            2 => place > rows / 2,
            3 => rng.below(10) > 0,
            4 => true,
            // Several heavy keys, one after the other.
            _ => return (place * 5 / rows) as u32,
        };
        if is_heavy { 0 } else { rng.below(keys) as u32 }
    };
    (0..rows).map(key_at).map(K::from).zip(0..).collect()
}

/// How rows differ from what the pairs are in a plain map: a key comes twice, is missing or has another state.
fn compare<K: Data + Ord + Debug, S: PartialEq + Debug>(
    pairs: &[(K, u64)],
    rows: impl Iterator<Item = (K, S)>,
    expected: impl Fn(Vec<u64>) -> S,
) -> Option<String> {
    let mut model = BTreeMap::<K, Vec<u64>>::new();
    for (key, value) in pairs {
        model.entry(key.clone()).or_default().push(*value);
    }
    for (key, state) in rows {
        let Some(values) = model.remove(&key) else { return Some(format!("{key:?} came twice")) };
        let expected = expected(values);
        if state != expected {
            let [found, expected] = [format!("{state:?}"), format!("{expected:?}")].map(|text| start(&text));
            return Some(format!("{key:?} has {found}, expected {expected}"));
        }
    }
    model.keys().next().map(|key| format!("{key:?} is missing"))
}

fn start(text: &str) -> String {
    text.chars().take(60).collect()
}

/// Groups of values, which know how to be relieved.
fn group<K: Data + Hash + Eq + Ord + Debug + From<u32>>(seed: u64, keys: usize) -> Option<String> {
    let task = TaskContext::current().expect("it runs in a task");
    let pairs = random_pairs::<K>(seed, keys);
    let one_in = 2 << (seed % 7);
    with_random_spills(seed, one_in, || {
        let mut table = SpillTable::new(ByKey { task: &task, values: PhantomData }, 0, "test", &task);
        for (key, value) in &pairs {
            table.bring_borrowed(key, *value, Filling::of, Filling::with);
        }
        let groups = table.into_rows().map(|(key, group)| (key, group.finish().into_vec()));
        compare(&pairs, groups, |values| values)
    })
}

/// States that are merged, and know no other place than the table. Merging is not commutative.
#[derive(Clone, Copy)]
struct Digest;

impl Digest {
    fn of(value: u64) -> (u64, u64) {
        (31, value)
    }
}

impl Fold for Digest {
    type Row = (u64, u64);
    type State = (u64, u64);

    fn start(&self, row: (u64, u64)) -> (u64, u64) {
        row
    }

    fn add(&self, (a, b): (u64, u64), (c, d): (u64, u64)) -> (u64, u64) {
        (a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d))
    }

    fn unload(&self, state: (u64, u64), mut each: impl FnMut((u64, u64))) {
        each(state);
    }
}

fn merge<K: Data + Hash + Eq + Ord + Debug + From<u32>>(seed: u64, keys: usize) -> Option<String> {
    let task = TaskContext::current().expect("it runs in a task");
    let pairs = random_pairs::<K>(seed, keys);
    with_random_spills(seed, 2 << (seed % 7), || {
        let mut table = SpillTable::new(Digest, 0, "test", &task);
        let add = |state, value| Digest.add(state, Digest::of(value));
        for (key, value) in &pairs {
            table.bring(key.clone(), *value, Digest::of, add);
        }
        let digest = |values: Vec<u64>| {
            let digests = values.into_iter().map(Digest::of);
            digests.reduce(|one, two| Digest.add(one, two)).expect("a key has a value")
        };
        compare(&pairs, table.into_rows(), digest)
    })
}

/// Runs `case` in tasks, once for each seed, and collects what was wrong.
fn assert_right(case: impl Fn(u64) -> Option<String> + Copy + Send + Sync + 'static) {
    let ctx = Context::local(2).unwrap();
    let wrong = ctx.range_into(0..CASES, 8).flat_map(move |seed| case(seed).map(|what| (seed, what)));
    assert_eq!(wrong.collect().unwrap(), []);
}

#[test]
fn a_key_is_grouped_once_and_in_order_wherever_the_table_spills() {
    assert_right(|seed| group::<u32>(seed, 1_000));
}

#[test]
fn keys_that_no_hash_tells_apart_are_grouped_too() {
    assert_right(|seed| group::<Alike>(seed, 30));
}

#[test]
fn a_key_is_merged_once_and_in_order_wherever_the_table_spills() {
    assert_right(|seed| merge::<u32>(seed, 1_000));
    assert_right(|seed| merge::<Alike>(seed, 30));
}

/// Runs `test` in a task with a table of groups at a level.
fn with_groups(
    level: u32,
    test: impl Fn(SpillTable<'_, u32, ByKey<'_, u64>>) -> Vec<(u32, Vec<u64>)> + Copy + Send + Sync + 'static,
) -> BTreeMap<u32, Vec<u64>> {
    let ctx = Context::local(2).unwrap();
    let groups = ctx.range_into(level..level + 1, 1).flat_map(move |level| {
        let task = TaskContext::current().expect("it runs in a task");
        test(SpillTable::at_level(ByKey { task: &task, values: PhantomData }, 0, level, "test", &task))
    });
    let groups = groups.collect().unwrap();
    let by_key: BTreeMap<_, _> = groups.iter().cloned().collect();
    assert_eq!(by_key.len(), groups.len(), "no key comes twice");
    by_key
}

impl SpillTable<'_, u32, ByKey<'_, u64>> {
    /// Brings values of one key in.
    fn fill(&mut self, key: u32, values: std::ops::Range<u64>) {
        values.for_each(|value| self.bring(key, value, Filling::of, Filling::with));
    }

    /// How many states have a place of their own, and how many values are in memory.
    fn relieved_and_held(&mut self) -> (usize, usize) {
        let Self { table, fold, .. } = self;
        let states: Vec<_> = table.table().iter().map(|(_, state)| state).collect();
        let relieved = states.iter().filter(|state| fold.is_relieved(state)).count();
        (relieved, states.iter().map(|state| fold.weight(state)).sum())
    }

    fn groups(self) -> Vec<(u32, Vec<u64>)> {
        self.into_rows().map(|(key, group)| (key, group.finish().into_vec())).collect()
    }
}

#[test]
fn a_key_that_becomes_heavy_after_a_split_is_not_relieved_beside_its_file() {
    let groups = with_groups(0, |mut table| {
        (0..10).for_each(|key| table.fill(key, 0..1));
        table.spill();
        table.fill(0, 1..50);
        table.spill();
        assert_eq!(table.relieved_and_held(), (0, 0));
        table.fill(0, 50..60);
        table.groups()
    });

    assert_eq!(groups.len(), 10);
    assert!(groups[&0].iter().copied().eq(0..60));
}

#[test]
fn a_relieved_key_holds_nothing_after_a_split_and_is_not_in_the_files() {
    let groups = with_groups(0, |mut table| {
        table.fill(0, 0..50);
        table.spill();
        assert_eq!(table.relieved_and_held(), (1, 0));
        (0..10).for_each(|key| table.fill(key, 50..55));
        table.spill();
        assert_eq!(table.relieved_and_held(), (1, 0), "the others were split");
        table.fill(0, 55..70);
        table.spill();
        assert_eq!(table.relieved_and_held(), (1, 0), "relieved once more, with files beside it");
        table.fill(0, 70..75);
        table.groups()
    });

    assert_eq!(groups.len(), 10);
    assert!(groups[&0].iter().copied().eq(0..75) && groups[&9].iter().copied().eq(50..55));
}

#[test]
fn a_table_that_is_read_spills_what_is_left_and_keeps_what_was_relieved() {
    let groups = with_groups(0, |mut table| {
        table.fill(0, 0..50);
        table.spill();
        (0..20).for_each(|key| table.fill(key, 50..52));
        let mut rows = table.into_rows();
        let mut groups: Vec<_> = rows.by_ref().take(5).collect();
        rows.spill();
        groups.extend(rows.by_ref().take(5));
        rows.spill();
        groups.extend(rows);
        groups.into_iter().map(|(key, group)| (key, group.finish().into_vec())).collect()
    });

    assert_eq!(groups.len(), 20);
    assert!(groups[&0].iter().copied().eq(0..52) && groups[&19].iter().copied().eq(50..52));
}

#[test]
fn where_no_split_helps_the_heaviest_key_is_relieved() {
    const LAST_LEVEL: u32 = 16;
    let groups = with_groups(LAST_LEVEL, |mut table| {
        (0..4).for_each(|key| table.fill(key, 0..20));
        (1..=4).for_each(|relieved| {
            table.spill();
            assert_eq!(table.relieved_and_held(), (relieved, 80 - 20 * relieved));
        });
        table.spill();
        (0..4).for_each(|key| table.fill(key, 20..25));
        table.groups()
    });

    assert_eq!(groups.len(), 4);
    assert!(groups.values().all(|values| values.iter().copied().eq(0..25)));
}

#[test]
fn a_table_relieves_few_keys_and_splits_then() {
    let groups = with_groups(0, |mut table| {
        for key in 0..20 {
            table.fill(key, 0..50);
            table.spill();
        }
        assert_eq!(table.relieved_and_held(), (RELIEVED_MAX, 0));
        (0..20).for_each(|key| table.fill(key, 50..60));
        table.groups()
    });

    assert_eq!(groups.len(), 20);
    assert!(groups.values().all(|values| values.iter().copied().eq(0..60)));
}
