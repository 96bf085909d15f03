//! Who can run a workload.

use std::{
    any::Any,
    fmt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result};

use crate::{
    child::is_local,
    data::text,
    launch::launch,
    report::{Record, Report},
    workload::Workload,
};

/// Something that runs workloads in processes of its own.
pub trait System {
    /// Its name: `firesteel`, `limit`, `spark`, `ray`, `dask`.
    fn name(&self) -> &'static str;

    /// Where it runs, in its own words.
    fn master(&self) -> String;

    /// Its version, if it has one of its own.
    fn version(&self) -> Option<String> {
        None
    }

    /// Whether its tasks run in other processes than its driver.
    fn is_cluster(&self) -> bool {
        false
    }

    /// Whether it can run a workload.
    fn can_run(&self, workload: &Workload) -> bool;

    /// How often it runs a workload by default.
    fn usual_runs(&self, workload: &Workload) -> usize;

    /// Makes everything ready for processes that run a plan.
    fn open(&self, plan: &Plan<'_>) -> Result<Session>;
}

/// A workload in a certain size.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The workload.
    pub workload: &'static Workload,
    /// The factor of its size.
    pub scale: f64,
    /// How often it is timed; as often as the system usually does when unset.
    pub runs: Option<usize>,
    /// The folder for data; its creator empties it.
    pub data: &'a Path,
    /// How long a process may take.
    pub timeout: Duration,
}

/// What is there while processes run a plan.
pub struct Session {
    command: Box<dyn Fn() -> Command>,
    /// What has to live as long, and ends when it is dropped.
    guards: Vec<Box<dyn Any>>,
}

impl fmt::Debug for Session {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Session").field("command", &self.command()).finish_non_exhaustive()
    }
}

impl Session {
    /// A session of processes that `command` describes.
    pub fn new(command: impl Fn() -> Command + 'static) -> Self {
        Self { command: Box::new(command), guards: Vec::new() }
    }

    /// What starts one of the processes.
    pub fn command(&self) -> Command {
        (self.command)()
    }

    /// The same, with something that lives as long.
    #[must_use]
    pub fn guarded_by(mut self, guard: impl Any) -> Self {
        self.guards.push(Box::new(guard));
        self
    }
}

/// Runs a plan on a system, in fresh processes.
pub fn run(system: &dyn System, plan: &Plan<'_>) -> Result<Report> {
    let what = || format!("{} on {} {}", plan.workload.name, system.name(), system.master());
    write_text(plan)?;
    let session = system.open(plan).with_context(what)?;
    if !plan.workload.cold {
        return Ok(launch(session.command(), plan.timeout).with_context(what)?.report);
    }
    let mut all: Option<Report> = None;
    for _ in 0..runs(system, plan) {
        let launched = launch(session.command(), plan.timeout).with_context(what)?;
        let report = Report { seconds: vec![launched.after.as_secs_f64()], ..launched.report };
        all = Some(match all {
            Some(all) => all.join(report)?,
            None => report,
        });
    }
    all.with_context(|| format!("{} was to be run no times", plan.workload.name))
}

/// The record of what a system reported of a plan.
pub fn record_of(system: &dyn System, plan: &Plan<'_>, report: Report) -> Result<Record> {
    let record = Record::new(plan.workload, plan.scale, system.name(), &system.master(), report)?;
    Ok(Record { version: system.version(), ..record })
}

/// Runs a plan and makes a record of it.
pub fn record(system: &dyn System, plan: &Plan<'_>) -> Result<Record> {
    record_of(system, plan, run(system, plan)?)
}

/// How often a plan is timed on a system.
pub fn runs(system: &dyn System, plan: &Plan<'_>) -> usize {
    plan.runs.unwrap_or_else(|| system.usual_runs(plan.workload)).max(1)
}

/// The text that a workload reads, unless it is there.
fn write_text(plan: &Plan<'_>) -> Result<()> {
    let path = plan.data.join("text.txt");
    if !plan.workload.reads_text {
        return Ok(());
    }
    let bytes = (plan.workload.sizes)(plan.scale).of("bytes");
    // The text ends with the first line that reaches the size.
    if path.metadata().is_ok_and(|found| (bytes..bytes + 1000).contains(&found.len())) {
        return Ok(());
    }
    text::write(&path, bytes)
}

/// This engine.
#[derive(Debug)]
pub struct Firesteel {
    /// The program that runs workloads: this one.
    pub program: PathBuf,
    /// Its master.
    pub master: String,
}

/// The programs by hand.
#[derive(Debug)]
pub struct Limit {
    /// The program that runs workloads: this one.
    pub program: PathBuf,
}

fn child(program: &Path, plan: &Plan<'_>, runs: usize, master: Option<&str>) -> Session {
    let mut arguments = vec![
        "child".to_owned(),
        plan.workload.name.to_owned(),
        format!("--scale={}", plan.scale),
        format!("--runs={runs}"),
        format!("--data={}", plan.data.display()),
    ];
    arguments.extend(master.map(|master| format!("--master={master}")));
    let program = program.to_owned();
    Session::new(move || {
        let mut command = Command::new(&program);
        command.args(&arguments);
        command
    })
}

impl System for Firesteel {
    fn name(&self) -> &'static str {
        "firesteel"
    }

    fn master(&self) -> String {
        self.master.clone()
    }

    fn is_cluster(&self) -> bool {
        !is_local(&self.master)
    }

    fn can_run(&self, workload: &Workload) -> bool {
        self.is_cluster() || !workload.cluster_only
    }

    fn usual_runs(&self, workload: &Workload) -> usize {
        workload.runs
    }

    fn open(&self, plan: &Plan<'_>) -> Result<Session> {
        Ok(child(&self.program, plan, runs(self, plan), Some(&self.master)))
    }
}

impl System for Limit {
    fn name(&self) -> &'static str {
        "limit"
    }

    fn master(&self) -> String {
        "2 threads".to_owned()
    }

    fn can_run(&self, workload: &Workload) -> bool {
        workload.limit.is_some()
    }

    fn usual_runs(&self, workload: &Workload) -> usize {
        workload.runs
    }

    fn open(&self, plan: &Plan<'_>) -> Result<Session> {
        Ok(child(&self.program, plan, runs(self, plan), None))
    }
}
