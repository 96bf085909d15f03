//! The worker's state, and the way in: [`Worker::handle`].
//!
//! What each event does is in the file named after it; here is only who is asked.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use firesteel_types::{AppId, DriverId, ExecutorKey, Rng, Timestamp, WorkerId};

use super::{
    config::{WorkerConfig, WorkerConfigError},
    drivers::Driver,
    effect::{WorkerEffect, WorkerIgnored},
    event::WorkerEvent,
    executors::Executor,
    finished::{FinishedDriver, FinishedExecutor, FinishedList},
    ids::{ProcessId, ProcessOwner},
    registration::{Link, RetryIntervals},
    state_sync::Unacknowledged,
    timers::{Timer, Timers},
};
use crate::deploy::{
    DriverReport, DriverStateChange, ExecutorReport, Grant, GrantError, IdPattern, MasterAddress,
    ResourceBook, WorkerReport,
};

/// A worker of the standalone cluster.
///
/// Feed it [`WorkerEvent::Started`] first, then each event as it happens; wake it with [`WorkerEvent::Tick`] at
/// [`Worker::next_deadline`]. After [`WorkerEffect::Exit`] it ignores everything.
#[derive(Clone, Debug)]
pub struct Worker {
    pub(super) config: WorkerConfig,
    pub(super) id_pattern: IdPattern,
    pub(super) retry_intervals: RetryIntervals,
    /// Made when the worker starts.
    pub(super) id: Option<WorkerId>,
    pub(super) link: Link,
    /// Whether a master ever took this worker in.
    pub(super) was_registered: bool,
    pub(super) decommissioned: bool,
    /// What the worker offers, and what its executors and drivers hold of it.
    pub(super) resources: ResourceBook,
    pub(super) executors: BTreeMap<ExecutorKey, Executor>,
    pub(super) drivers: BTreeMap<DriverId, Driver>,
    /// The live processes and those about to start.
    pub(super) processes: BTreeMap<ProcessId, ProcessOwner>,
    pub(super) next_process: u64,
    pub(super) finished_executors: FinishedList<FinishedExecutor>,
    pub(super) finished_drivers: FinishedList<FinishedDriver>,
    /// The local directories of each application that had an executor here and is not cleaned up.
    pub(super) app_dirs: BTreeMap<AppId, Vec<String>>,
    /// Applications that are over but still have an executor here.
    pub(super) finished_apps: BTreeSet<AppId>,
    pub(super) unacknowledged: BTreeMap<ExecutorKey, Unacknowledged>,
    /// Ends of drivers that no master has acknowledged, oldest first.
    pub(super) unacknowledged_driver_ends: VecDeque<DriverStateChange>,
    pub(super) timers: Timers,
}

impl Worker {
    /// A worker with these settings. `seed` only decides how its tries to register are spread in time.
    pub fn new(config: WorkerConfig, seed: u64) -> Result<Self, WorkerConfigError> {
        let id_pattern = config.check()?;
        let retry_intervals = RetryIntervals::new(&config, &mut Rng::new(seed));
        let total = Grant { cores: config.cores, memory_mib: config.memory_mib, ..Grant::default() };
        Ok(Self {
            id_pattern,
            retry_intervals,
            id: None,
            link: Link::Idle,
            was_registered: false,
            decommissioned: false,
            resources: ResourceBook::new(total),
            executors: BTreeMap::new(),
            drivers: BTreeMap::new(),
            processes: BTreeMap::new(),
            next_process: 0,
            finished_executors: FinishedList::new(config.retained_executors),
            finished_drivers: FinishedList::new(config.retained_drivers),
            app_dirs: BTreeMap::new(),
            finished_apps: BTreeSet::new(),
            unacknowledged: BTreeMap::new(),
            unacknowledged_driver_ends: VecDeque::new(),
            timers: Timers::default(),
            config,
        })
    }

