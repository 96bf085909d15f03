//! The drivers on this worker, and how supervised ones are started again.

use std::time::Duration;

use firesteel_types::{DriverId, Timestamp};

use super::{
    effect::{ProcessStart, WorkerEffect, WorkerIgnored},
    finished::FinishedDriver,
    ids::ProcessOwner,
    machine::{LaunchError, Worker, ignore},
    process::{KillStep, Process, ProcessPhase},
    timers::Timer,
};
use crate::deploy::{DriverLaunch, DriverState, DriverStateChange, Placeholders, WorkerToMaster};

/// A driver that has not ended.
#[derive(Clone, Debug)]
pub(super) struct Driver {
    pub(super) launch: DriverLaunch,
    pub(super) run: DriverRun,
    /// How long to wait before the next start.
    wait: Duration,
}

/// What a driver does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DriverRun {
    /// It has a process.
    Process(Process),
    /// It failed and waits for its next start.
    Waiting,
}

impl DriverRun {
    pub(super) fn process(&self) -> Option<&Process> {
        match self {
            Self::Process(process) => Some(process),
            Self::Waiting => None,
        }
    }

    pub(super) fn process_mut(&mut self) -> Option<&mut Process> {
        match self {
            Self::Process(process) => Some(process),
            Self::Waiting => None,
        }
    }
}

/// Delay before the first restart of a supervised driver; each failed start doubles it.
const FIRST_RESTART_DELAY: Duration = Duration::from_secs(1);

impl Worker {
    pub(super) fn on_launch_driver(&mut self, launch: DriverLaunch, out: &mut Vec<WorkerEffect>) {
        let id = launch.driver.clone();
        if self.drivers.contains_key(&id) {
            return ignore(WorkerIgnored::DriverExists { driver: id }, out);
        }
        if let Err(error) = self.check_driver(&launch) {
            let (state, error) = (DriverState::Error, Some(error.to_string()));
            return self.report_driver_end(DriverStateChange { driver: id, state, error }, out);
        }
        self.resources.take(&launch.grant);
        let process = self.new_process(ProcessOwner::Driver(id.clone()));
        out.push(WorkerEffect::CreateDirs {
            process: process.id,
            work_dir: self.driver_dir(&id),
            local_dirs: Vec::new(),
        });
        self.drivers
            .insert(id, Driver { launch, run: DriverRun::Process(process), wait: FIRST_RESTART_DELAY });
    }

    fn check_driver(&self, launch: &DriverLaunch) -> Result<(), LaunchError> {
        if !launch.driver.is_plain_name() {
            return Err(LaunchError::BadName { name: launch.driver.to_string() });
        }
        Ok(self.resources.check_ever_fits(&launch.grant)?)
    }

    fn driver_dir(&self, id: &DriverId) -> String {
        format!("{}/{id}", self.config.work_dir)
    }

    /// Its directory is there: starts the process.
    pub(super) fn start_driver(&mut self, id: &DriverId, out: &mut Vec<WorkerEffect>) {
        let work_dir = self.driver_dir(id);
        let driver = self.drivers.get_mut(id).expect("the owner of a process is alive");
        let process = driver.run.process_mut().expect("a driver that starts has a process");
        process.phase = ProcessPhase::Starting { kill: false };
        let command = driver.launch.command.filled(&Placeholders {
            driver_url: None,
            executor: None,
            host: &self.config.host,
            cores: driver.launch.grant.cores,
            app: None,
            worker_url: &self.config.url,
            profile: None,
        });
        out.push(WorkerEffect::StartProcess(Box::new(ProcessStart {
            process: process.id,
            owner: ProcessOwner::Driver(id.clone()),
            command,
            work_dir,
            local_dirs: Vec::new(),
            driver_url: None,
            grant: driver.launch.grant.clone(),
        })));
    }

    pub(super) fn on_kill_driver(&mut self, now: Timestamp, driver: DriverId, out: &mut Vec<WorkerEffect>) {
        let Some(known) = self.drivers.get(&driver) else {
            return ignore(WorkerIgnored::UnknownDriver { driver }, out);
        };
        let step = match known.run {
            DriverRun::Waiting => KillStep::EndNow,
            DriverRun::Process(_) => self.kill_process(now, &ProcessOwner::Driver(driver.clone()), out),
        };
        match step {
            KillStep::EndNow => self.end_driver(driver, DriverState::Killed, None, out),
            KillStep::WaitForStart | KillStep::Terminate | KillStep::Already => {}
        }
    }

