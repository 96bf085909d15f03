//! Gates in a job: tasks tell that they are there and wait until they may go on.
//!
//! Made of files, since tasks run in other processes.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use firesteel::prelude::*;

use crate::process::{LIMIT, wait_for};

/// The test's end of a gate.
pub(crate) struct Gate(PathBuf);

impl Gate {
    /// A closed gate in this folder.
    pub(crate) fn new(folder: PathBuf) -> Self {
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// Waits until so many processes have come; gives their ids.
    pub(crate) fn wait(&self, count: usize) -> BTreeSet<u32> {
        let what = format!("{count} processes come to {}", self.0.display());
        wait_for(&what, || Some(self.came()).filter(|came| came.len() >= count))
    }

    /// Those who have come so far.
    pub(crate) fn came(&self) -> BTreeSet<u32> {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter_map(|name| name.to_str()?.strip_prefix("came-")?.parse().ok()).collect()
    }

    /// Lets all through, now and later.
    pub(crate) fn open(&self) {
        fs::write(self.0.join("open"), "").unwrap();
    }
}

/// The task's end: tells who it is and waits until the gate is open, or gone. Where there is no gate, goes on.
pub(crate) fn pass(gate: &str) {
    let gate = Path::new(gate);
    if !gate.exists() {
        return;
    }
    fs::write(gate.join(format!("came-{}", std::process::id())), "").unwrap();
    let (open, until) = (gate.join("open"), Instant::now() + LIMIT);
    while gate.exists() && !open.exists() {
        assert!(Instant::now() < until, "{} is not opened", gate.display());
        thread::sleep(Duration::from_millis(2));
        if let Some(task) = TaskContext::current() {
            task.check();
        }
    }
}