    /// Takes an event that happened at `now`, then does what is due by then.
    pub fn handle(&mut self, now: Timestamp, event: WorkerEvent) -> Vec<WorkerEffect> {
        let mut out = Vec::new();
        if self.link == Link::Exited {
            ignore(WorkerIgnored::Exited, &mut out);
            return out;
        }
        self.on_event(now, event, &mut out);
        while let Some((at, timer)) = self.timers.pop_due(now) {
            self.on_timer(now, at, timer, &mut out);
        }
        if cfg!(debug_assertions) {
            self.check_invariants();
        }
        out
    }

    fn on_event(&mut self, now: Timestamp, event: WorkerEvent, out: &mut Vec<WorkerEffect>) {
        match event {
            WorkerEvent::Started => self.on_started(now, out),
            WorkerEvent::Prepared { from_file, discovered } => {
                self.on_prepared(now, from_file, discovered, out);
            }
            WorkerEvent::PrepareFailed { message } => self.on_prepare_failed(&message, out),
            WorkerEvent::FromMaster { master, message } => self.on_message(now, master, message, out),
            WorkerEvent::MasterLost { master } => self.on_master_lost(now, master, out),
            WorkerEvent::DirsCreated { process, local_dirs } => {
                self.on_dirs_created(now, process, local_dirs, out);
            }
            WorkerEvent::DirsFailed { process, message } => self.on_dirs_failed(now, process, message, out),
            WorkerEvent::ProcessStarted { process } => self.on_process_started(now, process, out),
            WorkerEvent::ProcessFailed { process, message } => {
                self.on_process_failed(now, process, message, out);
            }
            WorkerEvent::ProcessExited { process, code } => self.on_process_exited(now, process, code, out),
            WorkerEvent::DirsListed { dirs } => self.on_dirs_listed(now, dirs, out),
            WorkerEvent::DecommissionSignalled => self.on_decommission_signalled(out),
            WorkerEvent::Tick => {}
        }
    }

    fn on_timer(&mut self, now: Timestamp, at: Timestamp, timer: Timer, out: &mut Vec<WorkerEffect>) {
        match timer {
            Timer::Register => self.on_registration_due(now, at, out),
            Timer::Heartbeat => self.on_heartbeat_due(now, at, out),
            Timer::Clean => self.on_cleaning_due(now, at, out),
            Timer::SyncState(executor) => self.on_state_sync_due(now, executor, out),
            Timer::Kill(process) => self.on_kill_due(now, process, out),
            Timer::Restart(driver) => self.on_restart_due(&driver, out),
        }
    }

