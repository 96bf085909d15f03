//! Rows brought into order over all partitions.

use std::{hint::black_box, path::Path};

use firesteel::prelude::*;

use super::{
    Job, Setup, Sizes, Targets, Workload,
    rows::{PARTS, ordered_digest},
};
use crate::{
    checksum::{Answer, OrderedDigest, row},
    data::keys::scrambled,
    hand::{exchange, share},
};

pub(super) const SORT_BY_KEY: Workload = Workload {
    name: "sort_by_key",
    what: "5 M rows sorted by keys in no order",
    sizes: |scale| Sizes::default().scaled("rows", 5_000_000, scale),
    engine,
    limit: Some(limit),
    targets: Targets::spark(20.0, 12.0).limit(1.7),
    ..Workload::PLAIN
};

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, rows) = (setup.ctx.clone(), setup.sizes.of("rows"));
    let sorted = move || {
        ctx.range_into(0..rows, PARTS).map(|x| (scrambled(x), x)).sort_by_key_into(Order::Ascending, PARTS)
    };
    let checked = sorted.clone();
    Job::new(
        move || {
            sorted()?.for_each(|_| ())?;
            Ok(Answer::Nothing.into())
        },
        move || Ok(ordered_digest(&checked()?.map(|(key, x)| row(key.cast_unsigned(), x)))?.into()),
    )
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let rows = sizes.of("rows");
    Job::new(
        move || {
            black_box(sort_by_hand(rows));
            Ok(Answer::Nothing.into())
        },
        move || {
            let sorted = sort_by_hand(rows);
            let numbers = sorted.iter().flatten().map(|(key, x)| row(key.cast_unsigned(), *x));
            Ok(numbers.fold(OrderedDigest::default(), OrderedDigest::with).into())
        },
    )
}

/// Deals rows by ranges that a sample gives, then sorts each range.
fn sort_by_hand(rows: u64) -> Vec<Vec<(i64, u64)>> {
    const RANGES: usize = 16;
    let mut sample: Vec<i64> = (0..rows).step_by((rows / 1000).max(1) as usize).map(scrambled).collect();
    sample.sort_unstable();
    let bounds: Vec<i64> = (1..RANGES).map(|range| sample[range * sample.len() / RANGES]).collect();
    let fill = |thread, ranges: &mut [Vec<(i64, u64)>]| {
        for x in share(rows, thread) {
            let key = scrambled(x);
            ranges[bounds.partition_point(|bound| *bound <= key)].push((key, x));
        }
    };
    exchange(RANGES, rows / (2 * RANGES as u64), fill, |_, pieces| {
        let mut sorted = pieces.concat();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        sorted
    })
}
