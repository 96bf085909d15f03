//! Measures and prints.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::bench_size::sized;

/// The lines of the bench, printed as they come.
pub(crate) struct Table {
    group: &'static str,
}

impl Table {
    pub(crate) fn new() -> Self {
        println!("{:<10} {:<16} {:<34} {:>9} {:>8}", "group", "rows", "what", "MB/s", "ratio");
        Self { group: "" }
    }

    /// What follows belongs to this group.
    pub(crate) fn group(&mut self, name: &'static str) {
        self.group = name;
    }

    /// Measures `call`, which handles `bytes` bytes of rows and returns how many bytes they are when stored.
    pub(crate) fn line(&mut self, rows: &str, what: &str, bytes: u64, mut call: impl FnMut() -> u64) {
        let mut best = Duration::MAX;
        let mut stored = 0;
        // The best of several rounds: what disturbs a round only ever makes it longer.
        for _ in 0..sized(15, 1) {
            let start = Instant::now();
            stored = black_box(&mut call)();
            best = best.min(start.elapsed());
        }
        let speed = bytes as f64 / best.as_secs_f64() / 1e6;
        let ratio = stored as f64 / bytes as f64;
        println!("{:<10} {rows:<16} {what:<34} {speed:>9.0} {ratio:>8.2}", self.group);
    }
}
