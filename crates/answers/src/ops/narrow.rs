//! Operators that leave rows in their partitions, and those that keep them.

use anyhow::Result;
use firesteel::{StorageLevel, prelude::*};

use super::Built;
use crate::{
    case::Op,
    functions::{is_marked, paired, rekeyed, salted, several},
    kind::{Kind, Row, SparseEnvironment},
};

/// The RDD behind an operator, unless it is none of these.
pub(super) fn build<K: Kind>(op: &Op, parent: &Built<K>) -> Result<Option<BoxRdd<Row<K>>>> {
    let rdd = &parent.rdd;
    Ok(Some(match op {
        Op::Map { .. } | Op::Filter { .. } | Op::FlatMap { .. } | Op::MapValues { .. } | Op::FlatMapValues { .. } => {
            row_by_row::<K>(op, rdd)
        }
        Op::Swap => rdd.map(|row| K::row(swapped(K::code(&row)))).boxed(),
        Op::MapPartitions => rdd.map_partitions(|rows| Rows::new(rows)).boxed(),
        Op::MapWhile { modulus } => {
            let up_to = rdd.with(*modulus).map_partitions(|modulus, rows| {
                Rows::new(rows.map_while(move |row| (!is_marked(K::code(&row), *modulus)).then_some(row)))
            });
            up_to.boxed()
        }
        Op::Scan { most } => {
            let first = rdd.with(*most).map_partitions(|most, rows| {
                Rows::new(rows.scan(0, move |seen, row| {
                    *seen += 1;
                    (*seen % (most + 1) != 0).then_some(row)
                }))
            });
            first.boxed()
        }
        Op::Boxed { depth } => {
            (0..*depth).fold(rdd.clone(), |rdd, _| rdd.map(|row| K::row(next(K::code(&row)))).boxed())
        }
        Op::Glom => rdd.glom().flat_map(|rows| rows).boxed(),
        Op::Prune { modulus } => {
            rdd.prune_partitions(|partition| !partition.is_multiple_of(*modulus)).boxed()
        }
        Op::ZipWithIndex => rdd.zip_with_index()?.map(|(row, index)| numbered::<K>(&row, index)).boxed(),
        Op::ZipWithUniqueId => rdd.zip_with_unique_id().map(|(row, id)| numbered::<K>(&row, id)).boxed(),
        Op::ZipSelf => {
            let other = rdd.map_values(|value| K::value(salted(K::value_code(&value), 1) & K::VALUE_BITS));
            rdd.zip(&other).map(|(row, (_, value))| numbered::<K>(&row, K::value_code(&value))).boxed()
        }
        Op::ZipPartitionsSelf => {
            let other = rdd.map_values(|value| K::value(salted(K::value_code(&value), 1) & K::VALUE_BITS));
            let zipped = rdd.zip_partitions(&other, |rows, others| {
                Rows::new(rows.zip(others).map(|(row, (_, value))| numbered::<K>(&row, K::value_code(&value))))
            });
            zipped.boxed()
        }
        Op::SampleAll { seed } => rdd.sample(Replacement::Without, 1.0, *seed).boxed(),
        Op::SampleByKeyAll { seed } => {
            let keys: std::collections::BTreeSet<u64> = parent.model.rows().map(|row| row.0).collect();
            let fractions = keys.into_iter().map(|key| (K::key(key), 1.0));
            rdd.sample_by_key(Replacement::Without, fractions, *seed)?.boxed()
        }
        Op::SparseEnvironment => {
            let kept = rdd.with(SparseEnvironment::default()).map(|env, row| {
                assert!(env.names.is_empty() && env.limit.is_none(), "an environment came changed: {env:?}");
                row
            });
            // A union behind it, so that something is read after the environment.
            kept.union(&rdd.filter(|_| false).boxed()).prune_partitions(first_half(rdd.num_partitions())).boxed()
        }
        Op::Persist { level } => rdd.persist(level.parse::<StorageLevel>()?).boxed(),
        Op::Checkpoint => rdd.checkpoint()?.boxed(),
        Op::LocalCheckpoint => rdd.local_checkpoint().boxed(),
        _ => return Ok(None),
    }))
}

fn row_by_row<K: Kind>(op: &Op, rdd: &BoxRdd<Row<K>>) -> BoxRdd<Row<K>> {
    match op {
        Op::Map { keys, salt } => {
            rdd.with((*keys, *salt)).map(|(keys, salt), row| K::row(rekeyed(K::code(&row), *keys, *salt))).boxed()
        }
        Op::Filter { modulus } => {
            rdd.with(*modulus).filter(|modulus, row| !is_marked(K::code(row), *modulus)).boxed()
        }
        Op::FlatMap { most } => {
            let copies = rdd.with(*most).flat_map(|most, row| {
                let (key, value) = K::code(&row);
                several(value, *most).map(move |value| K::row((key, value))).collect::<Vec<_>>()
            });
            copies.boxed()
        }
        Op::MapValues { salt } => {
            let changed = rdd.with(*salt).map_values(|salt, value| {
                K::value(salted(K::value_code(&value), *salt) & K::VALUE_BITS)
            });
            changed.boxed()
        }
        Op::FlatMapValues { most } => {
            let copies = rdd.with(*most).flat_map_values(|most, value| {
                let values = several(K::value_code(&value), *most);
                values.map(|value| K::value(value & K::VALUE_BITS)).collect::<Vec<_>>()
            });
            copies.boxed()
        }
        _ => rdd.clone(),
    }
}

fn swapped((key, value): (u64, u64)) -> (u64, u64) {
    (value, key)
}

fn next((key, value): (u64, u64)) -> (u64, u64) {
    (key, value.wrapping_add(1))
}

/// The row with a value made of its own and a number.
fn numbered<K: Kind>(row: &Row<K>, number: u64) -> Row<K> {
    let (key, value) = K::code(row);
    K::row((key, paired(value, number)))
}

fn first_half(partitions: u32) -> impl FnMut(u32) -> bool {
    move |partition| partition < partitions
}
