//! A worker with a clock of its own, and short names for what tests send and expect.

use std::{sync::Arc, time::Duration};

use firesteel_types::{ExecutorKey, ProfileId, Timestamp};

use crate::{deploy::*, worker::*};

/// 2024-02-29 12:34:56 UTC, so that times before the start can be told too.
pub(super) const START: Timestamp = Timestamp::from_secs(1_709_210_096);
pub(super) const WORKER: &str = "worker-20240229123456-h1-7078";

/// A worker and a clock that only moves when told to.
pub(super) struct Harness {
    pub(super) worker: Worker,
    pub(super) now: Timestamp,
}

pub(super) fn config() -> WorkerConfig {
    WorkerConfig {
        work_dir: "/w".to_owned(),
        local_roots: vec!["/l1".to_owned(), "/l2".to_owned()],
        ..WorkerConfig::new("h1", 7078, vec!["m1".into(), "m2".into()], 8, 8192)
    }
}

impl Harness {
    /// Not yet started.
    pub(super) fn new(config: WorkerConfig) -> Self {
        Self { worker: Worker::new(config, 7).expect("the settings are valid"), now: START }
    }

    /// Started, and asking both masters.
    pub(super) fn registering(config: WorkerConfig) -> Self {
        let mut harness = Self::new(config);
        harness.send(WorkerEvent::Started);
        harness.send(WorkerEvent::Prepared { from_file: Addresses::new(), discovered: Addresses::new() });
        harness
    }

    /// Taken in by `m1`.
    pub(super) fn connected_with(config: WorkerConfig) -> Self {
        let mut harness = Self::registering(config);
        harness.registered("m1");
        harness
    }

    pub(super) fn connected() -> Self {
        Self::connected_with(config())
    }

    pub(super) fn send(&mut self, event: WorkerEvent) -> Vec<WorkerEffect> {
        self.worker.handle(self.now, event)
    }

    pub(super) fn hear(&mut self, master: &str, message: MasterToWorker) -> Vec<WorkerEffect> {
        self.send(WorkerEvent::FromMaster { master: master.into(), message })
    }

    pub(super) fn registered(&mut self, master: &str) -> Vec<WorkerEffect> {
        self.hear(master, MasterToWorker::RegisteredWorker { contacted: master.into(), duplicate: false })
    }

    pub(super) fn lose(&mut self, master: &str) -> Vec<WorkerEffect> {
        self.send(WorkerEvent::MasterLost { master: master.into() })
    }

    /// Lets `wait` pass with a tick at every deadline on the way, and gives what was done and when.
    pub(super) fn pass(&mut self, wait: Duration) -> Vec<(Duration, WorkerEffect)> {
        let (began, end) = (self.now, self.now + wait);
        let mut done = Vec::new();
        while let Some(at) = self.worker.next_deadline().filter(|&at| at <= end) {
            self.now = at;
            let effects = self.send(WorkerEvent::Tick);
            done.extend(effects.into_iter().map(|effect| (at.since(began), effect)));
        }
        self.now = end;
        done
    }

    /// As [`Harness::pass`], without heartbeats.
    pub(super) fn pass_quietly(&mut self, wait: Duration) -> Vec<(Duration, WorkerEffect)> {
        let mut done = self.pass(wait);
        let is_heartbeat = |effect: &WorkerEffect| {
            matches!(effect, WorkerEffect::ToMaster { message: WorkerToMaster::Heartbeat { .. }, .. })
        };
        done.retain(|(_, effect)| !is_heartbeat(effect));
        done
    }

    pub(super) fn launch(&mut self, executor: u32) -> Vec<WorkerEffect> {
        self.hear("m1", MasterToWorker::LaunchExecutor(Box::new(launch(executor))))
    }

    /// Launches an executor and brings it to running, acknowledged. Gives its process.
    pub(super) fn run_executor(&mut self, executor: u32) -> ProcessId {
        let process = created_process(&self.launch(executor));
        self.dirs_created(process);
        self.send(WorkerEvent::ProcessStarted { process });
        self.acknowledge(executor, ExecutorState::Running);
        process
    }

    pub(super) fn dirs_created(&mut self, process: ProcessId) -> Vec<WorkerEffect> {
        self.send(WorkerEvent::DirsCreated { process, local_dirs: local_dirs(1) })
    }

    pub(super) fn exit(&mut self, process: ProcessId, code: i32) -> Vec<WorkerEffect> {
        self.send(WorkerEvent::ProcessExited { process, code })
    }

    pub(super) fn kill(&mut self, executor: u32) -> Vec<WorkerEffect> {
        self.hear("m1", MasterToWorker::KillExecutor { executor: key(executor) })
    }

