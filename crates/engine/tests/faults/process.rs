//! Processes by their id.

use std::fs;

use firesteel::prelude::*;
use rustix::process::{Pid, Signal, kill_process};

/// Sends a signal to a process that this test started.
pub(crate) fn signal(process: u32, signal: Signal) {
    let pid = Pid::from_raw(process.cast_signed()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Whether a process is there, and not only its last words.
pub(crate) fn is_alive(process: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// The processes of an application's executors.
pub(crate) fn executors(ctx: &Context, wanted: usize) -> Vec<u32> {
    let mut found = Vec::new();
    crate::gate::wait_until("all executors run tasks", || {
        // Tasks that take a while do not all fit on one executor.
        let ids = ctx.range_into(0..16, 16).map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            std::process::id()
        });
        found = ids.collect().unwrap();
        found.sort_unstable();
        found.dedup();
        found.len() == wanted
    });
    found
}
