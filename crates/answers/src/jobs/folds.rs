//! Actions that give one value made of all rows.

use firesteel::{StorageLevel, prelude::*};

use super::{Setting, Trouble, equal, same};
use crate::{
    case::{Backend, FoldAction, KindName},
    functions::reduced,
    kind::{Kind, Row, peak_live_rows, reset_peak},
    model::Model,
    shape::{Code, mixed},
};

/// How many values of large rows a task may hold at once for each operator that boxes them.
const LIVE_ROWS_MAX: usize = 4;

pub(super) fn check<K: Kind>(setting: &Setting<'_, K>, action: FoldAction) -> Result<(), Trouble> {
    let (rdd, model) = (&setting.node.rdd, &setting.node.model);
    let len = model.len() as u64;
    match action {
        FoldAction::Count => holding_few(setting, || same("count", &len, &rdd.count()?)),
        FoldAction::IsEmpty => same("is_empty", &(len == 0), &rdd.is_empty()?),
        FoldAction::Reduce => whole_or_empty::<K>(model, rdd.reduce(merged::<K>).map(|row| K::code(&row))),
        FoldAction::TreeReduce { depth } => {
            whole_or_empty::<K>(model, rdd.tree_reduce(merged::<K>, depth).map(|row| K::code(&row)))
        }
        FoldAction::Fold => {
            let folded = rdd.fold(K::row((0, 0)), merged::<K>)?;
            same("fold", &whole::<K>(model), &K::code(&folded))
        }
        FoldAction::Aggregate => {
            let found = rdd.aggregate((0, 0), |sum, row| added(sum, digest_of::<K>(&row)), added)?;
            same("aggregate", &total(model), &found)
        }
        FoldAction::TreeAggregate { depth, on_executors } => {
            let found = if on_executors {
                rdd.tree_aggregate_on_executors(
                    (0, 0),
                    |sum, row| added(sum, digest_of::<K>(&row)),
                    added,
                    depth,
                )?
            } else {
                rdd.tree_aggregate((0, 0), |sum, row| added(sum, digest_of::<K>(&row)), added, depth)?
            };
            same("tree_aggregate", &total(model), &found)
        }
        FoldAction::ForEach => {
            let sum = setting.ctx.collection_accumulator::<u64>("rows");
            holding_few(setting, || {
                rdd.with(sum.clone()).for_each(|sum, row| sum.add(digest_of::<K>(&row).0))?;
                let mut found = sum.value().0;
                let mut expected: Vec<u64> = model.rows().map(|row| digest(row).0).collect();
                expected.sort_unstable();
                found.sort_unstable();
                equal("for_each", &expected, &found)
            })
        }
        FoldAction::ForEachPartition => {
            let sum = setting.ctx.long_accumulator("rows");
            holding_few(setting, || {
                rdd.with(sum.clone())
                    .for_each_partition(|sum, rows| sum.add(rows.fold(0, |count, _| count + 1)))?;
                same("for_each_partition", &len.cast_signed(), &sum.value().sum)
            })
        }
        FoldAction::RunJob => holding_few(setting, || {
            let sums = rdd.run_job(|rows| rows.fold((0, 0), |sum, row| added(sum, digest_of::<K>(&row))))?;
            same("run_job", &total(model), &sums.into_iter().fold((0, 0), added))
        }),
        FoldAction::Persisted { level } => persisted::<K>(rdd, model, level),
        FoldAction::Stats { offset } => stats::<K>(rdd, model, offset),
    }
}

/// The rows of an RDD that is not boxed while they are stored, and when they are.
fn persisted<K: Kind>(rdd: &BoxRdd<Row<K>>, model: &Model, level: usize) -> Result<(), Trouble> {
    let kept = rdd.map(|row| row).persist(StorageLevel::NAMED[level].1);
    for _ in 0..2 {
        let found = kept.aggregate((0, 0), |sum, row| added(sum, digest_of::<K>(&row)), added)?;
        same("aggregate of kept rows", &total(model), &found)?;
    }
    kept.unpersist();
    Ok(())
}