    pub(super) fn acknowledge(&mut self, executor: u32, state: ExecutorState) -> Vec<WorkerEffect> {
        self.hear("m1", MasterToWorker::ExecutorStateAck { executor: key(executor), state })
    }

    pub(super) fn launch_driver(&mut self, launch: DriverLaunch) -> Vec<WorkerEffect> {
        self.hear("m1", MasterToWorker::LaunchDriver(Box::new(launch)))
    }

    /// Launches a driver and brings its process to running.
    pub(super) fn run_driver(&mut self, launch: DriverLaunch) -> ProcessId {
        let process = created_process(&self.launch_driver(launch));
        self.send(WorkerEvent::DirsCreated { process, local_dirs: vec![] });
        self.send(WorkerEvent::ProcessStarted { process });
        process
    }

    pub(super) fn live_executors(&self) -> Vec<(ExecutorKey, ExecutorState)> {
        let live = self.worker.live().expect("the worker has started");
        live.executors.into_iter().map(|report| (report.executor, report.state)).collect()
    }
}

pub(super) fn key(executor: u32) -> ExecutorKey {
    ExecutorKey::new("app-1", executor)
}

pub(super) fn grant() -> Grant {
    Grant { cores: 2, memory_mib: 1024, ..Grant::default() }
}

pub(super) fn command(arguments: &[&str]) -> Arc<Command> {
    let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
    Arc::new(Command { program: "app".to_owned(), arguments, ..Command::default() })
}

pub(super) fn launch(executor: u32) -> ExecutorLaunch {
    ExecutorLaunch {
        executor: key(executor),
        profile: ProfileId::DEFAULT,
        grant: grant(),
        driver_url: "driver:1".to_owned(),
        command: command(&["--id", "{{EXECUTOR_ID}}"]),
    }
}

pub(super) fn driver(supervise: bool) -> DriverLaunch {
    DriverLaunch {
        driver: "driver-1".into(),
        grant: grant(),
        supervise,
        command: command(&["{{WORKER_URL}}"]),
    }
}

pub(super) fn local_dirs(executor: u32) -> Vec<String> {
    ["/l1", "/l2"].map(|root| format!("{root}/app-1/executor-{executor}")).to_vec()
}

pub(super) fn created_process(effects: &[WorkerEffect]) -> ProcessId {
    match effects {
        [WorkerEffect::CreateDirs { process, .. }] => *process,
        other => panic!("no process was begun: {other:?}"),
    }
}

pub(super) fn started_process(effects: &[WorkerEffect]) -> ProcessId {
    match effects {
        [WorkerEffect::StartProcess(start)] => start.process,
        other => panic!("no process was started: {other:?}"),
    }
}

pub(super) fn to_master(master: &str, message: WorkerToMaster) -> WorkerEffect {
    WorkerEffect::ToMaster { master: master.into(), message }
}

pub(super) fn register_at(master: &str) -> WorkerEffect {
    let worker = WorkerDescription {
        id: WORKER.into(),
        host: "h1".into(),
        port: 7078,
        resources: Grant { cores: 8, memory_mib: 8192, ..Grant::default() },
        page: None,
    };
    to_master(master, WorkerToMaster::RegisterWorker { worker, contacted: master.into() })
}

pub(super) fn heartbeat_to(master: &str) -> WorkerEffect {
    to_master(master, WorkerToMaster::Heartbeat { worker: WORKER.into() })
}

pub(super) fn state(executors: &[(u32, ExecutorState)], drivers: &[&str]) -> WorkerReport {
    let executors = executors.iter().map(|&(executor, state)| ExecutorReport {
        executor: key(executor),
        profile: ProfileId::DEFAULT,
        grant: grant(),
        state,
    });
    let drivers = drivers.iter().map(|&id| DriverReport { driver: id.into(), grant: grant() });
    WorkerReport { worker: WORKER.into(), executors: executors.collect(), drivers: drivers.collect() }
}

pub(super) fn changed(
    executor: u32,
    state: ExecutorState,
    message: &str,
    exit_code: Option<i32>,
) -> WorkerEffect {
    let message = (!message.is_empty()).then(|| message.to_owned());
    let change = ExecutorStateChange { executor: key(executor), state, message, exit_code };
    to_master("m1", WorkerToMaster::ExecutorStateChanged { worker: WORKER.into(), change })
}

pub(super) fn driver_ended(state: DriverState, error: Option<&str>) -> WorkerEffect {
    let change = DriverStateChange { driver: "driver-1".into(), state, error: error.map(str::to_owned) };
    to_master("m1", WorkerToMaster::DriverStateChanged { worker: WORKER.into(), change })
}

pub(super) fn ignored(reason: WorkerIgnored) -> WorkerEffect {
    WorkerEffect::Ignored { reason }
}

pub(super) fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}
