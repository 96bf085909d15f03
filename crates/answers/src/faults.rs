//! What goes wrong on purpose: each fault once, at a named point.
//!
//! Faults need no hook in the engine. A closure in the lineage sees the row that sets a fault off; what it does there
//! happens before the task's output is published, or while it reads what others made. An accumulator that kills its
//! process when it is serialized does so between the publication of the output and its report.

use std::{
    fs, io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process, thread,
    time::{Duration, Instant},
};

use firesteel::{Accumulate, prelude::*};
use rustix::process::{Pid, Signal, getppid, kill_process};
use serde::{Deserialize, Serialize, Serializer};

use crate::{
    case::{Act, Backend, Fault, Files},
    kind::{Kind, Row},
    shape::mixed,
};

/// How long the driver may take to notice that an executor is gone.
const NOTICE_TIMEOUT: Duration = Duration::from_secs(10);

/// How often it is asked whether it has.
const NOTICE_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The folder of a case, with what its processes write and the faults that have happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Folder(String);

impl Folder {
    pub(crate) fn new(path: &Path) -> Self {
        Self(path.to_string_lossy().into_owned())
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        Path::new(&self.0).join(name)
    }

    /// Where shuffle files and blocks are.
    pub(crate) fn local(&self) -> PathBuf {
        self.join("local")
    }

    /// Whether this is the first time that the fault is due.
    fn claims(&self, fault: u32) -> bool {
        fs::File::create_new(self.join(&format!("fault-{fault}"))).is_ok()
    }

    /// Removes a file, if there is one.
    pub(crate) fn remove(&self, files: Files, pick: u64) {
        if let Some(file) = self.one_of(files, pick) {
            // It may be gone already.
            let _ = fs::remove_file(file);
        }
    }

    /// Changes one byte of a file, if there is one; of every spill, since much of them may have been read.
    pub(crate) fn damage(&self, files: Files, pick: u64) {
        // A file may be gone already, or be written just now.
        match files {
            Files::Outputs | Files::Blocks => {
                let _ = self.one_of(files, pick).map(|file| replace_damaged(&file, pick));
            }
            Files::Spills => {
                for file in self.all_of(files) {
                    let _ = damage_in_place(&file, pick);
                }
            }
        }
    }

    fn all_of(&self, files: Files) -> Vec<PathBuf> {
        let mut found = Vec::new();
        find(&self.local(), files, &mut found);
        found.sort();
        found
    }

    fn one_of(&self, files: Files, pick: u64) -> Option<PathBuf> {
        let mut found = self.all_of(files);
        let place = mixed(pick).checked_rem(found.len() as u64)?;
        Some(found.swap_remove(place as usize))
    }
}

/// The files of a kind below a folder.
fn find(folder: &Path, files: Files, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, files, found);
            continue;
        }
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_one = match files {
            Files::Outputs => name.starts_with("shuffle_") && name.ends_with(".data"),
            Files::Blocks => name.starts_with("rdd_") && !name.ends_with(".tmp"),
            Files::Spills => name.starts_with("temp_spill_"),
        };
        if is_one {
            found.push(path);
        }
    }
}

/// Puts another file in its place, since a reader may have this one mapped.
fn replace_damaged(file: &Path, pick: u64) -> io::Result<()> {
    let mut bytes = fs::read(file)?;
    if let Some(place) = damaged_place(bytes.len() as u64, pick) {
        bytes[place as usize] ^= 1 << (pick % 8);
    }
    let other = file.with_extension("damaged");
    fs::write(&other, bytes)?;
    fs::rename(&other, file)
}

/// Changes the file itself, so that a process that has it open reads the other byte.
fn damage_in_place(file: &Path, pick: u64) -> io::Result<()> {
    let file = fs::File::options().read(true).write(true).open(file)?;
    if let Some(place) = damaged_place(file.metadata()?.len(), pick) {
        let mut byte = [0];
        file.read_exact_at(&mut byte, place)?;
        file.write_all_at(&[byte[0] ^ (1 << (pick % 8))], place)?;
    }
    Ok(())
}

fn damaged_place(len: u64, pick: u64) -> Option<u64> {
    mixed(pick ^ 1).checked_rem(len)
}

/// The first argument of executors.
const EXECUTOR: &str = "--firesteel-executor";

fn is_executor() -> bool {
    std::env::args().nth(1).is_some_and(|first| first == EXECUTOR)
}

