//! Two sides joined by key, each of them shuffled.

use std::path::Path;

use firesteel::prelude::*;

use super::{
    Job, Outcome, Setup, Sizes, Targets, Workload,
    rows::{PARTS, counted},
};
use crate::{
    checksum::{Digest, row},
    data::keys::spread,
    hand,
};

pub(super) const JOIN: Workload = Workload {
    name: "join",
    what: "2 M rows joined with 2 M rows",
    sizes: |scale| Sizes::default().scaled("rows", 2_000_000, scale),
    engine,
    limit: Some(limit),
    targets: Targets::spark(18.0, 12.0).limit(2.0),
    ..Workload::PLAIN
};

/// The number of a joined row.
pub(super) fn joined_row(key: u64, left: u64, right: u64) -> u64 {
    row(row(key, left), right)
}

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, rows) = (setup.ctx.clone(), setup.sizes.of("rows"));
    let joined = move || {
        let left = ctx.range_into(0..rows, PARTS).with(rows).map(|rows, x| (spread(x, *rows), x));
        let right = ctx.range_into(0..rows, PARTS).map(|x| (x, x * 2));
        left.join_into(&right, PARTS)
    };
    counted(joined, |(key, (left, right))| joined_row(key, left, right))
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let rows = sizes.of("rows");
    let (left, right) = (move |x| (spread(x, rows), x), |x| (x, x * 2));
    Job::new(
        move || {
            let counts = hand::join(rows, left, right, |count: u64, _, _, _| count + 1);
            Ok(Outcome::rows(counts.iter().sum()))
        },
        move || {
            let add = |sum: Digest, key, left, right| sum.with(joined_row(key, left, right));
            let digests = hand::join(rows, left, right, add);
            Ok(digests.into_iter().fold(Digest::default(), Digest::and).into())
        },
    )
}
