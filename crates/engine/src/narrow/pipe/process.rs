//! A running program that can be killed from any thread.

use std::{
    io,
    process::{Child, ExitStatus},
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};

/// The longest time between two checks whether a program has ended that has closed its output.
const EXIT_POLL_INTERVAL_MAX: Duration = Duration::from_millis(50);

/// A program and everything that it started.
pub(super) struct Process {
    group: Pid,
    state: Mutex<State>,
}

struct State {
    child: Child,
    status: Option<ExitStatus>,
}

impl Process {
    /// Takes over a child that leads a process group.
    pub(super) fn new(child: Child) -> Self {
        Self { group: Pid::from_child(&child), state: Mutex::new(State { child, status: None }) }
    }

    /// Kills the program with all that it started, so that no process holds the other ends of its pipes.
    pub(super) fn kill(&self) {
        let state = self.state.lock();
        // Once its status was taken, the number of the group may belong to another process.
        if state.status.is_none()
            && let Err(error) = kill_process_group(self.group, Signal::KILL)
        {
            tracing::warn!(group = %self.group, %error, "cannot kill an external program");
        }
    }

    /// Waits until the program is over; calls `check` in between.
    pub(super) fn wait(&self, mut check: impl FnMut()) -> io::Result<ExitStatus> {
        let mut pause = Duration::from_micros(50);
        loop {
            if let Some(status) = self.look()? {
                return Ok(status);
            }
            check();
            thread::sleep(pause);
            pause = (pause * 2).min(EXIT_POLL_INTERVAL_MAX);
        }
    }

    fn look(&self) -> io::Result<Option<ExitStatus>> {
        let mut state = self.state.lock();
        if state.status.is_none() {
            state.status = state.child.try_wait()?;
        }
        Ok(state.status)
    }
}
