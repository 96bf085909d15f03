//! Ten passes over a cached RDD.

use std::{path::Path, sync::Arc};

use anyhow::Result;
use firesteel::prelude::*;

use super::{Job, Outcome, Setup, Sizes, Targets, Workload, rows::PARTS};
use crate::{
    checksum::Checksum,
    hand::{both, share},
};

pub(super) const CACHED_SCAN: Workload = Workload {
    name: "cached_scan",
    what: "10 passes over 20 M cached numbers",
    sizes: |scale| Sizes::default().scaled("rows", 20_000_000, scale).with("passes", 10),
    units: |sizes| (sizes.of("rows") * sizes.of("passes")) as f64,
    engine,
    limit: Some(limit),
    targets: Targets::spark(23.0, 20.0).limit(1.3),
    ..Workload::PLAIN
};

fn engine(setup: &Setup<'_>) -> Job {
    let passes = setup.sizes.of("passes");
    let numbers = setup.ctx.range_into(0..setup.sizes.of("rows"), PARTS).map(|x| x as f64).cache();
    // Cached by the check, which comes first.
    let sums = move || -> Result<f64> {
        let mut sum = 0.0;
        for factor in 0..passes {
            sum += numbers.with(factor as f64).map(|factor, x| x * factor).reduce(|a, b| a + b)?;
        }
        Ok(sum)
    };
    let checked = sums.clone();
    Job::new(move || Ok(Outcome::real(sums()?)), move || Ok(Checksum::real(checked()?)))
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let (rows, passes) = (sizes.of("rows"), sizes.of("passes"));
    let numbers = Arc::new(both(|thread| share(rows, thread).map(|x| x as f64).collect::<Vec<f64>>()));
    let sums = move || -> f64 {
        let pass = |factor: u64| {
            let halves = both(|thread| numbers[thread].iter().map(|x| x * factor as f64).sum::<f64>());
            halves.iter().sum::<f64>()
        };
        (0..passes).map(pass).sum()
    };
    let checked = sums.clone();
    Job::new(move || Ok(Outcome::real(sums())), move || Ok(Checksum::real(checked())))
}
