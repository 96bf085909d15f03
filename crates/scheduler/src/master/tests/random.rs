//! Any sequence of events: nothing is over-committed, no address is given twice, nothing panics.
//!
//! The invariants are checked by the machine after each event; the store of the harness checks that objects are
//! stored and forgotten exactly once.

use std::{collections::BTreeMap, time::Duration};

use firesteel_types::{AppId, DriverId, ExecutorRequest, ProfileId, WorkerId};
use proptest::prelude::*;

use super::{super::*, harness::*};
use crate::deploy::*;

/// One thing to do, in small numbers that are resolved against the cluster as it is.
#[derive(Clone, Copy, Debug)]
enum Step {
    Wait(u64),
    /// This master ends, and another recovers what it stored.
    Fail,
    Run(RunStep),
    Control(ControlStep),
}

/// What happens while workers and applications run.
#[derive(Clone, Copy, Debug)]
enum RunStep {
    RegisterWorker { number: u32, address: u32, cores: u32, memory_mib: u64, gpus: usize, peer: u64 },
    Heartbeat(u32),
    Disconnect(u64),
    RegisterApp { cores: Option<u32>, cores_max: Option<u32>, limit: Option<u32>, gpus: u32, peer: u64 },
    Unregister(usize),
    Request { app: usize, profile: u32, cores: Option<u32>, total: i64 },
    KillExecutors { app: usize, from: u32 },
    Report { app: usize, executor: u32, state: usize, exit_code: Option<i32>, peer: u64 },
}

/// Drivers, recovery and leaving.
#[derive(Clone, Copy, Debug)]
enum ControlStep {
    Submit { cores: u32, gpus: u32, supervise: bool },
    KillDriver(usize),
    DriverEnded(usize),
    LatestState(u32),
    SchedulerState { worker: u32, app: usize, executor: u32, cores: u32, gpu: usize, peer: u64 },
    Acknowledge { app: usize, peer: u64 },
    Reconnect { app: usize, peer: u64 },
    Leave(u32),
    LeaveHost(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (1..90_u64).prop_map(Step::Wait),
        1 => Just(Step::Fail),
        10 => run_step().prop_map(Step::Run),
        8 => control_step().prop_map(Step::Control),
    ]
}

fn peer() -> std::ops::Range<u64> {
    1..12
}

fn run_step() -> impl Strategy<Value = RunStep> {
    use RunStep as S;
    let maybe = |range: std::ops::Range<u32>| prop::option::of(range);
    prop_oneof![
        (0..5_u32, 0..5_u32, 0..12_u32, 0..1_024_u64, 0..4_usize, peer()).prop_map(
            |(number, address, cores, memory_mib, gpus, peer)| S::RegisterWorker {
                number,
                address,
                cores,
                memory_mib,
                gpus,
                peer
            }
        ),
        (0..6_u32).prop_map(S::Heartbeat),
        peer().prop_map(S::Disconnect),
        (maybe(0..5), maybe(0..20), maybe(0..5), 0..2_u32, peer()).prop_map(
            |(cores, cores_max, limit, gpus, peer)| S::RegisterApp { cores, cores_max, limit, gpus, peer }
        ),
        (0..4_usize).prop_map(S::Unregister),
        (0..4_usize, 0..3_u32, maybe(0..4), -1..6_i64).prop_map(|(app, profile, cores, total)| S::Request {
            app,
            profile,
            cores,
            total
        }),
        (0..4_usize, 0..8_u32).prop_map(|(app, from)| S::KillExecutors { app, from }),
        (0..4_usize, 0..8_u32, 0..7_usize, prop::option::of(0..2_i32), peer()).prop_map(
            |(app, executor, state, exit_code, peer)| S::Report { app, executor, state, exit_code, peer }
        ),
    ]
}

fn control_step() -> impl Strategy<Value = ControlStep> {
    use ControlStep as S;
    prop_oneof![
        (0..5_u32, 0..2_u32, any::<bool>()).prop_map(|(cores, gpus, supervise)| S::Submit {
            cores,
            gpus,
            supervise
        }),
        (0..4_usize).prop_map(S::KillDriver),
        (0..4_usize).prop_map(S::DriverEnded),
        (0..5_u32).prop_map(S::LatestState),
        (0..5_u32, 0..4_usize, 0..9_u32, 0..6_u32, 0..5_usize, peer()).prop_map(
            |(worker, app, executor, cores, gpu, peer)| S::SchedulerState {
                worker,
                app,
                executor,
                cores,
                gpu,
                peer
            }
        ),
        (0..4_usize, peer()).prop_map(|(app, peer)| S::Acknowledge { app, peer }),
        (0..4_usize, peer()).prop_map(|(app, peer)| S::Reconnect { app, peer }),
        (0..5_u32).prop_map(S::Leave),
        (0..5_u32).prop_map(S::LeaveHost),
    ]
}

