//! Jobs of two tasks, one after the other: what a job costs.

use std::path::Path;

use anyhow::Result;
use firesteel::prelude::*;

use super::{Job, Outcome, Setup, Sizes, Targets, Workload};
use crate::{
    checksum::Checksum,
    hand::{Pool, Task},
};

pub(super) const TINY_JOBS: Workload = Workload {
    name: "tiny_jobs",
    what: "500 jobs of 2 tasks, one after the other",
    unit: "jobs",
    sizes: |scale| Sizes::default().scaled("jobs", 500, scale),
    units: |sizes| sizes.of("jobs") as f64,
    engine,
    limit: Some(limit),
    targets: Targets::spark(100.0, 40.0),
    ..Workload::PLAIN
};

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, jobs) = (setup.ctx.clone(), setup.sizes.of("jobs"));
    let rows = move || -> Result<u64> {
        let mut rows = 0;
        for _ in 0..jobs {
            rows += ctx.parallelize_into(vec![1_u64, 2], 2).count()?;
        }
        Ok(rows)
    };
    let checked = rows.clone();
    Job::new(move || Ok(Outcome::rows(rows()?)), move || Ok(Checksum::rows(checked()?)))
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let (pool, jobs) = (Pool::new(), sizes.of("jobs"));
    Job::new(
        move || {
            let job = |_| {
                let tasks = [vec![1_u64], vec![2]].map(|rows| Box::new(move || rows.len()) as Task<usize>);
                pool.run(tasks.into()).iter().sum::<usize>() as u64
            };
            Ok(Outcome::rows((0..jobs).map(job).sum()))
        },
        move || Ok(Checksum::rows(2 * jobs)),
    )
}
