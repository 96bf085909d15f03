//! A process among all that ever ran on this machine: [`Process`].

use std::{
    fs,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
    io::Errno,
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};
use serde::{Deserialize, Serialize};

/// Names one process among all that ever ran on this machine: its number alone may be another's by now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    /// In ticks since the machine started.
    began: u64,
    /// The run of the machine.
    boot: String,
}

/// How the end of a process came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was not there any more.
    WasGone,
    /// It ended when it was asked to.
    Asked,
    /// It was ended by force.
    Forced,
    /// It lives on.
    Lives,
}

impl Process {
    /// The process that has this number now, unless it has ended and only its number is left.
    pub(super) fn of(pid: i32) -> Option<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program may contain anything, but it ends at the last bracket.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_whitespace();
        if matches!(fields.next()?, "Z" | "X") {
            return None;
        }
        let began = fields.nth(18)?.parse().ok()?;
        Some(Self { pid, began, boot })
    }

    /// Whether it runs.
    pub(super) fn is_running(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }

    /// Asks it to end.
    pub(super) fn ask_to_end(&self) -> Option<Ending> {
        let file = self.open()?;
        // It may have ended since.
        let _ = pidfd_send_signal(&file, Signal::TERM);
        Some(Ending { file })
    }

    /// A handle that means this process and never another one.
    fn open(&self) -> Option<OwnedFd> {
        let file = pidfd_open(Pid::from_raw(self.pid)?, PidfdFlags::empty()).ok()?;
        // Looked at once it cannot become another's any more.
        self.is_running().then_some(file)
    }
}

/// A process that was asked to end.
#[derive(Debug)]
pub(super) struct Ending {
    file: OwnedFd,
}

impl Ending {
    /// Waits until it has ended; after `timeout` ends it by force.
    pub(super) fn wait(self, timeout: Duration) -> End {
        const KILL_TIMEOUT: Duration = Duration::from_secs(5);
        if self.has_ended_within(timeout) {
            return End::Asked;
        }
        let _ = pidfd_send_signal(&self.file, Signal::KILL);
        if self.has_ended_within(KILL_TIMEOUT) { End::Forced } else { End::Lives }
    }

    fn has_ended_within(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout =
                Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&timeout)) {
                Ok(ready) => return ready > 0,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn sleeper() -> (Child, Process) {
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        let process = Process::of(child.id().cast_signed()).unwrap();
        (child, process)
    }

    #[test]
    fn a_process_is_asked_to_end_and_then_it_is_gone() {
        let (mut child, process) = sleeper();
        assert!(process.is_running());

        assert_eq!(process.ask_to_end().unwrap().wait(Duration::from_secs(30)), End::Asked);

        assert!(!process.is_running(), "what is left of it until its parent looks does not count");
        child.wait().unwrap();
        assert!(process.ask_to_end().is_none());
    }

    #[test]
    fn another_process_with_the_same_number_is_left_alone() {
        let (mut child, process) = sleeper();
        let former = Process { began: process.began - 1, ..process.clone() };
        let before_the_last_start = Process { boot: "another".to_owned(), ..process.clone() };

        assert!(former.ask_to_end().is_none() && before_the_last_start.ask_to_end().is_none());

        assert!(process.is_running());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn who_does_not_listen_is_ended_by_force() {
        let script = "trap '' TERM; echo ready; while :; do sleep 0.01; done";
        let mut child =
            Command::new("sh").args(["-c", script]).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut ready = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
        let process = Process::of(child.id().cast_signed()).unwrap();

        assert_eq!(process.ask_to_end().unwrap().wait(Duration::from_millis(20)), End::Forced);

        child.wait().unwrap();
    }
}
