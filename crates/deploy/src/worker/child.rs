//! One process: its group, its signals and its end: [`Child`].

use std::{
    io::{self, Write},
    os::{
        fd::OwnedFd,
        unix::{
            net::UnixStream,
            process::{CommandExt, ExitStatusExt},
        },
    },
    process::{Command, ExitStatus, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use firesteel_scheduler::worker::ProcessSignal;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::output::{Outputs, copy_until};

/// A file that was just written cannot be run while any process has it open for writing, and one that another thread
/// is starting has, until it runs its own program. So many times the start is tried again.
const BUSY_RETRIES_MAX: u32 = 100;

const BUSY_RETRY_DELAY: Duration = Duration::from_millis(10);

/// The code of a process that a signal ended, as shells count.
const SIGNALLED: i32 = 128;

/// A process that was started, and is waited for.
///
/// It leads a group of its own. So a ^C at the terminal of the worker does not reach it, and everything that it starts
/// can be ended with it.
#[derive(Debug)]
pub(super) struct Child {
    child: std::process::Child,
    handle: ChildHandle,
}

/// Sends signals to a process for as long as it is there.
#[derive(Clone, Debug)]
pub(super) struct ChildHandle {
    pid: Pid,
    /// Whether the process has ended. Its number may belong to another from then on.
    has_ended: Arc<Mutex<bool>>,
}

impl Child {
    /// Starts a process with its output in pipes.
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut tries = 0;
        let child = loop {
            match command.spawn() {
                Err(error)
                    if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_RETRIES_MAX =>
                {
                    tries += 1;
                    thread::sleep(BUSY_RETRY_DELAY);
                }
                spawned => break spawned?,
            }
        };
        let pid = Pid::from_child(&child);
        Ok(Self { child, handle: ChildHandle { pid, has_ended: Arc::default() } })
    }

    pub(super) fn handle(&self) -> ChildHandle {
        self.handle.clone()
    }

    /// The operating system's number of it.
    pub(super) fn pid(&self) -> Pid {
        self.handle.pid
    }

    /// Copies what the process writes until it ends, and gives its exit code.
    ///
    /// All other processes of its group end with it. All that it wrote before is in its logs when this returns.
    pub(super) fn run(mut self, outputs: Outputs) -> i32 {
        let pipes =
            (self.child.stdout.take().map(OwnedFd::from), self.child.stderr.take().map(OwnedFd::from));
        let handle = self.handle.clone();
        match wait_on_thread(self.handle.pid) {
            Ok(ended) => copy_until(&ended, pipes, outputs, || handle.end()),
            Err(error) => {
                tracing::error!(pid = self.handle.pid.as_raw_nonzero(), %error, "no thread to wait for a process");
                self.handle.end();
            }
        }
        match self.child.wait() {
            Ok(status) => exit_code(status),
            Err(error) => {
                tracing::error!(%error, "cannot wait for a process");
                -1
            }
        }
    }
}

impl ChildHandle {
    /// Sends a signal to the process and all that it started.
    pub(super) fn signal(&self, signal: ProcessSignal) {
        let has_ended = self.has_ended.lock();
        if *has_ended {
            return;
        }
        let signal = match signal {
            ProcessSignal::Terminate => Signal::TERM,
            ProcessSignal::Destroy => Signal::KILL,
        };
        if let Err(error) = kill_process_group(self.pid, signal) {
            tracing::warn!(pid = self.pid.as_raw_nonzero(), ?signal, %error, "cannot signal a process");
        }
    }

    /// Ends what is left of the group. The process has ended or must, but was not waited for: its number is its own.
    fn end(&self) {
        let mut has_ended = self.has_ended.lock();
        *has_ended = true;
        // Fails when no process is left, as is the rule.
        let _ = kill_process_group(self.pid, Signal::KILL);
    }
}

/// Waits for the end of a process on a thread, which then closes the other end of what is returned. The process is
/// left to be waited for again, so that its number stays its own.
fn wait_on_thread(pid: Pid) -> io::Result<UnixStream> {
    let (mut wake, ended) = UnixStream::pair()?;
    let wait = move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
        // The other end waits for this, or for the end of the connection.
        let _ = wake.write_all(&[0]);
    };
    thread::Builder::new().name("wait".to_owned()).stack_size(128 << 10).spawn(wait)?;
    Ok(ended)
}

fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| SIGNALLED + signal)).unwrap_or(-1)
}
