//! Combining before a shuffle that spills at random points, against a plain map.

use std::{collections::BTreeMap, fmt::Debug};

use firesteel_types::Rng;

use super::*;
use crate::{HashPartitioner, prelude::*, spill::Borrowed, task::with_random_spills};

const CASES: u64 = 120;
const ROWS_MAX: usize = 2_000;
const PARTITIONS: u32 = 5;

/// Composes functions `31 x + value`: the order of the values counts, and how they are bracketed does not.
#[derive(Clone)]
struct Compose;

crate::ship!(impl[] Compose {});

impl Combiner<u64> for Compose {
    type Combined = (u64, u64);

    fn create(&self, value: u64) -> (u64, u64) {
        (31, value)
    }

    fn add(&self, combined: (u64, u64), value: u64) -> (u64, u64) {
        self.merge(combined, self.create(value))
    }

    fn merge(&self, (a, b): (u64, u64), (c, d): (u64, u64)) -> (u64, u64) {
        (a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d))
    }
}

/// Lists of values that own memory, as the lists do.
#[derive(Clone)]
struct Lists;

crate::ship!(impl[] Lists {});

impl Combiner<String> for Lists {
    type Combined = Vec<String>;

    fn create(&self, value: String) -> Vec<String> {
        vec![value]
    }

    fn add(&self, mut combined: Vec<String>, value: String) -> Vec<String> {
        combined.push(value);
        combined
    }

    fn merge(&self, one: Vec<String>, two: Vec<String>) -> Vec<String> {
        [one, two].concat()
    }
}

/// How rows come in.
#[derive(Clone, Copy, Debug)]
enum Brought {
    Owned,
    Borrowed,
}

/// Random pairs, whose values are numbered in their order. The seed tells how many keys there are.
fn random_pairs<K, V>(seed: u64, key: impl Fn(u64) -> K, value: impl Fn(u64) -> V) -> Vec<(K, V)> {
    let mut rng = Rng::new(seed);
    let (rows, keys) = (rng.below(ROWS_MAX) as u64, 1 + rng.below([1, 20, 2_000][(seed % 3) as usize]));
    (0..rows).map(|place| (key(rng.below(keys) as u64), value(place))).collect()
}

/// What is wrong with the buckets of a map task that spills at random points.
fn combine<K, V, A>(seed: u64, pairs: &[(K, V)], combiner: &A, brought: Brought) -> Option<String>
where
    K: Data + Hash + Ord + Debug,
    V: Data,
    A: Combiner<V, Combined: PartialEq + Debug>,
{
    let task = TaskContext::current().expect("it runs in a task");
    let partitioner = KeyPartitioner::<K>::from(HashPartitioner::new(PARTITIONS));
    let (dealt, records) = with_random_spills(seed, 2 << (seed % 7), || {
        let deal = |row: (K, A::Combined)| (partitioner.partition_inline(&row.0), row);
        let mut combining = Combining::new(combiner, Buckets::new(PARTITIONS, &task), deal, &task);
        match brought {
            Brought::Owned => pairs.iter().cloned().for_each(|(key, value)| combining.bring(key, value)),
            Brought::Borrowed => pairs.chunks(1 + seed as usize % 100).for_each(|pairs| {
                let mut rows: Vec<_> =
                    pairs.iter().map(|(key, value)| (Borrowed(key), value.clone())).collect();
                combining.bring_borrowed(&mut rows);
            }),
        }
        combining.finish().finish()
    });

    let (mut found, mut rows) = (BTreeMap::new(), 0);
    for partition in 0..PARTITIONS {
        let spilled = dealt.spills.iter().filter_map(|spill| spill.block(partition));
        let spilled = spilled.flat_map(|block| block.rows().map(|row| row.expect("it was just written")));
        for (key, part) in spilled.chain(dealt.rows.rows(partition).iter().cloned()) {
            if partitioner.partition_inline(&key) != partition {
                return Some(format!("{key:?} is in {partition}"));
            }
            let merged = match found.remove(&key) {
                Some(before) => combiner.merge(before, part),
                None => part,
            };
            found.insert(key, merged);
            rows += 1;
        }
    }
    let mut expected = BTreeMap::new();
    for (key, value) in pairs.iter().cloned() {
        let state = match expected.remove(&key) {
            Some(before) => combiner.add(before, value),
            None => combiner.create(value),
        };
        expected.insert(key, state);
    }
    if rows != records {
        return Some(format!("{rows} rows came, {records} were counted"));
    }
    let differ = expected.iter().find(|&(key, state)| found.get(key) != Some(state));
    let differ = differ.map(|(key, _)| format!("{key:?} has another value"));
    differ.or_else(|| (found.len() > expected.len()).then(|| "there are more keys".to_owned()))
}

/// Runs `case` in tasks, once for each seed and way to bring rows in, and collects what was wrong.
fn assert_right(case: impl Fn(u64, Brought) -> Option<String> + Copy + Send + Sync + 'static) {
    let ctx = Context::local(2).unwrap();
    let wrong = ctx.range_into(0..CASES, 8).flat_map(move |seed| {
        let cases = [Brought::Owned, Brought::Borrowed].into_iter();
        cases
            .filter_map(move |brought| case(seed, brought).map(|what| (seed, format!("{brought:?}: {what}"))))
    });
    assert_eq!(wrong.collect().unwrap(), []);
}

#[test]
fn plain_rows_are_combined_in_order_wherever_the_map_side_spills() {
    assert_right(|seed, brought| combine(seed, &random_pairs(seed, |key| key, |x| x), &Compose, brought));
}

#[test]
fn rows_whose_keys_own_memory_are_combined_in_order_wherever_the_map_side_spills() {
    assert_right(|seed, brought| {
        combine(seed, &random_pairs(seed, |key| key.to_string(), |x| x), &Compose, brought)
    });
}

#[test]
fn rows_whose_values_own_memory_are_combined_in_order_wherever_the_map_side_spills() {
    assert_right(|seed, brought| {
        combine(seed, &random_pairs(seed, |key| key.to_string(), |x| x.to_string()), &Lists, brought)
    });
}
