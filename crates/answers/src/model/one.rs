//! What operators over one RDD make of its rows.

use std::collections::{BTreeMap, BTreeSet};

use super::{Known, Model};
use crate::{
    case::Op,
    functions::{digest, is_marked, paired, reduced, rekeyed, salted, several},
    kind::Bits,
    shape::Code,
};

/// Whether the answer of an operator over `input` is determined.
pub(crate) fn fits(op: &Op, input: &Model) -> bool {
    let in_order = input.is_steady && matches!(input.known, Known::Places | Known::Order);
    match op {
        Op::MapWhile { .. } | Op::Scan { .. } | Op::Prune { .. } | Op::ZipWithUniqueId => {
            input.is_steady && input.known == Known::Places
        }
        Op::ZipWithIndex | Op::ZipSelf | Op::ZipPartitionsSelf | Op::RandomSplits { .. } => in_order,
        _ => true,
    }
}

/// The rows behind an operator.
pub(crate) fn after(op: &Op, input: &Model, bits: Bits) -> Model {
    if let Some(narrow) = narrow(op, input, bits) {
        return narrow;
    }
    let groups = groups(input);
    let by_key = |value: &dyn Fn(&[u64]) -> u64| {
        let row = |(key, values): (&u64, &Vec<u64>)| bits.clip((*key, value(values)));
        // Each key is there once, so the order of its rows is known.
        input.behind_shuffle(Known::PerKey, groups.iter().map(row).collect())
    };
    let sum = |values: &[u64]| values.iter().copied().fold(0, reduced);
    let is_ordered = input.known.orders_values();
    let rows: Vec<Code> = input.rows().collect();
    match op {
        Op::PartitionBy { .. } => input.behind_shuffle(input.known.shuffled(), rows),
        Op::ReduceByKey { .. } | Op::FoldByKey { .. } | Op::MapReduce { .. } => by_key(&sum),
        Op::AggregateByKey { .. } | Op::CombineByKey { .. } => {
            by_key(&|values| paired(sum(values), values.len() as u64))
        }
        Op::GroupByKey { .. } | Op::GroupBy { .. } => {
            by_key(&|values| digest(is_ordered, values.iter().copied()))
        }
        Op::Distinct { .. } => {
            let rows: BTreeSet<Code> = rows.into_iter().collect();
            input.behind_shuffle(Known::Rows, rows.into_iter().collect())
        }
        Op::SortByKey { descending, .. } => sorted(input, rows, *descending, |row| (row.0, 0)),
        Op::SortByRow { descending, .. } => sorted(input, rows, *descending, |row| row),
        Op::FilterByRange { from, to, .. } => {
            let range = (from & bits.key)..=(to & bits.key);
            let rows = rows.into_iter().filter(|row| range.contains(&row.0)).collect();
            sorted(input, rows, false, |row| (row.0, 0))
        }
        // Repartition, SortWithinPartitions, Coalesce, RandomSplits: the same rows, somewhere.
        _ => input.behind_shuffle(Known::Rows, rows),
    }
}

fn sorted(input: &Model, mut rows: Vec<Code>, is_descending: bool, by: fn(Code) -> Code) -> Model {
    rows.sort_by_key(|row| by(*row));
    if is_descending {
        rows.reverse();
    }
    let known = if by((1, 1)) == (1, 1) { Known::Order } else { Known::KeysInOrder { is_descending } };
    input.behind_shuffle(known, rows)
}

/// Operators that leave rows in their partitions.
fn narrow(op: &Op, input: &Model, bits: Bits) -> Option<Model> {
    let known = input.known;
    let each = |known: Known, of: &dyn Fn(Code) -> Vec<Code>| {
        let row = |row: &Code| of(*row).into_iter().map(|row| bits.clip(row)).collect::<Vec<_>>();
        input.each_partition(known, |rows| rows.iter().flat_map(row).collect())
    };
    let other_keys = known.with_other_keys();
    Some(match op {
        Op::Map { keys, salt } => each(other_keys, &|row| vec![rekeyed(row, *keys, *salt)]),
        Op::Swap => each(other_keys, &|(key, value)| vec![(value, key)]),
        Op::Filter { modulus } => {
            each(known, &|row| if is_marked(row, *modulus) { vec![] } else { vec![row] })
        }
        Op::FlatMap { most } | Op::FlatMapValues { most } => {
            each(known, &|(key, value)| several(value, *most).map(|value| (key, value)).collect())
        }
        Op::MapValues { salt } => each(known, &|(key, value)| vec![(key, salted(value, *salt))]),
        Op::ZipSelf | Op::ZipPartitionsSelf => {
            each(known, &|(key, value)| vec![(key, paired(value, salted(value, 1) & bits.value))])
        }
        Op::MapWhile { modulus } => input.each_partition(known, |rows| {
            rows.iter().copied().take_while(|row| !is_marked(*row, *modulus)).collect()
        }),
        Op::Scan { most } => {
            input.each_partition(known, |rows| rows.iter().copied().take(*most as usize).collect())
        }
        Op::Prune { modulus } => {
            let kept = |partition: usize| !partition.is_multiple_of(*modulus as usize);
            let partitions = input.partitions.iter().enumerate().filter(|(partition, _)| kept(*partition));
            Model { partitions: partitions.map(|(_, rows)| rows.clone()).collect(), ..input.clone() }
        }
        Op::ZipWithIndex => numbered(input, bits, |_, _, before| before),
        Op::ZipWithUniqueId => {
            let partitions = input.partitions.len() as u64;
            numbered(input, bits, move |partition, place, _| place * partitions + partition)
        }
        Op::Boxed { depth } => each(known, &|(key, value)| vec![(key, value.wrapping_add(u64::from(*depth)))]),
        Op::MapPartitions
        | Op::Glom
        | Op::SampleAll { .. }
        | Op::SampleByKeyAll { .. }
        | Op::SparseEnvironment
        | Op::Fault(_) => input.clone(),
        Op::Persist { .. } | Op::Checkpoint | Op::LocalCheckpoint => {
            Model { streams: false, ..input.clone() }
        }
        _ => return None,
    })
}

/// Values become numbers made of the partition, the place in it, and the rows before.
fn numbered(input: &Model, bits: Bits, number: impl Fn(u64, u64, u64) -> u64) -> Model {
    let mut before = 0;
    let mut of_partition = |(partition, rows): (u64, &Vec<Code>)| {
        let row = |(place, (key, value)): (u64, &Code)| {
            bits.clip((*key, paired(*value, number(partition, place, before + place))))
        };
        let numbered: Vec<Code> = (0..).zip(rows).map(row).collect();
        before += rows.len() as u64;
        numbered
    };
    let partitions = (0..).zip(&input.partitions).map(&mut of_partition).collect();
    Model { partitions, ..input.clone() }
}

/// The values of each key, in the order in which they are known.
pub(super) fn groups(model: &Model) -> BTreeMap<u64, Vec<u64>> {
    let mut groups = BTreeMap::<u64, Vec<u64>>::new();
    model.rows().for_each(|(key, value)| groups.entry(key).or_default().push(value));
    groups
}
