//! One of two executors is killed in the middle of `PageRank`: what that costs.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};

use super::{
    Job, Outcome, Setup, Workload,
    pagerank::{self, sum_of_ranks},
};
use crate::{
    checksum::Checksum,
    executors::{executors_of, wait_for_executors},
    processes,
};

pub(super) const EXECUTOR_LOSS: Workload = Workload {
    name: "executor_loss",
    what: "pagerank while one of two executors is killed in the middle",
    unit: "edges",
    sizes: pagerank::sizes,
    units: |sizes| (sizes.of("edges") * sizes.of("rounds")) as f64,
    engine,
    cluster_only: true,
    runs: 3,
    ..Workload::PLAIN
};

/// How long a cluster may take to have both executors again.
const EXECUTORS_TIMEOUT: Duration = Duration::from_secs(60);

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, sizes, master) = (setup.ctx.clone(), setup.sizes.clone(), setup.master.to_owned());
    let (checked, same) = (ctx.clone(), sizes.clone());
    let disturbed = move || -> Result<Outcome> {
        wait_for_executors(&master, 2, EXECUTORS_TIMEOUT)?;
        let start = Instant::now();
        sum_of_ranks(&ctx, &sizes)?;
        let undisturbed = start.elapsed();

        let victim = executors_of(&master).first().context("there is no executor to kill")?.pid;
        let killer = thread::spawn(move || {
            thread::sleep(undisturbed / 2);
            processes::kill(victim)
        });
        let start = Instant::now();
        let sum = sum_of_ranks(&ctx, &sizes)?;
        let (seconds, undisturbed) = (start.elapsed().as_secs_f64(), undisturbed.as_secs_f64());
        killer.join().expect("sending a signal does not panic")?;
        let outcome = Outcome::real(sum).lasting(seconds).with("undisturbed_seconds", undisturbed);
        Ok(outcome.with("extra_seconds", seconds - undisturbed))
    };
    Job::new(disturbed, move || Ok(Checksum::real(sum_of_ranks(&checked, &same)?)))
}
