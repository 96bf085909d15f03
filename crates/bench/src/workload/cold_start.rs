//! From the start of a process to its first result.

use std::path::Path;

use firesteel::prelude::*;

use super::{Job, Outcome, Setup, Sizes, Targets, Workload};
use crate::{
    checksum::Checksum,
    hand::{both, share},
};

pub(super) const COLD_START: Workload = Workload {
    name: "cold_start",
    what: "from the start of the process to its first result",
    unit: "starts",
    sizes: |_| Sizes::default().with("rows", 100),
    units: |_| 1.0,
    engine,
    limit: Some(limit),
    cold: true,
    runs: 10,
    targets: Targets { seconds_local: Some(0.020), seconds_cluster: Some(0.300), ..Targets::NONE },
    ..Workload::PLAIN
};

fn engine(setup: &Setup<'_>) -> Job {
    let rows = setup.ctx.range_into(0..setup.sizes.of("rows"), 2);
    let checked = rows.clone();
    Job::new(
        move || Ok(Outcome::rows(rows.map(|x| x * 2).sum()?)),
        move || Ok(Checksum::rows(checked.map(|x| x * 2).sum()?)),
    )
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let rows = sizes.of("rows");
    let sum = move || both(|thread| share(rows, thread).map(|x| x * 2).sum::<u64>()).iter().sum();
    Job::new(move || Ok(Outcome::rows(sum())), move || Ok(Checksum::rows(sum())))
}
