//! What goes wrong on purpose: each fault once, at a named point.
//!
//! Faults need no hook in the engine. A closure in the lineage sees the row that sets a fault off; what it does there
//! happens before the task's output is published, or while it reads what others made. An accumulator that kills its
//! process when it is serialized does so between the publication of the output and its report.

use std::{
    fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicBool, Ordering},
};

use firesteel::{Accumulate, prelude::*};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize, Serializer};

use crate::{
    case::{Act, Backend, Fault},
    kind::{Kind, Row},
    shape::mixed,
};

/// The folder of a case, below which processes find each other, and the faults that have happened.
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

    /// Lets others know that this process runs tasks.
    fn register(&self) {
        static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
        if is_executor() && !IS_REGISTERED.swap(true, Ordering::Relaxed) {
            let _ = fs::write(self.join(&format!("executor-{}", process::id())), "");
        }
    }

    /// The executors that have run tasks with a fault in them, but for this process.
    fn executors(&self) -> Vec<u32> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let id = |entry: fs::DirEntry| entry.file_name().to_str()?.strip_prefix("executor-")?.parse().ok();
        entries.filter_map(id).filter(|id| *id != process::id()).collect()
    }

    /// Kills an executor; whether there was one.
    pub(crate) fn kill_executor(&self) -> bool {
        self.executors().into_iter().any(|id| {
            let _ = fs::remove_file(self.join(&format!("executor-{id}")));
            let id = i32::try_from(id).ok().and_then(Pid::from_raw);
            id.is_some_and(|id| kill_process(id, Signal::KILL).is_ok())
        })
    }

    /// Removes or damages a file of a map output; whether there was one.
    pub(crate) fn spoil_output(&self, pick: u64, is_removed: bool) -> bool {
        let mut files = Vec::new();
        find_outputs(&self.local(), &mut files);
        files.sort();
        if files.is_empty() {
            return false;
        }
        let file = &files[(mixed(pick) % files.len() as u64) as usize];
        if is_removed { fs::remove_file(file).is_ok() } else { damage(file, pick) }
    }
}

/// The data files of map outputs below a folder.
fn find_outputs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find_outputs(&path, found);
        } else if entry.file_name().to_str().is_some_and(|name| {
            name.starts_with("shuffle_")
                && Path::new(name).extension().is_some_and(|extension| extension == "data")
        }) {
            found.push(path);
        }
    }
}

/// Changes one byte. The file is replaced and not written to, since a reader may have it mapped.
fn damage(file: &Path, pick: u64) -> bool {
    let Ok(mut bytes) = fs::read(file) else { return false };
    if bytes.is_empty() {
        return false;
    }
    let place = (mixed(pick ^ 1) % bytes.len() as u64) as usize;
    bytes[place] ^= 1 << (pick % 8);
    let other = file.with_extension("damaged");
    fs::write(&other, bytes).is_ok() && fs::rename(&other, file).is_ok()
}

fn is_executor() -> bool {
    std::env::args().nth(1).is_some_and(|first| first == "--firesteel-executor")
}

/// Kills its process when it is serialized, if it was armed: between the publication of a task's output and its report.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct DeadlyReport {
    armed: Option<(Folder, u32)>,
}

impl Serialize for DeadlyReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some((folder, fault)) = &self.armed
            && is_executor()
            && folder.claims(*fault)
        {
            process::abort();
        }
        self.armed.serialize(serializer)
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
        folder.register();
        Rows::new(rows.enumerate().map(move |(place, row)| {
            if place as u64 == fault.row {
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
            if !folder.executors().is_empty() && folder.claims(fault.id) {
                folder.kill_executor();
            }
        }
        Act::RemoveOutput | Act::DamageOutput => {
            if folder.claims(fault.id) {
                folder.spoil_output(u64::from(fault.id) ^ fault.row, fault.act == Act::RemoveOutput);
            }
        }
    }
}
