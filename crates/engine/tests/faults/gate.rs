//! A gate in a job: tasks tell that they are there and wait until they may go on.
//!
//! Made of files, since tasks run in other processes.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::waiting::found_within;

/// How long anything may take before a test is given up.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// The test's end of a gate.
pub(crate) struct Gate(TempDir);

impl Gate {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// What tasks need to find it.
    pub(crate) fn path(&self) -> String {
        self.0.path().to_str().unwrap().to_owned()
    }

    /// Waits for the first task; gives the id of its process.
    pub(crate) fn wait(&self) -> u32 {
        let came = self.0.path().join("came");
        wait_until("a task comes to the gate", || fs::read_to_string(&came).is_ok_and(|id| !id.is_empty()));
        fs::read_to_string(&came).unwrap().parse().unwrap()
    }

    /// Lets all through, now and later.
    pub(crate) fn open(&self) {
        fs::write(self.0.path().join("open"), "").unwrap();
    }
}

/// The task's end: tells who it is, if it is the first, and waits until the gate is open.
pub(crate) fn pass(gate: &str) {
    let folder = Path::new(gate);
    // Written under another name first, so that it is never seen half.
    let own = folder.join(format!("came-{}", std::process::id()));
    fs::write(&own, std::process::id().to_string()).unwrap();
    // Fails for all but the first.
    let _ = fs::hard_link(&own, folder.join("came"));
    let open: PathBuf = folder.join("open");
    let until = Instant::now() + LIMIT;
    while !open.exists() && Instant::now() < until {
        thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until something holds.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    found_within(LIMIT, what, || holds().then_some(()));
}
