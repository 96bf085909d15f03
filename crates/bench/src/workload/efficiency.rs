//! How much of the slots' time is useful, by the length of tasks.

use std::{
    hint::spin_loop,
    path::Path,
    time::{Duration, Instant},
};

use firesteel::prelude::*;

use super::{Job, Setup, Sizes, Targets, Workload};
use crate::{
    checksum::{Answer, Checksum},
    hand::{both, share},
};

pub(super) const EFFICIENCY_100US: Workload = Workload {
    name: "efficiency_100us",
    what: "20,000 tasks of 100 µs: useful time over slot time",
    sizes: |scale| sizes(100, 20_000, scale),
    targets: Targets { rate: Some(0.5), ..Targets::NONE },
    ..PLAIN
};

pub(super) const EFFICIENCY_1MS: Workload = Workload {
    name: "efficiency_1ms",
    what: "2,000 tasks of 1 ms: useful time over slot time",
    sizes: |scale| sizes(1_000, 2_000, scale),
    targets: Targets { rate: Some(0.9), ..Targets::NONE },
    ..PLAIN
};

pub(super) const EFFICIENCY_10MS: Workload = Workload {
    name: "efficiency_10ms",
    what: "200 tasks of 10 ms: useful time over slot time",
    sizes: |scale| sizes(10_000, 200, scale),
    targets: Targets { rate: Some(0.98), ..Targets::NONE },
    ..PLAIN
};

pub(super) const EFFICIENCY_100MS: Workload = Workload {
    name: "efficiency_100ms",
    what: "40 tasks of 100 ms: useful time over slot time",
    sizes: |scale| sizes(100_000, 40, scale),
    targets: Targets { rate: Some(0.995), ..Targets::NONE },
    ..PLAIN
};

const PLAIN: Workload = Workload {
    unit: "s of work per slot",
    units: |sizes| (sizes.of("tasks") * sizes.of("micros")) as f64 / 1e6 / SLOTS as f64,
    engine,
    limit: Some(limit),
    runs: 3,
    ..Workload::PLAIN
};

/// Every system has two.
const SLOTS: u64 = 2;

fn sizes(micros: u64, tasks: u64, scale: f64) -> Sizes {
    // As many tasks on each slot, or the slots would be blamed for an odd one.
    let pairs = Sizes::default().scaled("tasks", tasks / SLOTS, scale).of("tasks");
    Sizes::default().with("tasks", pairs * SLOTS).with("micros", micros)
}

fn work(micros: u64) {
    let (start, length) = (Instant::now(), Duration::from_micros(micros));
    while start.elapsed() < length {
        spin_loop();
    }
}

fn engine(setup: &Setup<'_>) -> Job {
    let (ctx, tasks, micros) = (setup.ctx.clone(), setup.sizes.of("tasks"), setup.sizes.of("micros"));
    let rows = move || ctx.range_into(0..tasks, tasks as u32);
    let checked = rows.clone();
    Job::new(
        move || {
            rows().with(micros).for_each(|micros, _| work(*micros))?;
            Ok(Answer::Nothing.into())
        },
        move || Ok(Checksum::rows(checked().count()?)),
    )
}

fn limit(sizes: &Sizes, _: &Path) -> Job {
    let (tasks, micros) = (sizes.of("tasks"), sizes.of("micros"));
    Job::new(
        move || {
            both(|thread| share(tasks, thread).for_each(|_| work(micros)));
            Ok(Answer::Nothing.into())
        },
        move || Ok(Checksum::rows(tasks)),
    )
}
