//! A gate that holds tasks back until the test lets them go.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use firesteel::prelude::*;

/// Tasks wait in front of it, and end when they are killed. A `static` in a test's own function.
pub(crate) struct Gate {
    waiting: AtomicU32,
    open: AtomicBool,
}

impl Gate {
    pub(crate) const fn new() -> Self {
        Self { waiting: AtomicU32::new(0), open: AtomicBool::new(false) }
    }

    /// Shuts it, for the next backend of the same test.
    pub(crate) fn shut(&self) {
        self.waiting.store(0, Ordering::SeqCst);
        self.open.store(false, Ordering::SeqCst);
    }

    pub(crate) fn open(&self) {
        self.open.store(true, Ordering::SeqCst);
    }

    /// Waits inside a task.
    pub(crate) fn pass(&self) {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let task = TaskContext::current().expect("a task waits here");
        while !self.open.load(Ordering::SeqCst) {
            task.check();
            thread::yield_now();
        }
    }

    /// Waits in the test until a task is in front of the gate.
    pub(crate) fn until_reached(&self) {
        until(|| self.waiting.load(Ordering::SeqCst) > 0);
    }
}

/// Waits for a condition that must come true; a minute later the test has failed.
pub(crate) fn until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "the condition did not come true");
        thread::yield_now();
    }
}
