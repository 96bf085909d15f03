//! A long chain of small shuffles: what a deep lineage costs.

use std::path::Path;

use firesteel::prelude::*;

use super::{
    Job, Outcome, Setup, Sizes, Workload,
    rows::{PARTS, counted},
};
use crate::{
    checksum::{Digest, row},
    hand::{Table, bucket_of, exchange},
};

pub(super) const MANY_STAGES: Workload = Workload {
    name: "many_stages",
    what: "a chain of 200 shuffles of 4 tasks, of 4,000 rows",
    unit: "shuffles",
    sizes: |scale| Sizes::default().scaled("shuffles", 200, scale).with("rows", 4_000),
    units: |sizes| sizes.of("shuffles") as f64,
    engine,
    limit: Some(limit),
    ..Workload::PLAIN
};

const KEYS: u64 = 1_000;

/// What happens to a row between two shuffles: it gets another key.
fn step((key, value): (u64, u64)) -> (u64, u64) {
    ((key * 31 + 7) % KEYS, value + 1)
}

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, sizes) = (setup.ctx.clone(), setup.sizes.clone());
    let chain = move || {
        let mut rows = ctx.range_into(0..sizes.of("rows"), PARTS).map(|x| (x % KEYS, x)).boxed();
        for _ in 0..sizes.of("shuffles") {
            rows = rows.map(step).reduce_by_key_into(PARTS, |a, b| a + b).boxed();
        }
        rows
    };
    counted(chain, |(key, value)| row(key, value))
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let sizes = sizes.clone();
    let chain = move || chain_by_hand(sizes.of("rows"), sizes.of("shuffles"));
    let checked = chain.clone();
    Job::new(
        move || Ok(Outcome::rows(chain().iter().map(Vec::len).sum::<usize>() as u64)),
        move || Ok(Digest::of(checked().iter().flatten().map(|(key, value)| row(*key, *value))).into()),
    )
}

fn chain_by_hand(rows: u64, shuffles: u64) -> Vec<Vec<(u64, u64)>> {
    const BUCKETS: usize = 2;
    let mut parts: Vec<Vec<(u64, u64)>> = (0..BUCKETS as u64)
        .map(|part| (part..rows).step_by(BUCKETS).map(|x| (x % KEYS, x)).collect())
        .collect();
    for _ in 0..shuffles {
        let fill = |thread: usize, buckets: &mut [Vec<(u64, u64)>]| {
            for row in parts[thread].iter().copied().map(step) {
                buckets[bucket_of(row.0, BUCKETS)].push(row);
            }
        };
        let next = exchange(BUCKETS, KEYS / 4, fill, |_, pieces| {
            let mut sums = Table::default();
            pieces.iter().flatten().for_each(|(key, value)| *sums.entry(*key).or_insert(0) += value);
            sums.into_iter().collect()
        });
        parts = next;
    }
    parts
}
