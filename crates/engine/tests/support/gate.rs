//! Where tests and tasks meet, although tasks may run in other processes: [`Gate`].

#![allow(dead_code, reason = "no test binary needs all of it")]

use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use firesteel::TaskContext;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

/// How long something may take that must happen.
const LIMIT: Duration = Duration::from_secs(60);
/// Between two looks: the thread that is waited for needs the core.
const PAUSE: Duration = Duration::from_millis(1);

/// Tasks arrive at it and may wait in front of it. It is made of files, and goes to tasks as their environment.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Gate {
    /// As long as the number of arrivals.
    arrivals: PathBuf,
    /// There when the gate is open.
    key: PathBuf,
    #[serde(skip)]
    _folder: Option<Arc<TempDir>>,
}

impl Gate {
    /// One that is shut.
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let (arrivals, key) = (folder.path().join("arrivals"), folder.path().join("key"));
        File::create(&arrivals).unwrap();
        Self { arrivals, key, _folder: Some(Arc::new(folder)) }
    }

    pub(crate) fn open(&self) {
        File::create(&self.key).unwrap();
    }

    /// Counts one that is here.
    pub(crate) fn arrive(&self) {
        OpenOptions::new().append(true).open(&self.arrivals).unwrap().write_all(&[1]).unwrap();
    }

    pub(crate) fn arrivals(&self) -> u64 {
        fs::metadata(&self.arrivals).unwrap().len()
    }

    /// Arrives and waits inside a task, until the gate is open or the task is killed.
    pub(crate) fn pass(&self) {
        self.arrive();
        let task = TaskContext::current().expect("a task waits here");
        until(|| {
            task.check();
            self.key.exists()
        });
    }

    /// Arrives and waits inside a task for others; returns whether so many came.
    pub(crate) fn meet(&self, others: u64) -> bool {
        self.arrive();
        let began = Instant::now();
        while self.arrivals() < others && began.elapsed() < LIMIT {
            thread::sleep(PAUSE);
        }
        self.arrivals() >= others
    }

    /// Waits in the test until a task has arrived.
    pub(crate) fn until_reached(&self) {
        until(|| self.arrivals() > 0);
    }
}

/// Waits for a condition that must come true; a minute later the test has failed.
pub(crate) fn until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < deadline, "the condition did not come true");
        thread::sleep(PAUSE);
    }
}

/// Runs two tasks that wait for each other, which needs both slots: none of them is gone or has a task of before.
pub(crate) fn assert_both_slots_work(ctx: &firesteel::Context, after: &str) {
    use firesteel::prelude::*;
    let rendezvous = ctx.range_into(0..2_u64, 2).with(Gate::new()).map(|gate, _| gate.meet(2));
    let met = rendezvous.collect_async().wait_timeout(2 * LIMIT);
    let met = met.unwrap_or_else(|_| panic!("{after}: no slot works"));
    assert_eq!(met.unwrap(), [true, true], "{after}: a slot is gone");
}
