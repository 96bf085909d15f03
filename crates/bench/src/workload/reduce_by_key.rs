//! Rows added up by key, before and after a shuffle.

use std::path::Path;

use firesteel::prelude::*;

use super::{
    Job, Outcome, Setup, Sizes, Targets, Workload,
    rows::{PARTS, counted},
};
use crate::{
    checksum::{Digest, row},
    data::keys::spread,
    hand::{Table, sum_by_key},
};

pub(super) const REDUCE_BY_KEY: Workload = Workload {
    name: "reduce_by_key",
    what: "20 M rows added up by 1 M keys",
    sizes: |scale| Sizes::default().scaled("rows", 20_000_000, scale),
    engine,
    limit: Some(limit),
    targets: Targets::spark(15.0, 12.0).limit(1.7),
    ..Workload::PLAIN
};

const KEYS: u64 = 1_000_000;

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, rows) = (setup.ctx.clone(), setup.sizes.of("rows"));
    let sums = move || {
        ctx.range_into(0..rows, PARTS)
            .map(|x| (spread(x, KEYS), 1_u64))
            .reduce_by_key_into(PARTS, |a, b| a + b)
    };
    counted(sums, |(key, sum)| row(key, sum))
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    sums_by_hand(sizes.of("rows"), |x| (spread(x, KEYS), 1))
}

/// A job by hand that sums values by key and counts the keys.
pub(super) fn sums_by_hand(rows: u64, pair: impl Fn(u64) -> (u64, u64) + Copy + Sync + 'static) -> Job {
    let sums = move || sum_by_key(rows, pair);
    Job::new(
        move || Ok(Outcome::rows(sums().iter().map(Table::len).sum::<usize>() as u64)),
        move || Ok(Digest::of(sums().iter().flatten().map(|(key, sum)| row(*key, *sum))).into()),
    )
}
