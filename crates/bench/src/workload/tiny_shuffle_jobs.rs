//! Jobs of two and two tasks with a shuffle between: what a stage costs.

use std::{path::Path, sync::Arc};

use firesteel::prelude::*;

use super::{Job, Outcome, Setup, Sizes, Targets, Workload, rows::digest};
use crate::{
    checksum::{Digest, row},
    hand::{Pool, Table, Task, bucket_of},
};

pub(super) const TINY_SHUFFLE_JOBS: Workload = Workload {
    name: "tiny_shuffle_jobs",
    what: "200 jobs of 2 + 2 tasks with a shuffle between, one after the other",
    unit: "jobs",
    sizes: |scale| Sizes::default().scaled("jobs", 200, scale),
    units: |sizes| sizes.of("jobs") as f64,
    engine,
    limit: Some(limit),
    targets: Targets::spark(100.0, 40.0),
    ..Workload::PLAIN
};

fn counts(ctx: &Context) -> impl Rdd<Item = (u64, u64)> {
    ctx.range_into(1..101_u64, 2).map(|x| (x % 10, 1_u64)).reduce_by_key_into(2, |a, b| a + b)
}

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, jobs) = (setup.ctx.clone(), setup.sizes.of("jobs"));
    let checked = ctx.clone();
    Job::new(
        move || {
            let mut keys = 0;
            for _ in 0..jobs {
                keys += counts(&ctx).count()?;
            }
            Ok(Outcome::rows(keys / jobs))
        },
        move || Ok(digest(&counts(&checked).map(|(key, count)| row(key, count)))?.into()),
    )
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let (pool, jobs) = (Arc::new(Pool::new()), sizes.of("jobs"));
    let checked = pool.clone();
    Job::new(
        move || {
            let keys = (0..jobs).map(|_| counts_by_hand(&pool).iter().map(Table::len).sum::<usize>());
            Ok(Outcome::rows(keys.sum::<usize>() as u64 / jobs))
        },
        move || {
            let tables = counts_by_hand(&checked);
            Ok(Digest::of(tables.iter().flatten().map(|(key, count)| row(*key, *count))).into())
        },
    )
}

fn counts_by_hand(pool: &Pool) -> Vec<Table> {
    let map = |rows: std::ops::Range<u64>| {
        Box::new(move || {
            let mut tables: [Table; 2] = Default::default();
            rows.for_each(|x| *tables[bucket_of(x % 10, 2)].entry(x % 10).or_insert(0) += 1);
            tables
        }) as Task<[Table; 2]>
    };
    let maps = pool.run(vec![map(1..51), map(51..101)]);
    let mut sides = [Vec::new(), Vec::new()];
    for [one, two] in maps {
        sides[0].push(one);
        sides[1].push(two);
    }
    let reduce = |tables: Vec<Table>| {
        Box::new(move || {
            let mut sums = Table::default();
            tables.into_iter().flatten().for_each(|(key, count)| *sums.entry(key).or_insert(0) += count);
            sums
        }) as Task<Table>
    };
    pool.run(sides.map(reduce).into())
}
