//! Narrow operators in a row: what a stage's loop costs.

use std::path::Path;

use firesteel::prelude::*;

use super::{
    Job, Outcome, Setup, Sizes, Targets, Workload,
    rows::{PARTS, digest},
};
use crate::{
    checksum::Digest,
    hand::{both, share},
};

pub(super) const NARROW_PIPELINE: Workload = Workload {
    name: "narrow_pipeline",
    what: "400 M numbers through map, filter, map, count",
    sizes: |scale| Sizes::default().scaled("rows", 400_000_000, scale),
    engine,
    limit: Some(limit),
    targets: Targets::spark(35.0, 30.0).limit(1.15),
    ..Workload::PLAIN
};

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, rows) = (setup.ctx.clone(), setup.sizes.of("rows"));
    let pipeline =
        move || ctx.range_into(0..rows, PARTS).map(|x| x * 3 + 1).filter(|x| x % 7 == 0).map(|x| x ^ 5);
    let checked = pipeline.clone();
    Job::new(move || Ok(Outcome::rows(pipeline().count()?)), move || Ok(digest(&checked())?.into()))
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let rows = sizes.of("rows");
    let pipeline = move |thread| share(rows, thread).map(|x| x * 3 + 1).filter(|x| x % 7 == 0).map(|x| x ^ 5);
    Job::new(
        move || Ok(Outcome::rows(both(|thread| pipeline(thread).count() as u64).iter().sum())),
        move || {
            let [one, two] = both(|thread| Digest::of(pipeline(thread)));
            Ok(one.and(two).into())
        },
    )
}
