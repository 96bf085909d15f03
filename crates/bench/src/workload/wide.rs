//! A shuffle with very many small blocks: what a block costs.

use std::path::Path;

use firesteel::prelude::*;

use super::{Job, Setup, Sizes, Workload, reduce_by_key::sums_by_hand, rows::counted};
use crate::checksum::{mix, row};

pub(super) const WIDE: Workload = Workload {
    name: "wide",
    what: "4 M rows through a shuffle of 4,000 × 4,000 blocks",
    unit: "blocks",
    // The side grows with the root, so that the number of blocks grows with the scale.
    sizes: |scale| Sizes::default().scaled("rows", 4_000_000, scale).scaled("side", 4_000, scale.sqrt()),
    units: |sizes| (sizes.of("side") * sizes.of("side")) as f64,
    engine,
    limit: Some(limit),
    runs: 3,
    ..Workload::PLAIN
};

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, rows, side) = (setup.ctx.clone(), setup.sizes.of("rows"), setup.sizes.of("side") as u32);
    let sums = move || {
        ctx.range_into(0..rows, side)
            .with(rows)
            .map(|rows, x| (mix(x) % rows, 1_u64))
            .reduce_by_key_into(side, |a, b| a + b)
    };
    counted(sums, |(key, sum)| row(key, sum))
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let rows = sizes.of("rows");
    sums_by_hand(rows, move |x| (mix(x) % rows, 1))
}