/// Runs a job over rows that stream, and checks that not more than a few large ones lived at once.
fn holding_few<K: Kind>(
    setting: &Setting<'_, K>,
    job: impl FnOnce() -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    let is_counted = setting.case.kind == KindName::Large
        && setting.case.backend == Backend::Local
        && setting.node.model.streams;
    let before = reset_peak();
    job()?;
    // The job itself and what disturbs it are two more.
    let layers = setting.case.plan.nodes().len() + 2;
    let most = 2 * LIVE_ROWS_MAX * layers;
    match peak_live_rows().saturating_sub(before) {
        peak if is_counted && peak > most => {
            Err(Trouble::Wrong(format!("{peak} large rows lived at once, more than {most}")))
        }
        _ => Ok(()),
    }
}

fn merged<K: Kind>(one: Row<K>, two: Row<K>) -> Row<K> {
    let (one, two) = (K::code(&one), K::code(&two));
    K::row((reduced(one.0, two.0), reduced(one.1, two.1)))
}

fn digest_of<K: Kind>(row: &Row<K>) -> (u64, u64) {
    digest(K::code(row))
}

/// A row as something that can be added up.
fn digest((key, value): Code) -> (u64, u64) {
    (mixed(key).wrapping_mul(31).wrapping_add(mixed(value)), 1)
}

fn added(one: (u64, u64), two: (u64, u64)) -> (u64, u64) {
    (one.0.wrapping_add(two.0), one.1 + two.1)
}

fn total(model: &Model) -> (u64, u64) {
    model.rows().map(digest).fold((0, 0), added)
}

/// All rows merged into one.
fn whole<K: Kind>(model: &Model) -> Code {
    let sum = |one: Code, two: Code| (reduced(one.0, two.0), reduced(one.1, two.1));
    let (key, value) = model.rows().fold((0, 0), sum);
    (key & K::KEY_BITS, value & K::VALUE_BITS)
}

fn whole_or_empty<K: Kind>(model: &Model, found: firesteel::Result<Code>) -> Result<(), Trouble> {
    match found {
        Ok(found) if model.len() > 0 => same("reduce", &whole::<K>(model), &found),
        Ok(found) => Err(Trouble::Wrong(format!("no rows are reduced to {found:?}"))),
        Err(firesteel::Error::Empty { .. }) if model.len() == 0 => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Mean and variance of small whole numbers far from zero, against exact arithmetic.
fn stats<K: Kind>(rdd: &BoxRdd<Row<K>>, model: &Model, offset: f64) -> Result<(), Trouble> {
    let numbers = rdd.with(offset).map(|offset, row| offset + (digest_of::<K>(&row).0 % 3) as f64);
    let stats = numbers.stats()?;
    let small: Vec<u64> = model.rows().map(|row| digest(row).0 % 3).collect();
    same("count of stats", &(small.len() as u64), &stats.count())?;
    if small.is_empty() {
        return Ok(());
    }
    let len = small.len() as f64;
    let (sum, squares) = small.iter().fold((0, 0), |(sum, squares), x| (sum + x, squares + x * x));
    let mean = sum as f64 / len;
    let variance = squares as f64 / len - mean * mean;
    // Far from zero the mean itself is rounded; the variance is not.
    let is_near = |what: &str, expected: f64, found: f64, within: f64| {
        let is_near = (expected - found).abs() <= within;
        if is_near {
            Ok(())
        } else {
            Err(Trouble::Wrong(format!("{what}: expected {expected}, found {found}")))
        }
    };
    let within = if offset.abs() > 1e14 { 0.13 } else { 1e-3 };
    is_near("mean", mean, stats.mean() - offset, within)?;
    is_near("variance", variance, stats.variance(), 1e-3)?;
    let ends = (small.iter().min(), small.iter().max());
    let ends = [ends.0, ends.1].map(|end| end.map_or(0.0, |end| *end as f64) + offset);
    same("least and largest number", &ends, &[stats.min(), stats.max()])
}