/// The executors of this process's driver, but for this process itself: children of the driver.
fn executors() -> Vec<Pid> {
    let driver = if is_executor() { getppid() } else { Pid::from_raw(process::id().cast_signed()) };
    let Some(driver) = driver.map(|driver| driver.as_raw_nonzero().to_string()) else { return Vec::new() };
    let is_ours = |process: &Path| {
        let read = |name| fs::read_to_string(process.join(name)).unwrap_or_default();
        // The second field is the program's name in parentheses, which may hold anything.
        let stat = read("stat");
        let parent = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().nth(1));
        parent == Some(driver.as_str()) && read("cmdline").split('\0').nth(1) == Some(EXECUTOR)
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let id = |path: PathBuf| path.file_name()?.to_str()?.parse().ok().and_then(Pid::from_raw);
    let mut found: Vec<Pid> = processes.filter(|process| is_ours(process)).filter_map(id).collect();
    found.retain(|id| id.as_raw_nonzero().get() != process::id().cast_signed());
    found
}

/// Kills one of the other executors; whether there was one.
fn kill_executor() -> bool {
    executors().first().is_some_and(|id| kill_process(*id, Signal::KILL).is_ok())
}

/// Kills an executor, and may wait until the driver has noticed.
pub(crate) fn kill_executor_of(ctx: &Context, is_noticed: bool) -> firesteel::Result<()> {
    let gone =
        || Ok::<_, firesteel::Error>(ctx.status()?.executors().iter().filter(|one| !one.is_active).count());
    let before = gone()?;
    if kill_executor() && is_noticed {
        let until = Instant::now() + NOTICE_TIMEOUT;
        while gone()? == before && Instant::now() < until {
            thread::sleep(NOTICE_POLL_INTERVAL);
        }
    }
    Ok(())
}

/// Kills its process when it is serialized, if it was armed: between the publication of a task's output and its report.
///
/// Only a task arms it: what is read is not, be it a report that came through or a value that the codec made up.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "()")]
pub(crate) struct DeadlyReport {
    armed: Option<(Folder, u32)>,
}

impl From<()> for DeadlyReport {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl Serialize for DeadlyReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some((folder, fault)) = &self.armed
            && is_executor()
            && folder.claims(*fault)
        {
            process::abort();
        }
        serializer.serialize_unit()
    }
}

impl Accumulate for DeadlyReport {
    type Input = (Folder, u32);

    fn zero(&self) -> Self {
        Self::default()
    }
    fn is_zero(&self) -> bool {
        self.armed.is_none()
    }
    fn add(&mut self, armed: (Folder, u32)) {
        self.armed = Some(armed);
    }
    fn merge(&mut self, _: Self) {}
}

/// An RDD of the same rows in whose computation a fault happens once.
pub(crate) fn build<K: Kind>(
    ctx: &Context,
    rdd: &BoxRdd<Row<K>>,
    fault: &Fault,
    backend: Backend,
    folder: &Folder,
) -> BoxRdd<Row<K>> {
    let mut fault = fault.clone();
    let kills = matches!(fault.act, Act::KillSelf | Act::KillBeforeReport | Act::KillPeer);
    if kills && backend != Backend::Cluster {
        // There is one process, which is the driver's.
        fault.act = Act::Panic;
    }
    let env = (folder.clone(), fault, ctx.accumulator("", DeadlyReport::default()));
    let marked = rdd.with(env).map_partitions_keeping_partitioner(|(folder, fault, report), rows| {
        let is_due = TaskContext::current().is_some_and(|task| task.partition().0 >= fault.partition);
        Rows::new(rows.enumerate().map(move |(place, row)| {
            if is_due && place as u64 == fault.row {
                set_off(folder, fault, report);
            }
            row
        }))
    });
    marked.boxed()
}

fn set_off(folder: &Folder, fault: &Fault, report: &Accumulator<DeadlyReport>) {
    match fault.act {
        Act::Panic => assert!(!folder.claims(fault.id), "a fault of the case"),
        Act::KillSelf => {
            if folder.claims(fault.id) {
                process::abort();
            }
        }
        Act::KillBeforeReport => report.add((folder.clone(), fault.id)),
        Act::KillPeer => {
            if !executors().is_empty() && folder.claims(fault.id) {
                kill_executor();
            }
        }
        Act::Remove(files) => {
            if folder.claims(fault.id) {
                folder.remove(files, u64::from(fault.id) ^ fault.row);
            }
        }
        Act::Damage(files) => {
            if folder.claims(fault.id) {
                folder.damage(files, u64::from(fault.id) ^ fault.row);
            }
        }
    }
}
