//! Tasks that do nothing, in one stage: what a task costs.

use std::path::Path;

use firesteel::prelude::*;

use super::{Job, Outcome, Setup, Sizes, Targets, Workload, rows::digest};
use crate::{
    checksum::{Answer, Digest},
    hand::{Pool, Task},
};

pub(super) const EMPTY_TASKS: Workload = Workload {
    name: "empty_tasks",
    what: "20,000 tasks that do nothing, in one stage",
    unit: "tasks",
    sizes: |scale| Sizes::default().scaled("tasks", 20_000, scale),
    units: |sizes| sizes.of("tasks") as f64,
    engine,
    limit: Some(limit),
    targets: Targets::spark(100.0, 60.0),
    ..Workload::PLAIN
};

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, tasks) = (setup.ctx.clone(), setup.sizes.of("tasks"));
    let rows = move || ctx.range_into(0..tasks, tasks as u32);
    let checked = rows.clone();
    Job::new(
        move || {
            rows().for_each(|_| ())?;
            Ok(Answer::Nothing.into())
        },
        move || Ok(digest(&checked())?.into()),
    )
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let (pool, tasks) = (Pool::new(), sizes.of("tasks"));
    Job::new(
        move || {
            let tasks = (0..tasks).map(|_| Box::new(|| ()) as Task<()>).collect();
            Ok(Outcome::rows(pool.run(tasks).len() as u64))
        },
        move || Ok(Digest::of(0..tasks).into()),
    )
}
