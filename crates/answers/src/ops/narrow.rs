//! Operators that leave rows in their partitions, and those that keep them.

use std::collections::BTreeSet;

use anyhow::Result;
use firesteel::{StorageLevel, prelude::*};

use super::Built;
use crate::{
    case::{Keep, Narrow, RowByRow},
    functions::{is_marked, paired, rekeyed, salted, several},
    kind::{Kind, Row, SparseEnvironment},
};

/// The RDD behind an operator.
pub(super) fn build<K: Kind>(op: Narrow, parent: &Built<K>) -> Result<BoxRdd<Row<K>>> {
    let rdd = &parent.rdd;
    Ok(match op {
        Narrow::Rows(op) => row_by_row::<K>(op, rdd),
        Narrow::MapPartitions => rdd.map_partitions(|rows| Rows::new(rows)).boxed(),
        Narrow::MapWhile { modulus } => {
            let up_to = rdd.with(modulus).map_partitions(|modulus, rows| {
                Rows::new(rows.map_while(move |row| (!is_marked(K::code(&row), *modulus)).then_some(row)))
            });
            up_to.boxed()
        }
        Narrow::Scan { most } => {
            let first = rdd.with(most).map_partitions(|most, rows| {
                Rows::new(rows.scan(0, move |seen, row| {
                    *seen += 1;
                    (*seen % (most + 1) != 0).then_some(row)
                }))
            });
            first.boxed()
        }
        Narrow::Glom => rdd.glom().flat_map(|rows| rows).boxed(),
        Narrow::Prune { modulus } => {
            rdd.prune_partitions(|partition| !partition.is_multiple_of(modulus)).boxed()
        }
        Narrow::ZipWithIndex => rdd.zip_with_index()?.map(|(row, index)| numbered::<K>(&row, index)).boxed(),
        Narrow::ZipWithUniqueId => rdd.zip_with_unique_id().map(|(row, id)| numbered::<K>(&row, id)).boxed(),
        Narrow::UnionSelf => rdd.union(rdd).boxed(),
        Narrow::ZipSelf => {
            let other = rdd.map_values(|value| other_value::<K>(&value));
            rdd.zip(&other).map(|(row, (_, value))| numbered::<K>(&row, K::value_code(&value))).boxed()
        }
        Narrow::ZipPartitionsSelf => {
            let other = rdd.map_values(|value| other_value::<K>(&value));
            let zipped = rdd.zip_partitions(&other, |rows, others| {
                Rows::new(
                    rows.zip(others).map(|(row, (_, value))| numbered::<K>(&row, K::value_code(&value))),
                )
            });
            zipped.boxed()
        }
        Narrow::SampleAll { seed } => rdd.sample(Replacement::Without, 1.0, seed).boxed(),
        Narrow::SampleByKeyAll { seed } => {
            let keys: BTreeSet<u64> = parent.model.rows().map(|row| row.0).collect();
            let fractions = keys.into_iter().map(|key| (K::key(key), 1.0));
            rdd.sample_by_key(Replacement::Without, fractions, seed)?.boxed()
        }
        Narrow::SparseEnvironment => {
            let kept = rdd.with(SparseEnvironment::default()).map(|env, row| {
                assert!(env.names.is_empty() && env.limit.is_none(), "an environment came changed: {env:?}");
                row
            });
            // A union behind it, so that something is read after the environment.
            let partitions = rdd.num_partitions();
            kept.union(&rdd.filter(|_| false).boxed())
                .prune_partitions(|partition| partition < partitions)
                .boxed()
        }
        Narrow::Coalesce { partitions } => rdd.coalesce(partitions).boxed(),
        Narrow::RandomSplits { seed } => {
            let splits = rdd.random_split(&[1.0, 2.0, 0.0, 1.0], seed);
            let splits = splits.into_iter().map(|split| split.boxed());
            splits.reduce(|all, split| all.union(&split).boxed()).unwrap_or_else(|| rdd.clone())
        }
    })
}

/// The RDD that keeps the rows of another.
pub(super) fn keep<K: Kind>(keep: &Keep, parent: &Built<K>) -> Result<BoxRdd<Row<K>>> {
    Ok(match keep {
        Keep::Persist { level } => parent.rdd.persist(level.parse::<StorageLevel>()?).boxed(),
        Keep::Checkpoint => parent.rdd.checkpoint()?.boxed(),
        Keep::LocalCheckpoint => parent.rdd.local_checkpoint().boxed(),
    })
}

fn row_by_row<K: Kind>(op: RowByRow, rdd: &BoxRdd<Row<K>>) -> BoxRdd<Row<K>> {
    match op {
        RowByRow::Map { keys, salt } => rdd
            .with((keys, salt))
            .map(|(keys, salt), row| K::row(rekeyed(K::code(&row), *keys, *salt)))
            .boxed(),
        RowByRow::Filter { modulus } => {
            rdd.with(modulus).filter(|modulus, row| !is_marked(K::code(row), *modulus)).boxed()
        }
        RowByRow::FlatMap { most } => {
            let copies = rdd.with(most).flat_map(|most, row| {
                let (key, value) = K::code(&row);
                several(value, *most).map(move |value| K::row((key, value))).collect::<Vec<_>>()
            });
            copies.boxed()
        }
        RowByRow::MapValues { salt } => {
            let changed = rdd
                .with(salt)
                .map_values(|salt, value| K::value(salted(K::value_code(&value), *salt) & K::VALUE_BITS));
            changed.boxed()
        }
        RowByRow::FlatMapValues { most } => {
            let copies = rdd.with(most).flat_map_values(|most, value| {
                let values = several(K::value_code(&value), *most);
                values.map(|value| K::value(value & K::VALUE_BITS)).collect::<Vec<_>>()
            });
            copies.boxed()
        }
        RowByRow::Swap => rdd.map(|row| K::row(swapped(K::code(&row)))).boxed(),
        RowByRow::Boxed { depth } => {
            (0..depth).fold(rdd.clone(), |rdd, _| rdd.map(|row| K::row(next(K::code(&row)))).boxed())
        }
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

fn other_value<K: Kind>(value: &K::Value) -> K::Value {
    K::value(salted(K::value_code(value), 1) & K::VALUE_BITS)
}
