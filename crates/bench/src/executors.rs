//! The executors of an application, found among the processes of this machine.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use crate::processes::{self, Process};

/// The first argument of a process that was started as an executor.
const EXECUTOR: &str = "--firesteel-executor";

/// The executors that work for this process at `master`, in the order of their ids.
///
/// A cluster that this process started itself has them among its descendants. On any other they belong to a worker: then
/// they are the executors that came after this process, which holds as long as no other application starts meanwhile.
pub fn executors_of(master: &str) -> Vec<Process> {
    let here = std::process::id();
    if master.starts_with("local-cluster") {
        return among(processes::descendants(here), 0);
    }
    let since = processes::look_up(here).map_or(0, |process| process.started);
    among(processes::all(), since)
}

fn among(mut processes: Vec<Process>, since: u64) -> Vec<Process> {
    processes.retain(|process| {
        process.started >= since && process.arguments.get(1).is_some_and(|word| word == EXECUTOR)
    });
    processes.sort_unstable_by_key(|process| process.pid);
    processes
}

/// Waits until there are `count` executors.
pub fn wait_for_executors(master: &str, count: usize, timeout: Duration) -> Result<()> {
    let start = Instant::now();
    while executors_of(master).len() < count {
        if start.elapsed() > timeout {
            bail!("{master} has {} executors after {timeout:?}, not {count}", executors_of(master).len());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executors_are_told_by_their_first_argument_and_their_age() {
        let process = |pid, started, words: &[&str]| {
            let arguments = words.iter().map(|word| (*word).to_owned()).collect();
            Process { pid, parent: 1, started, arguments }
        };
        let all = vec![
            process(9, 50, &["app", EXECUTOR]),
            process(3, 50, &["app", EXECUTOR]),
            process(4, 50, &["app", "list"]),
            process(5, 10, &["app", EXECUTOR]),
            process(6, 50, &["app"]),
        ];

        let pids: Vec<u32> = among(all, 20).iter().map(|process| process.pid).collect();

        assert_eq!(pids, [3, 9]);
    }
}
