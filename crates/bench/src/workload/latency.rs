//! From the submission of a job to the start of its first task.

use std::{
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Result;
use firesteel::prelude::*;

use super::{Job, Outcome, Setup, Sizes, Targets, Workload};
use crate::{
    checksum::Checksum,
    hand::{Pool, Task},
    report::quantile,
};

pub(super) const LATENCY: Workload = Workload {
    name: "latency",
    what: "2,000 jobs of 2 tasks: from submission to the start of the first task",
    unit: "jobs",
    sizes: |scale| Sizes::default().scaled("jobs", 2_000, scale),
    units: |sizes| sizes.of("jobs") as f64,
    engine,
    limit: Some(limit),
    targets: Targets { figures: &[("p50_us", 100.0, 500.0), ("p99_us", 5_000.0, 5_000.0)], ..Targets::NONE },
    ..Workload::PLAIN
};

/// The time of day in nanoseconds: a clock that the processes of one machine share.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

/// The outcome of jobs that were submitted and started at these times.
fn outcome(waits: impl Iterator<Item = u64>) -> Outcome {
    let mut micros: Vec<f64> = waits.map(|nanos| nanos as f64 / 1e3).collect();
    micros.sort_by(f64::total_cmp);
    Outcome::rows(micros.len() as u64)
        .with("p50_us", quantile(&micros, 500))
        .with("p99_us", quantile(&micros, 990))
}

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, jobs) = (setup.ctx.clone(), setup.sizes.of("jobs"));
    let waits = move || -> Result<Outcome> {
        let mut waits = Vec::new();
        for _ in 0..jobs {
            let rows = ctx.range_into(0..2_u64, 2).map(|_| now());
            let submitted = now();
            let started = rows.collect()?.into_iter().min().unwrap_or(submitted);
            waits.push(started.saturating_sub(submitted));
        }
        Ok(outcome(waits.into_iter()))
    };
    Job::new(waits, move || Ok(Checksum::rows(jobs)))
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let (pool, jobs) = (Pool::new(), sizes.of("jobs"));
    let waits = move || {
        let job = |_| {
            let submitted = now();
            let started = pool.run((0..2).map(|_| Box::new(now) as Task<u64>).collect());
            started.into_iter().min().unwrap_or(submitted).saturating_sub(submitted)
        };
        Ok(outcome((0..jobs).map(job)))
    };
    Job::new(waits, move || Ok(Checksum::rows(jobs)))
}
