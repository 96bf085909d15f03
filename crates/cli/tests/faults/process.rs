//! Processes by their id, and what they hold.

use std::{fs, time::Duration};

use rustix::process::{Pid, Signal, kill_process};

use crate::waiting::found_within;

/// Longer than anything takes that works.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Waits until `look` finds something.
pub(crate) fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    found_within(LIMIT, what, look)
}

/// Waits until something holds.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}

/// Sends a signal to a process that this test started.
pub(crate) fn signal(process: u32, signal: Signal) {
    kill_process(Pid::from_raw(process.cast_signed()).unwrap(), signal).unwrap();
}

/// Whether a process is there, and not only its last words.
pub(crate) fn is_alive(process: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// Waits until a process has ended by itself.
pub(crate) fn wait_until_gone(process: u32) {
    wait_until(&format!("process {process} ends"), || !is_alive(process));
}

/// The variables of a process.
pub(crate) fn environment(process: u32) -> Vec<(String, String)> {
    let bytes = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let variables = text.split('\0').filter_map(|variable| variable.split_once('='));
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The processes, other than this one, whose environment has this variable.
pub(crate) fn processes_with(variable: &(String, String)) -> Vec<u32> {
    let numbers =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let others = numbers.filter(|number| *number != std::process::id() && is_alive(*number));
    others.filter(|number| environment(*number).contains(variable)).collect()
}

/// The ports on which a process listens.
pub(crate) fn listening(process: u32) -> Vec<u16> {
    let open = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let sockets: Vec<String> = open
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok()?.to_str().map(str::to_owned))
        .filter_map(|name| Some(name.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    // Each line: number, local address, remote address, state, and as its tenth word the socket.
    let listed = fs::read_to_string(format!("/proc/{process}/net/tcp")).unwrap();
    let lines = listed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let own =
        lines.filter(|words| words.len() > 9 && words[3] == "0A" && sockets.contains(&words[9].to_owned()));
    own.filter_map(|words| u16::from_str_radix(words[1].split_once(':')?.1, 16).ok()).collect()
}