const STATES: [ExecutorState; 7] = [
    ExecutorState::Launching,
    ExecutorState::Running,
    ExecutorState::Decommissioned,
    ExecutorState::Killed,
    ExecutorState::Failed,
    ExecutorState::Lost,
    ExecutorState::Exited,
];

fn gpus(amount: u32) -> BTreeMap<firesteel_types::ResourceName, u32> {
    BTreeMap::from([("gpu".into(), amount)])
}

fn from_worker(peer: Peer, message: WorkerToMaster) -> MasterEvent {
    MasterEvent::FromWorker { peer, message }
}

impl Cluster {
    /// The `at`-th live application, or one that never was.
    fn some_app(&self, at: usize) -> AppId {
        self.apps().nth(at).map_or_else(|| "app-x".into(), |app| app.id().clone())
    }

    fn some_driver(&self, at: usize) -> DriverId {
        self.drivers().nth(at).map_or_else(|| "driver-x".into(), |driver| driver.id().clone())
    }

    fn some_executor(&self, app: usize, executor: u32, cores: u32, gpu: &str) -> ExecutorReport {
        ExecutorReport {
            executor: key(&self.some_app(app), executor),
            profile: ProfileId(executor % 2),
            grant: Grant { addresses: addresses("gpu", &[gpu]), ..grant(cores, 100) },
            state: STATES[executor as usize % 7],
        }
    }

