//! Which processes a worker has started, written down for the one that comes after it: [`ProcessRecords`].
//!
//! A worker that is killed cannot end its processes. Executors and drivers notice and end by themselves; what does not
//! is ended by the next worker that uses the folder. Numbers of processes are used again, so a process is known by its
//! number, the time it began and the run of the machine. Where these cannot be found out, nothing is written down.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use rustix::process::{Pid, Signal, getpid, kill_process_group};
use serde::{Deserialize, Serialize};

/// Names one process among all that ever ran on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    pid: i32,
    /// In ticks since the machine started.
    began: u64,
    /// The run of the machine.
    boot: String,
}

impl Identity {
    /// The process that has this number now.
    fn of(pid: Pid) -> Option<Self> {
        let pid = pid.as_raw_nonzero().get();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program may contain anything, but it ends at the last bracket.
        let (_, fields) = stat.rsplit_once(')')?;
        let began = fields.split_whitespace().nth(19)?.parse().ok()?;
        Some(Self { pid, began, boot })
    }

    fn is_running(&self) -> bool {
        Pid::from_raw(self.pid).and_then(Self::of).as_ref() == Some(self)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    worker: Identity,
    process: Identity,
}

/// The records of this worker, in a folder that others may use too.
#[derive(Debug)]
pub(super) struct ProcessRecords {
    folder: PathBuf,
    worker: Option<Identity>,
}

/// Removes a record when the process has ended.
#[derive(Debug)]
pub(super) struct RecordGuard(Option<PathBuf>);

impl ProcessRecords {
    /// Uses `folder`, and ends the processes of dead workers that are written down there.
    pub(super) fn open(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        for entry in fs::read_dir(&folder)?.flatten() {
            end_orphan(&entry.path());
        }
        Ok(Self { folder, worker: Identity::of(getpid()) })
    }

    /// Writes down that a process runs.
    pub(super) fn note(&self, pid: Pid) -> RecordGuard {
        let (Some(worker), Some(process)) = (self.worker.clone(), Identity::of(pid)) else {
            return RecordGuard(None);
        };
        let path = self.folder.join(format!("{}-{}", process.pid, process.began));
        let write = || -> io::Result<()> {
            let json = serde_json::to_vec(&Record { worker, process })?;
            fs::File::create(&path)?.write_all(&json)
        };
        match write() {
            Ok(()) => RecordGuard(Some(path)),
            Err(error) => {
                tracing::warn!(file = %path.display(), %error, "cannot write a process down");
                RecordGuard(None)
            }
        }
    }
}

impl Drop for RecordGuard {
    fn drop(&mut self) {
        if let Some(path) = &self.0
            && let Err(error) = fs::remove_file(path)
        {
            tracing::debug!(file = %path.display(), %error, "cannot remove a record");
        }
    }
}

fn end_orphan(path: &Path) {
    let record = fs::read(path).ok().and_then(|json| serde_json::from_slice::<Record>(&json).ok());
    if let Some(Record { worker, process }) = record {
        if worker.is_running() {
            return;
        }
        if let Some(pid) = Pid::from_raw(process.pid).filter(|_| process.is_running()) {
            tracing::warn!(pid = process.pid, "ending a process whose worker was killed");
            if let Err(error) = kill_process_group(pid, Signal::KILL) {
                tracing::warn!(pid = process.pid, %error, "cannot end it");
                return;
            }
        }
    }
    // What cannot be read was cut off while it was written, and names no process.
    let _ = fs::remove_file(path);
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::{
        os::unix::process::{CommandExt, ExitStatusExt},
        process::{Child, Command, Stdio},
    };

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("1000").process_group(0).stdin(Stdio::null()).spawn().unwrap()
    }

    fn record(folder: &Path, worker: Identity, process: Identity) {
        let json = serde_json::to_vec(&Record { worker, process }).unwrap();
        fs::write(folder.join("record"), json).unwrap();
    }

    #[test]
    fn processes_of_a_dead_worker_are_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut orphan = sleeper();
        let mut worker = Identity::of(getpid()).unwrap();
        worker.began += 1;
        record(folder.path(), worker, Identity::of(Pid::from_child(&orphan)).unwrap());

        ProcessRecords::open(folder.path().to_owned()).unwrap();

        assert_eq!(orphan.wait().unwrap().signal(), Some(9));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn processes_of_a_live_worker_and_those_that_took_over_a_number_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mut other = sleeper();
        let process = Identity::of(Pid::from_child(&other)).unwrap();
        let worker = Identity::of(getpid()).unwrap();

        record(folder.path(), worker.clone(), process.clone());
        ProcessRecords::open(folder.path().to_owned()).unwrap();
        assert!(folder.path().join("record").exists(), "the worker lives");
        let dead = Identity { boot: "another".to_owned(), ..worker };
        record(folder.path(), dead, Identity { began: process.began + 1, ..process });
        ProcessRecords::open(folder.path().to_owned()).unwrap();

        assert_eq!(other.try_wait().unwrap(), None);
        other.kill().unwrap();
        assert_eq!(other.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn a_record_goes_with_its_process() {
        let folder = tempfile::tempdir().unwrap();
        let records = ProcessRecords::open(folder.path().to_owned()).unwrap();

        let guard = records.note(getpid());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        drop(guard);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