    /// An error while starting is final even for a supervised driver: the next start would fail in the same way.
    pub(super) fn driver_did_not_start(
        &mut self,
        id: DriverId,
        message: String,
        out: &mut Vec<WorkerEffect>,
    ) {
        self.end_driver(id, DriverState::Error, Some(message), out);
    }

    pub(super) fn driver_exited(
        &mut self,
        now: Timestamp,
        id: DriverId,
        code: i32,
        out: &mut Vec<WorkerEffect>,
    ) {
        let driver = self.drivers.get_mut(&id).expect("the owner of a process is alive");
        let process = driver.run.process().expect("what has exited was a process").clone();
        if code == 0 {
            self.end_driver(id, DriverState::Finished, None, out);
        } else if process.is_kill_ordered() {
            self.end_driver(id, DriverState::Killed, None, out);
        } else if driver.launch.supervise {
            driver.run = DriverRun::Waiting;
            // A driver that ran for a while was not stopped by the cause of the failed starts before.
            if let ProcessPhase::Running { since } = process.phase
                && now.since(since) > self.config.successful_run
            {
                driver.wait = FIRST_RESTART_DELAY;
            }
            let wait = driver.wait;
            driver.wait = wait.saturating_mul(2);
            self.forget_process(process.id);
            self.timers.set(Timer::Restart(id), now + wait);
        } else {
            self.end_driver(id, DriverState::Failed, None, out);
        }
    }

    pub(super) fn on_restart_due(&mut self, id: &DriverId, out: &mut Vec<WorkerEffect>) {
        let process = self.new_process(ProcessOwner::Driver(id.clone()));
        let driver = self.drivers.get_mut(id).expect("the timer goes with the driver");
        driver.run = DriverRun::Process(process);
        self.start_driver(id, out);
    }

    pub(super) fn driver_orphaned(&mut self, id: DriverId, out: &mut Vec<WorkerEffect>) {
        self.end_driver(id, DriverState::Killed, None, out);
    }

    fn end_driver(
        &mut self,
        id: DriverId,
        state: DriverState,
        error: Option<String>,
        out: &mut Vec<WorkerEffect>,
    ) {
        let driver = self.drivers.remove(&id).expect("a driver ends once");
        match driver.run {
            DriverRun::Process(process) => self.forget_process(process.id),
            DriverRun::Waiting => self.timers.cancel(&Timer::Restart(id.clone())),
        }
        let grant = driver.launch.grant;
        self.resources.give_back(&grant);
        let change = DriverStateChange { driver: id, state, error };
        self.finished_drivers.push(FinishedDriver { change: change.clone(), grant });
        self.report_driver_end(change, out);
    }

    /// Tells the master, and keeps the news until it is acknowledged. Spark drops it when there is no master; a
    /// master that missed it would take a driver that has finished for a lost one and start it once more.
    fn report_driver_end(&mut self, change: DriverStateChange, out: &mut Vec<WorkerEffect>) {
        self.unacknowledged_driver_ends.push_back(change.clone());
        if self.unacknowledged_driver_ends.len() > self.config.retained_drivers {
            self.unacknowledged_driver_ends.pop_front();
        }
        let _sent_on_connection = self.tell(self.driver_state_changed(change), out);
    }

    /// A new connection gets every end that is not acknowledged. On one connection nothing is lost.
    pub(super) fn resend_driver_ends(&self, out: &mut Vec<WorkerEffect>) {
        for change in &self.unacknowledged_driver_ends {
            let unsent = self.tell(self.driver_state_changed(change.clone()), out);
            assert!(unsent.is_none(), "ends are sent again only while connected");
        }
    }

    fn driver_state_changed(&self, change: DriverStateChange) -> WorkerToMaster {
        WorkerToMaster::DriverStateChanged { worker: self.known_id(), change }
    }

    pub(super) fn on_driver_state_ack(&mut self, driver: DriverId, out: &mut Vec<WorkerEffect>) {
        let before = self.unacknowledged_driver_ends.len();
        self.unacknowledged_driver_ends.retain(|change| change.driver != driver);
        if self.unacknowledged_driver_ends.len() == before {
            ignore(WorkerIgnored::NoDriverEndToAcknowledge { driver }, out);
        }
    }
}
