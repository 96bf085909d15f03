//! A join where half of the rows of one side have the same key.

use std::path::Path;

use firesteel::prelude::*;

use super::{
    Job, Outcome, Setup, Sizes, Workload,
    join::joined_row,
    rows::{PARTS, counted},
};
use crate::{
    checksum::Digest,
    data::keys::skewed,
    hand::{Lookup, both, share},
};

pub(super) const SKEWED_JOIN: Workload = Workload {
    name: "skewed_join",
    what: "4 M rows, half of them with one key, joined with 100,000",
    sizes: |scale| Sizes::default().scaled("rows", 4_000_000, scale).scaled("keys", 100_000, scale),
    engine,
    limit: Some(limit),
    ..Workload::PLAIN
};

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, rows, keys) = (setup.ctx.clone(), setup.sizes.of("rows"), setup.sizes.of("keys"));
    let joined = move || {
        let left = ctx.range_into(0..rows, PARTS).with(keys).map(|keys, x| (skewed(x, *keys), x));
        let right = ctx.range_into(0..keys, PARTS).map(|x| (x, x * 2));
        left.join_into(&right, PARTS)
    };
    counted(joined, |(key, (left, right))| joined_row(key, left, right))
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let (rows, keys) = (sizes.of("rows"), sizes.of("keys"));
    Job::new(
        move || {
            let counts = join_by_hand(rows, keys, 0, |count, _, _, _| count + 1);
            Ok(Outcome::rows(counts.iter().sum()))
        },
        move || {
            let add = |sum: Digest, key, left, right| sum.with(joined_row(key, left, right));
            let [one, two] = join_by_hand(rows, keys, Digest::default(), add);
            Ok(one.and(two).into())
        },
    )
}

/// Looks each row of the large side up in a table of the small one; the large side is not moved.
fn join_by_hand<A: Copy + Send + Sync>(
    rows: u64,
    keys: u64,
    zero: A,
    add: impl Fn(A, u64, u64, u64) -> A + Sync,
) -> [A; 2] {
    let table = Lookup::of((0..keys as usize).map(|x| (x as u64, x as u64 * 2)));
    both(|thread| {
        share(rows, thread).fold(zero, |sum, x| {
            let key = skewed(x, keys);
            table.values(key).fold(sum, |sum, right| add(sum, key, x, right))
        })
    })
}