    /// When it next wants a [`WorkerEvent::Tick`].
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.timers.next()
    }

    /// Whether nothing runs here and no master waits for news of what has ended.
    pub fn is_quiescent(&self) -> bool {
        self.executors.is_empty()
            && self.drivers.is_empty()
            && self.unacknowledged.is_empty()
            && self.unacknowledged_driver_ends.is_empty()
            && self.finished_apps.is_empty()
    }

    /// Its name, once it has started.
    pub fn id(&self) -> Option<&WorkerId> {
        self.id.as_ref()
    }

    /// The master whose orders count, if there is one. The connection to it may be broken.
    pub fn master(&self) -> Option<&MasterAddress> {
        self.active_master().map(|master| &master.address)
    }

    /// What it offers.
    pub fn resources(&self) -> &Grant {
        self.resources.total()
    }

    /// Cores and mebibytes held by its executors and drivers.
    ///
    /// May be more than there are while a killed process still ends.
    pub fn held(&self) -> (u64, u64) {
        self.resources.held()
    }

    /// Executors that have ended, oldest first.
    pub fn finished_executors(&self) -> impl Iterator<Item = &FinishedExecutor> {
        self.finished_executors.iter()
    }

    /// Drivers that have ended, oldest first.
    pub fn finished_drivers(&self) -> impl Iterator<Item = &FinishedDriver> {
        self.finished_drivers.iter()
    }

    /// The executors and drivers that have not ended. Empty before the worker has started.
    pub fn live(&self) -> Option<WorkerReport> {
        let executors = self.executors.iter().map(|(key, executor)| ExecutorReport {
            executor: key.clone(),
            profile: executor.launch.profile,
            grant: executor.launch.grant.clone(),
            state: executor.state(),
        });
        let drivers = self
            .drivers
            .iter()
            .map(|(id, driver)| DriverReport { driver: id.clone(), grant: driver.launch.grant.clone() });
        Some(WorkerReport {
            worker: self.id.clone()?,
            executors: executors.collect(),
            drivers: drivers.collect(),
        })
    }

    /// Panics when the tables contradict each other.
    pub fn check_invariants(&self) {
        let mut resources = ResourceBook::new(self.resources.total().clone());
        self.executors.values().for_each(|executor| resources.take(&executor.launch.grant));
        self.drivers.values().for_each(|driver| resources.take(&driver.launch.grant));
        assert_eq!(self.resources, resources, "what is held is the sum of all grants in force");

        let mut processes = BTreeMap::new();
        for (key, executor) in &self.executors {
            processes.insert(executor.process.id, ProcessOwner::Executor(key.clone()));
        }
        for (id, driver) in &self.drivers {
            if let Some(process) = driver.run.process() {
                processes.insert(process.id, ProcessOwner::Driver(id.clone()));
            }
        }
        assert_eq!(self.processes, processes, "every process has one owner that knows it");

        for app in self.executors.keys().map(|key| &key.app) {
            assert!(self.app_dirs.contains_key(app), "{app} has executors here and so directories");
        }
        for app in &self.finished_apps {
            assert!(self.has_executors_of(app), "{app} is kept as finished only for its last executors");
        }
        assert!(self.finished_executors.len() <= self.config.retained_executors, "the list is bounded");
        assert!(self.finished_drivers.len() <= self.config.retained_drivers, "the list is bounded");

        let registering = matches!(self.link, Link::Registering { .. });
        assert_eq!(self.timers.is_set(&Timer::Register), registering, "tries go on until they succeed");
        let connected = matches!(self.link, Link::Connected { .. });
        for executor in self.unacknowledged.keys() {
            let timer = Timer::SyncState(executor.clone());
            assert_eq!(self.timers.is_set(&timer), connected, "{executor}: a sent state waits for an answer");
        }
    }

    /// The worker's name, for use after it has started.
    pub(super) fn known_id(&self) -> WorkerId {
        self.id.clone().expect("a worker that has started has an id")
    }

    /// Whether an executor of `app` is here.
    pub(super) fn has_executors_of(&self, app: &AppId) -> bool {
        let first = ExecutorKey { app: app.clone(), executor: firesteel_types::ExecutorId(0) };
        self.executors.range(first..).next().is_some_and(|(key, _)| key.app == *app)
    }

    /// Sets a timer that comes again and again. Times that were missed altogether are left out.
    pub(super) fn set_again(
        &mut self,
        timer: Timer,
        at: Timestamp,
        interval: std::time::Duration,
        now: Timestamp,
    ) {
        let next = at + interval;
        self.timers.set(timer, if next > now { next } else { now + interval });
    }

    /// Gives up: the process ends, and nothing more is done.
    pub(super) fn exit(&mut self, reason: String, out: &mut Vec<WorkerEffect>) {
        self.link = Link::Exited;
        self.timers.clear();
        out.push(WorkerEffect::Exit { code: 1, reason });
    }
}

/// Why an order to launch can never be carried out here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum LaunchError {
    #[error(transparent)]
    Resources(#[from] GrantError),
    #[error("`{name}` cannot be the name of a directory")]
    BadName { name: String },
    #[error("the worker is decommissioned")]
    Decommissioned,
}

/// Reports that an event changed nothing.
pub(super) fn ignore(reason: WorkerIgnored, out: &mut Vec<WorkerEffect>) {
    out.push(WorkerEffect::Ignored { reason });
}
