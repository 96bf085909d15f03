//! Copies what a process writes to its logs: [`copy_until`].

use std::{
    fs::File,
    io::{self, Read},
    os::{fd::OwnedFd, unix::net::UnixStream},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::{Errno, ioctl_fionbio},
};

use super::rolling::RollingFile;

const BUFFER_BYTES: usize = 64 << 10;

/// The logs of a process.
#[derive(Debug)]
pub(super) struct Outputs {
    pub(super) stdout: RollingFile,
    pub(super) stderr: RollingFile,
}

/// A pipe and the log it goes to.
struct Copy {
    pipe: Option<File>,
    log: RollingFile,
    /// Whether it was said that the log cannot be written.
    warned: bool,
}

/// Copies until `ended` reports that the process has ended; then calls `end` and copies what is left.
///
/// Only what is in the pipes is left: a process that left the group may hold them open for ever.
pub(super) fn copy_until(
    ended: &UnixStream,
    pipes: (Option<OwnedFd>, Option<OwnedFd>),
    outputs: Outputs,
    end: impl FnOnce(),
) {
    let mut copies = [Copy::new(pipes.0, outputs.stdout), Copy::new(pipes.1, outputs.stderr)];
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let mut wanted = vec![PollFd::new(ended, PollFlags::IN)];
        wanted.extend(
            copies.iter().filter_map(|copy| copy.pipe.as_ref()).map(|pipe| PollFd::new(pipe, PollFlags::IN)),
        );
        match poll(&mut wanted, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => {
                tracing::error!(%error, "cannot wait for the output of a process");
                break;
            }
        }
        let has_ended = !wanted[0].revents().is_empty();
        drop(wanted);
        if has_ended {
            break;
        }
        for copy in &mut copies {
            copy.copy_once(&mut buffer);
        }
    }
    end();
    for copy in &mut copies {
        while copy.copy_once(&mut buffer) {}
    }
}

impl Copy {
    fn new(pipe: Option<OwnedFd>, log: RollingFile) -> Self {
        let pipe = pipe.filter(|pipe| match ioctl_fionbio(pipe, true) {
            Ok(()) => true,
            Err(error) => {
                tracing::error!(%error, "cannot read the output of a process");
                false
            }
        });
        Self { pipe: pipe.map(File::from), log, warned: false }
    }

    /// Copies what one read gives; false when there is nothing now, or will be nothing more.
    fn copy_once(&mut self, buffer: &mut [u8]) -> bool {
        let Some(pipe) = &mut self.pipe else { return false };
        match pipe.read(buffer) {
            Ok(0) => {
                self.pipe = None;
                false
            }
            Ok(len) => {
                self.write(&buffer[..len]);
                true
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => true,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            Err(error) => {
                tracing::error!(%error, "cannot read the output of a process");
                self.pipe = None;
                false
            }
        }
    }

    /// A full disk costs the log and not the process: what cannot be written is dropped.
    fn write(&mut self, bytes: &[u8]) {
        match self.log.write(bytes) {
            Ok(()) => self.warned = false,
            Err(error) if !self.warned => {
                tracing::warn!(%error, "cannot write the log of a process; its output is dropped");
                self.warned = true;
            }
            Err(_) => {}
        }
    }
}