    fn report_of(&self, worker: WorkerId, executor: ExecutorReport) -> WorkerReport {
        let drivers = (0..2).map(|at| DriverReport { driver: self.some_driver(at), grant: grant(1, 64) });
        WorkerReport { worker, executors: vec![executor], drivers: drivers.collect() }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Wait(seconds) => {
                self.wait(Duration::from_secs(seconds));
            }
            Step::Fail => self.fail_over(),
            Step::Run(step) => {
                self.send(self.run_event(step));
            }
            Step::Control(step) => {
                self.send(self.control_event(step));
            }
        }
    }

    fn run_event(&self, step: RunStep) -> MasterEvent {
        match step {
            RunStep::RegisterWorker { number, address, cores, memory_mib, gpus, peer } => {
                let names = ["g0", "g1", "g2"];
                let host = format!("h{address}").as_str().into();
                let worker = with_gpus(worker(number, cores, memory_mib), &names[..gpus]);
                let worker = WorkerDescription { host, ..worker };
                from_worker(
                    Peer(peer),
                    WorkerToMaster::RegisterWorker { worker, contacted: MASTER_ADDRESS.into() },
                )
            }
            RunStep::Heartbeat(number) => {
                from_worker(CLIENT, WorkerToMaster::Heartbeat { worker: w(number) })
            }
            RunStep::Disconnect(peer) => MasterEvent::Disconnected { peer: Peer(peer) },
            RunStep::RegisterApp { cores, cores_max, limit, gpus: amount, peer } => {
                let mut app = AppDescription { cores_max, executor_limit: limit, ..app(cores, 100) };
                app.executor.resources = gpus(amount);
                MasterEvent::RegisterApplication { peer: Peer(peer), app }
            }
            RunStep::Unregister(at) => MasterEvent::UnregisterApplication { app: self.some_app(at) },
            RunStep::Request { app, profile, cores, total: wanted } => {
                let executor = ExecutorRequest { cores, memory_mib: 50, resources: gpus(profile) };
                let totals = vec![total(profile, Some(executor), wanted)];
                MasterEvent::RequestExecutors { peer: CLIENT, app: self.some_app(app), totals }
            }
            RunStep::KillExecutors { app, from } => {
                let executors = vec![from.to_string(), (from + 1).to_string(), "x".to_owned()];
                MasterEvent::KillExecutors { peer: CLIENT, app: self.some_app(app), executors }
            }
            RunStep::Report { app, executor, state, exit_code, peer } => {
                let executor = key(&self.some_app(app), executor);
                let holder = self.workers().find(|worker| worker.executors.contains_key(&executor));
                let worker = holder.map_or_else(|| w(0), |worker| worker.id().clone());
                let change = ExecutorStateChange { executor, state: STATES[state], message: None, exit_code };
                from_worker(Peer(peer), WorkerToMaster::ExecutorStateChanged { worker, change })
            }
        }
    }

    fn control_event(&self, step: ControlStep) -> MasterEvent {
        match step {
            ControlStep::Submit { cores, gpus: amount, supervise } => {
                let driver = DriverDescription { resources: gpus(amount), supervise, ..driver(cores, 64) };
                MasterEvent::RequestSubmitDriver { peer: CLIENT, driver }
            }
            ControlStep::KillDriver(at) => {
                MasterEvent::RequestKillDriver { peer: CLIENT, driver: self.some_driver(at) }
            }
            ControlStep::DriverEnded(at) => {
                let driver = self.some_driver(at);
                let worker = self.drivers().nth(at).and_then(|info| info.worker().cloned());
                let change = DriverStateChange { driver, state: DriverState::Failed, error: None };
                let worker = worker.unwrap_or_else(|| w(0));
                from_worker(CLIENT, WorkerToMaster::DriverStateChanged { worker, change })
            }
            ControlStep::LatestState(number) => {
                let report = self.report_of(w(number), self.some_executor(0, 0, 1, "g0"));
                let peer = self.workers().find(|worker| *worker.id() == w(number)).map(|worker| worker.peer);
                from_worker(peer.unwrap_or(CLIENT), WorkerToMaster::LatestState(report))
            }
            ControlStep::SchedulerState { worker, app, executor, cores, gpu, peer } => {
                let address = ["g0", "g1", "g2", "g3", "g4"][gpu];
                let report = self.report_of(w(worker), self.some_executor(app, executor, cores, address));
                from_worker(Peer(peer), WorkerToMaster::SchedulerState(report))
            }
            ControlStep::Acknowledge { app, peer } => {
                MasterEvent::MasterChangeAcknowledged { peer: Peer(peer), app: self.some_app(app) }
            }
            ControlStep::Reconnect { app, peer } => {
                MasterEvent::ReconnectApplication { peer: Peer(peer), app: self.some_app(app) }
            }
            ControlStep::Leave(number) => {
                from_worker(CLIENT, WorkerToMaster::WorkerDecommissioning { worker: w(number) })
            }
            ControlStep::LeaveHost(number) => {
                MasterEvent::DecommissionWorkersOnHosts { peer: CLIENT, hosts: vec![format!("H{number}")] }
            }
        }
    }

    fn fail_over(&mut self) {
        self.send(MasterEvent::RevokedLeadership);
        let (mut apps, mut drivers, mut workers) = (vec![], vec![], vec![]);
        let mut peers = (1..).map(Peer);
        for object in self.store.values() {
            match object.clone() {
                StoredObject::App(app) => apps.extend(peers.next().map(|peer| (app, peer))),
                StoredObject::Driver(driver) => drivers.push(driver),
                StoredObject::Worker(worker) => workers.extend(peers.next().map(|peer| (worker, peer))),
            }
        }
        self.master = Master::new(self.config.clone(), 3).unwrap();
        self.send(MasterEvent::Elected);
        self.send(MasterEvent::Recovered { apps, drivers, workers });
    }
}

fn names_of_the_living(cluster: &Cluster) -> Vec<ObjectName> {
    let apps = cluster.apps().map(|app| ObjectName::App(app.id().clone()));
    let drivers = cluster.drivers().map(|driver| ObjectName::Driver(driver.id().clone()));
    let staying = cluster.workers().filter(|worker| worker.state != WorkerState::Decommissioned);
    let workers = staying.map(|worker| ObjectName::Worker(worker.id().clone()));
    let mut names: Vec<_> = apps.chain(drivers).chain(workers).collect();
    names.sort();
    names
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Behaviours: MAST-026, MAST-027.
    #[test]
    fn no_sequence_of_events_breaks_the_invariants(
        packed in any::<bool>(),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let placement = if packed { Placement::Packed } else { Placement::SpreadOut };
        let mut cluster = cluster_with(
            MasterConfig {
                app_placement: placement,
                driver_placement: placement,
                max_drivers: packed.then_some(2),
                max_executor_retries: Some(2),
                ..MasterConfig::default()
            },
            2,
        );

        for step in steps {
            cluster.take(step);
            cluster.check_invariants();
            prop_assert_eq!(cluster.store.keys().cloned().collect::<Vec<_>>(), names_of_the_living(&cluster));
        }
    }

    #[test]
    fn the_same_events_give_the_same_effects(steps in prop::collection::vec(step(), 1..60)) {
        let mut one = cluster(2);
        let mut two = one.clone();

        for step in steps {
            one.take(step);
            two.take(step);
        }

        prop_assert_eq!(format!("{:?}", one.master), format!("{:?}", two.master));
    }
}
