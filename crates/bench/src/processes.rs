//! The processes of this machine, as `/proc` tells: whose children they are, and how much memory they took.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};

/// One process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Who started it.
    pub parent: u32,
    /// When it started, in ticks since the machine did.
    pub started: u64,
    /// The program and its arguments.
    pub arguments: Vec<String>,
}

/// Every process that can be seen.
pub fn all() -> Vec<Process> {
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(look_up).collect()
}

/// One process, unless it is gone.
pub fn look_up(pid: u32) -> Option<Process> {
    let folder = Path::new("/proc").join(pid.to_string());
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    let (parent, started) = read_stat(&stat)?;
    let line = fs::read(folder.join("cmdline")).ok()?;
    let arguments = line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    Some(Process { pid, parent, started, arguments: arguments.filter(|word| !word.is_empty()).collect() })
}

/// The parent and the start time in a line of `/proc/PID/stat`. The name before them may hold blanks and brackets.
fn read_stat(stat: &str) -> Option<(u32, u64)> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some((fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?))
}

/// The children of `pid`, their children and so on.
pub fn descendants(pid: u32) -> Vec<Process> {
    below(pid, all())
}

fn below(pid: u32, mut others: Vec<Process>) -> Vec<Process> {
    let mut family: Vec<Process> = Vec::new();
    let mut next = vec![pid];
    while let Some(parent) = next.pop() {
        let children = others.extract_if(.., |process| process.parent == parent).collect::<Vec<_>>();
        next.extend(children.iter().map(|child| child.pid));
        family.extend(children);
    }
    family
}

/// The most memory that a process had at once, in bytes; 0 when it is gone.
pub fn peak_resident_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    peak_in(&status).unwrap_or(0)
}

fn peak_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// Kills a process at once, without a chance to clean up.
pub fn kill(pid: u32) -> Result<()> {
    send(pid, Signal::KILL)
}

/// Asks a process to end.
pub fn terminate(pid: u32) -> Result<()> {
    send(pid, Signal::TERM)
}

fn send(pid: u32, signal: Signal) -> Result<()> {
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let raw = raw.with_context(|| format!("{pid} is no process id"))?;
    kill_process(raw, signal).with_context(|| format!("cannot send a signal to process {pid}"))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_line_of_stat_is_read_whatever_the_program_is_called() {
        let line = "42 (a (b) c) S 7 42 42 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 9001 2 3";

        assert_eq!(read_stat(line), Some((7, 9001)));
        assert_eq!(read_stat("nonsense"), None);
    }

    #[test]
    fn the_peak_is_given_in_bytes() {
        assert_eq!(peak_in("Name:\ta\nVmHWM:\t    5432 kB\nVmRSS:\t1 kB\n"), Some(5432 << 10));
        assert_eq!(peak_in("Name:\ta\n"), None);
        assert!(peak_resident_bytes(std::process::id()) > 1 << 20);
    }

    #[test]
    fn a_child_is_found_below_its_parent_and_can_be_ended() {
        let mut child = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();

        let family = descendants(std::process::id());
        let found = family.iter().find(|process| process.pid == child.id()).unwrap();
        assert_eq!(found.parent, std::process::id());
        kill(child.id()).unwrap();

        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn grandchildren_are_below_too_and_strangers_are_not() {
        let process = |pid, parent| Process { pid, parent, started: 0, arguments: Vec::new() };
        let all = vec![process(1, 0), process(3, 2), process(2, 1), process(4, 9), process(5, 3)];

        let mut pids: Vec<u32> = below(2, all).iter().map(|process| process.pid).collect();
        pids.sort_unstable();

        assert_eq!(pids, [3, 5]);
    }
}
