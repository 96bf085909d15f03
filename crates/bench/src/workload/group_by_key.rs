//! The values of each key brought together.

use std::path::Path;

use firesteel::prelude::*;

use super::{
    Job, Outcome, Setup, Sizes, Targets, Workload,
    rows::{PARTS, digest},
};
use crate::{
    checksum::{Digest, row},
    data::keys::spread,
    hand::{Groups, bucket_of, exchange, share},
};

pub(super) const GROUP_BY_KEY: Workload = Workload {
    name: "group_by_key",
    what: "5 M rows in groups of 100,000 keys",
    sizes: |scale| Sizes::default().scaled("rows", 5_000_000, scale),
    engine,
    limit: Some(limit),
    targets: Targets::spark(12.0, 8.0).limit(2.0),
    ..Workload::PLAIN
};

const KEYS: u64 = 100_000;

/// The number of a group.
fn group_row(key: u64, values: &[u64]) -> u64 {
    row(row(key, values.len() as u64), values.iter().sum())
}

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, rows) = (setup.ctx.clone(), setup.sizes.of("rows"));
    let groups =
        move || ctx.range_into(0..rows, PARTS).map(|x| (spread(x, KEYS), x)).group_by_key_into(PARTS);
    let checked = groups.clone();
    Job::new(
        move || Ok(Outcome::rows(groups().map_values(|values| values.len()).count()?)),
        move || Ok(digest(&checked().map(|(key, values)| group_row(key, &values)))?.into()),
    )
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let rows = sizes.of("rows");
    Job::new(
        move || {
            let counts = group_by_hand(rows, |groups| {
                let sizes: Vec<usize> = groups.iter().map(|(_, values)| values.len()).collect();
                sizes.len()
            });
            Ok(Outcome::rows(counts.iter().sum::<usize>() as u64))
        },
        move || {
            let digests = group_by_hand(rows, |groups| {
                Digest::of(groups.iter().map(|(key, values)| group_row(key, values)))
            });
            Ok(digests.into_iter().fold(Digest::default(), Digest::and).into())
        },
    )
}

/// What `each` makes of the groups of each bucket.
fn group_by_hand<U: Send>(rows: u64, each: impl Fn(Groups) -> U + Sync) -> Vec<U> {
    const BUCKETS: usize = 16;
    let fill = |thread, buckets: &mut [Vec<(u64, u64)>]| {
        for x in share(rows, thread) {
            let key = spread(x, KEYS);
            buckets[bucket_of(key, BUCKETS)].push((key, x));
        }
    };
    exchange(BUCKETS, rows / (2 * BUCKETS as u64), fill, |_, pieces| each(Groups::of(&pieces)))
}
