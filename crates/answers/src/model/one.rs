//! What operators over one RDD make of its rows.

use std::collections::{BTreeMap, BTreeSet};

use super::{Known, Model};
use crate::{
    case::{Keep, Narrow, Op, RowByRow, Shuffle},
    functions::{digest, is_marked, paired, reduced, rekeyed, salted, several},
    kind::Bits,
    shape::Code,
};

/// Whether the answer of an operator over `input` is determined.
pub(crate) fn fits(op: &Op, input: &Model) -> bool {
    let Op::Narrow(op) = op else { return true };
    let in_order = input.is_steady && matches!(input.known, Known::Places | Known::Order);
    match op {
        Narrow::MapWhile { .. } | Narrow::Scan { .. } | Narrow::Prune { .. } | Narrow::ZipWithUniqueId => {
            input.is_steady && input.known == Known::Places
        }
        Narrow::ZipWithIndex | Narrow::ZipSelf | Narrow::ZipPartitionsSelf | Narrow::RandomSplits { .. } => {
            in_order
        }
        Narrow::Rows(_)
        | Narrow::MapPartitions
        | Narrow::Glom
        | Narrow::UnionSelf
        | Narrow::SampleAll { .. }
        | Narrow::SampleByKeyAll { .. }
        | Narrow::SparseEnvironment
        | Narrow::Coalesce { .. } => true,
    }
}

/// The rows behind an operator.
pub(crate) fn after(op: &Op, input: &Model, bits: Bits) -> Model {
    match op {
        Op::Narrow(op) => narrow(*op, input, bits),
        Op::Shuffle { op, .. } => shuffled(*op, input, bits),
        Op::Keep(Keep::Persist { .. } | Keep::Checkpoint | Keep::LocalCheckpoint) => {
            Model { streams: false, ..input.clone() }
        }
        Op::Fault(_) => input.clone(),
    }
}

fn shuffled(op: Shuffle, input: &Model, bits: Bits) -> Model {
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
        Shuffle::PartitionBy => input.behind_shuffle(input.known.shuffled(), rows),
        Shuffle::ReduceByKey | Shuffle::FoldByKey | Shuffle::MapReduce => by_key(&sum),
        Shuffle::AggregateByKey | Shuffle::CombineByKey => {
            by_key(&|values| paired(sum(values) & bits.value, values.len() as u64))
        }
        Shuffle::GroupByKey { .. } | Shuffle::GroupBy => {
            by_key(&|values| digest(is_ordered, values.iter().copied()))
        }
        Shuffle::Distinct => {
            let rows: BTreeSet<Code> = rows.into_iter().collect();
            input.behind_shuffle(Known::Rows, rows.into_iter().collect())
        }
        Shuffle::SortByKey { descending } => sorted_by_key(input, rows, descending),
        Shuffle::SortByRow { descending } => {
            let mut rows = rows;
            rows.sort_unstable_by(|one, two| if descending { two.cmp(one) } else { one.cmp(two) });
            input.behind_shuffle(Known::Order, rows)
        }
        Shuffle::FilterByRange { from, to } => {
            let range = (from & bits.key)..=(to & bits.key);
            sorted_by_key(input, rows.into_iter().filter(|row| range.contains(&row.0)).collect(), false)
        }
        Shuffle::Repartition | Shuffle::SortWithinPartitions => input.behind_shuffle(Known::Rows, rows),
    }
}

fn sorted_by_key(input: &Model, mut rows: Vec<Code>, is_descending: bool) -> Model {
    rows.sort_by_key(|row| row.0);
    if is_descending {
        rows.reverse();
    }
    input.behind_shuffle(Known::KeysInOrder { is_descending }, rows)
}

fn narrow(op: Narrow, input: &Model, bits: Bits) -> Model {
    let known = input.known;
    match op {
        Narrow::Rows(op) => row_by_row(op, input, bits),
        Narrow::ZipSelf | Narrow::ZipPartitionsSelf => input
            .each_row(known, bits, |(key, value)| vec![(key, paired(value, salted(value, 1) & bits.value))]),
        Narrow::MapWhile { modulus } => input.each_partition(known, |rows| {
            rows.iter().copied().take_while(|row| !is_marked(*row, modulus)).collect()
        }),
        Narrow::Scan { most } => {
            input.each_partition(known, |rows| rows.iter().copied().take(most as usize).collect())
        }
        Narrow::Prune { modulus } => {
            let kept = |partition: usize| !partition.is_multiple_of(modulus as usize);
            let partitions = input.partitions.iter().enumerate().filter(|(partition, _)| kept(*partition));
            Model { partitions: partitions.map(|(_, rows)| rows.clone()).collect(), ..input.clone() }
        }
        Narrow::UnionSelf => {
            let known = if known == Known::Places { known } else { Known::Rows };
            let partitions = input.partitions.iter().chain(&input.partitions).cloned().collect();
            Model { partitions, known, ..input.clone() }
        }
        Narrow::ZipWithIndex => numbered(input, bits, |_, _, before| before),
        Narrow::ZipWithUniqueId => {
            let partitions = input.partitions.len() as u64;
            numbered(input, bits, move |partition, place, _| place * partitions + partition)
        }
        Narrow::Glom => Model { streams: false, ..input.clone() },
        Narrow::MapPartitions
        | Narrow::SampleAll { .. }
        | Narrow::SampleByKeyAll { .. }
        | Narrow::SparseEnvironment => input.clone(),
        // The same rows, somewhere.
        Narrow::Coalesce { .. } | Narrow::RandomSplits { .. } => {
            input.behind_shuffle(Known::Rows, input.rows().collect())
        }
    }
}

fn row_by_row(op: RowByRow, input: &Model, bits: Bits) -> Model {
    let known = input.known;
    let other_keys = known.with_other_keys();
    match op {
        RowByRow::Map { keys, salt } => {
            input.each_row(other_keys, bits, |row| vec![rekeyed(row, keys, salt)])
        }
        RowByRow::Swap => input.each_row(other_keys, bits, |(key, value)| vec![(value, key)]),
        RowByRow::Filter { modulus } => {
            input.each_row(known, bits, |row| if is_marked(row, modulus) { vec![] } else { vec![row] })
        }
        RowByRow::FlatMap { most } | RowByRow::FlatMapValues { most } => {
            input.each_row(known, bits, |(key, value)| {
                several(value, most).map(|value| (key, value)).collect()
            })
        }
        RowByRow::MapValues { salt } => {
            input.each_row(known, bits, |(key, value)| vec![(key, salted(value, salt))])
        }
        RowByRow::Boxed { depth } => {
            input.each_row(known, bits, |(key, value)| vec![(key, value.wrapping_add(u64::from(depth)))])
        }
    }
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
