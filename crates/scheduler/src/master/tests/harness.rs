//! A cluster without processes: a master, a clock, and a store that takes its objects.

use std::{
    collections::BTreeMap,
    ops::{Deref, DerefMut},
    sync::Arc,
    time::Duration,
};

use firesteel_types::{
    AppId, DriverId, ExecutorId, ExecutorKey, ExecutorRequest, ProfileId, Timestamp, WorkerId,
};

use super::super::*;
use crate::deploy::*;

/// 2026-01-01 00:00:00 UTC.
pub(super) const START: Timestamp = Timestamp(1_767_225_600_000_000);
pub(super) const CLIENT: Peer = Peer(9_000);
pub(super) const MASTER_ADDRESS: &str = "master:7077";

/// A master under test. Derefs to it for reading.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) master: Master,
    pub(super) now: Timestamp,
    /// What is stored, as the master ordered.
    pub(super) store: BTreeMap<ObjectName, StoredObject>,
    pub(super) next_peer: u64,
}

impl Deref for Cluster {
    type Target = Master;

    fn deref(&self) -> &Master {
        &self.master
    }
}

impl DerefMut for Cluster {
    fn deref_mut(&mut self) -> &mut Master {
        &mut self.master
    }
}

/// A master that was not elected.
pub(super) fn standby(config: MasterConfig) -> Cluster {
    let master = Master::new(config, 7).unwrap();
    Cluster { master, now: START, store: BTreeMap::new(), next_peer: 0 }
}

/// A master that leads a cluster without workers.
pub(super) fn alive(config: MasterConfig) -> Cluster {
    let mut cluster = standby(config);
    cluster.send(MasterEvent::Elected);
    cluster.send(MasterEvent::Recovered { apps: vec![], drivers: vec![], workers: vec![] });
    cluster
}

/// A master with `workers` workers (`w0`, `w1`, …) of 10 cores and 512 MB each.
pub(super) fn cluster(workers: u32) -> Cluster {
    cluster_with(MasterConfig::default(), workers)
}

pub(super) fn cluster_with(config: MasterConfig, workers: u32) -> Cluster {
    let mut cluster = alive(config);
    for number in 0..workers {
        cluster.worker(worker(number, 10, 512));
    }
    cluster
}

/// Worker `w<number>` on host `h<number>`.
pub(super) fn worker(number: u32, cores: u32, memory_mib: u64) -> WorkerDescription {
    WorkerDescription {
        id: w(number),
        host: format!("h{number}").into(),
        port: 7078,
        resources: Grant { cores, memory_mib, addresses: Addresses::new() },
        page: None,
    }
}

pub(super) fn w(number: u32) -> WorkerId {
    format!("w{number}").into()
}

/// The same worker with addresses of `gpu`.
pub(super) fn with_gpus(worker: WorkerDescription, gpus: &[&str]) -> WorkerDescription {
    let resources = Grant { addresses: addresses("gpu", gpus), ..worker.resources };
    WorkerDescription { resources, ..worker }
}

pub(super) fn key(app: &AppId, executor: u32) -> ExecutorKey {
    ExecutorKey::new(app.clone(), executor)
}

pub(super) fn grant(cores: u32, memory_mib: u64) -> Grant {
    Grant { cores, memory_mib, addresses: Addresses::new() }
}

/// The connection of worker `w<number>`, unless the test registers it on another.
pub(super) fn worker_peer(number: u32) -> Peer {
    Peer(100 + u64::from(number))
}

/// The connection of an application, from the number in its id.
pub(super) fn app_peer(app: &AppId) -> Peer {
    let digits = app.as_str().rsplit('-').next();
    Peer(1_000 + digits.and_then(|digits| digits.parse::<u64>().ok()).expect("ids end with their number"))
}

pub(super) fn addresses(name: &str, addresses: &[&str]) -> Addresses {
    Addresses::from([(name.into(), addresses.iter().map(|address| Arc::from(*address)).collect())])
}

/// An application whose executors take `cores` and `memory_mib`.
pub(super) fn app(cores: impl Into<Option<u32>>, memory_mib: u64) -> AppDescription {
    let executor = ExecutorRequest { cores: cores.into(), memory_mib, resources: BTreeMap::new() };
    AppDescription {
        name: "app".to_owned(),
        cores_max: None,
        executor,
        executor_limit: None,
        driver_url: "driver:1".to_owned(),
        page: None,
        command: Arc::default(),
    }
}

/// The order to launch an executor of an application made by [`app`].
pub(super) fn launch(app: &AppId, executor: u32, grant: Grant) -> MasterToWorker {
    MasterToWorker::LaunchExecutor(Box::new(ExecutorLaunch {
        executor: key(app, executor),
        profile: ProfileId::DEFAULT,
        grant,
        driver_url: "driver:1".to_owned(),
        command: Arc::default(),
    }))
}

pub(super) fn driver(cores: u32, memory_mib: u64) -> DriverDescription {
    DriverDescription {
        cores,
        memory_mib,
        resources: BTreeMap::new(),
        supervise: false,
        command: Arc::default(),
    }
}

pub(super) fn total(profile: u32, executor: Option<ExecutorRequest>, total: i64) -> ProfileTotal {
    ProfileTotal { profile: ProfileId(profile), executor, total }
}

pub(super) fn to_worker(number: u32, message: MasterToWorker) -> MasterEffect {
    MasterEffect::ToWorker { peer: worker_peer(number), message }
}

pub(super) fn to_app(app: &AppId, message: AppMessage) -> MasterEffect {
    MasterEffect::ToApp { peer: app_peer(app), message }
}

pub(super) fn to_client(reply: Reply) -> MasterEffect {
    MasterEffect::ToClient { peer: CLIENT, reply }
}

/// A message to a worker on the connection that [`Cluster::report`] and other reports come on.
pub(super) fn to_reporter(message: MasterToWorker) -> MasterEffect {
    MasterEffect::ToWorker { peer: CLIENT, message }
}

/// The acknowledgement of an executor's state.
pub(super) fn acked(app: &AppId, executor: u32, state: ExecutorState) -> MasterEffect {
    to_reporter(MasterToWorker::ExecutorStateAck { executor: key(app, executor), state })
}

pub(super) fn ignored(reason: IgnoredReason) -> MasterEffect {
    MasterEffect::Ignored { reason }
}

/// The update that a driver hears when a worker reports a state of its executor.
pub(super) fn updated(executor: u32, state: ExecutorState, exit_code: Option<i32>) -> AppMessage {
    AppMessage::ExecutorUpdated {
        executor: ExecutorId(executor),
        state,
        message: None,
        exit_code,
        worker_host: None,
    }
}

impl Cluster {
    /// Handles an event now, and stores and forgets as ordered.
    pub(super) fn send(&mut self, event: MasterEvent) -> Vec<MasterEffect> {
        let effects = self.master.handle(self.now, event);
        for effect in &effects {
            match effect {
                MasterEffect::Persist(object) => {
                    let before = self.store.insert(object.name(), object.clone());
                    assert_eq!(before, None, "an object is stored once");
                }
                MasterEffect::Forget(name) => {
                    assert!(self.store.remove(name).is_some(), "{name} is forgotten once");
                }
                MasterEffect::ToWorker { .. }
                | MasterEffect::ToApp { .. }
                | MasterEffect::ToClient { .. }
                | MasterEffect::LoadStored
                | MasterEffect::ShutDown
                | MasterEffect::Ignored { .. } => (),
            }
        }
        effects
    }

    pub(super) fn peer(&mut self) -> Peer {
        self.next_peer += 1;
        Peer(self.next_peer)
    }

    /// Registers a worker on a new connection.
    pub(super) fn worker(&mut self, worker: WorkerDescription) -> Vec<MasterEffect> {
        let digits = worker.id.as_str().trim_start_matches('w');
        let peer = worker_peer(digits.parse().expect("workers are numbered"));
        let id = worker.id.clone();
        let mut effects = self.register(peer, worker);
        effects.extend(self.lists_nothing(peer, id));
        effects
    }

    /// The list that a worker without executors and drivers sends once it is registered.
    pub(super) fn lists_nothing(&mut self, peer: Peer, worker: WorkerId) -> Vec<MasterEffect> {
        let report = WorkerReport { worker, executors: vec![], drivers: vec![] };
        self.hear(peer, WorkerToMaster::LatestState(report))
    }

    pub(super) fn register(&mut self, peer: Peer, worker: WorkerDescription) -> Vec<MasterEffect> {
        self.hear(peer, WorkerToMaster::RegisterWorker { worker, contacted: MASTER_ADDRESS.into() })
    }

    /// Hears a worker on a connection.
    pub(super) fn hear(&mut self, peer: Peer, message: WorkerToMaster) -> Vec<MasterEffect> {
        self.send(MasterEvent::FromWorker { peer, message })
    }

    /// Registers an application on a new connection.
    pub(super) fn app(&mut self, app: AppDescription) -> AppId {
        let peer = Peer(1_000 + self.master.next_app_number);
        self.send(MasterEvent::RegisterApplication { peer, app });
        self.apps().last().expect("the application is registered").id().clone()
    }

    /// Submits a driver.
    pub(super) fn driver(&mut self, driver: DriverDescription) -> DriverId {
        let effects = self.send(MasterEvent::RequestSubmitDriver { peer: CLIENT, driver });
        let submitted = effects.iter().find_map(|effect| match effect {
            MasterEffect::ToClient { reply: Reply::DriverSubmitted { driver }, .. } => Some(driver.clone()),
            _ => None,
        });
        submitted.expect("the driver is accepted")
    }

    pub(super) fn request(&mut self, app: &AppId, totals: Vec<ProfileTotal>) -> Vec<MasterEffect> {
        self.send(MasterEvent::RequestExecutors { peer: CLIENT, app: app.clone(), totals })
    }

    /// Sets the limit of the default profile.
    pub(super) fn set_limit(&mut self, app: &AppId, limit: i64) {
        let effects = self.request(app, vec![total(0, None, limit)]);
        assert_eq!(effects.first(), Some(&to_client(Reply::ExecutorsRequested { accepted: true })));
    }

    pub(super) fn kill(&mut self, app: &AppId, executors: &[&str]) -> Vec<MasterEffect> {
        let executors = executors.iter().map(|&text| text.to_owned()).collect();
        self.send(MasterEvent::KillExecutors { peer: CLIENT, app: app.clone(), executors })
    }

    /// Reports an executor's state, as its worker does.
    pub(super) fn report(
        &mut self,
        app: &AppId,
        executor: u32,
        state: ExecutorState,
        exit_code: Option<i32>,
    ) -> Vec<MasterEffect> {
        let key = key(app, executor);
        let holder = self.workers().find(|worker| worker.executors.contains_key(&key));
        let worker = holder.map_or_else(|| w(0), |worker| worker.id().clone());
        self.report_from(worker, key, state, exit_code)
    }

    /// Reports an executor's state as worker `worker`, on the connection of a client.
    pub(super) fn report_from(
        &mut self,
        worker: WorkerId,
        executor: ExecutorKey,
        state: ExecutorState,
        exit_code: Option<i32>,
    ) -> Vec<MasterEffect> {
        let change = ExecutorStateChange { executor, state, message: None, exit_code };
        self.hear(CLIENT, WorkerToMaster::ExecutorStateChanged { worker, change })
    }

    /// What worker `number` reports as running, if it runs all that the master thinks.
    pub(super) fn list(&self, number: u32) -> WorkerReport {
        let info = self.worker_info(number);
        let executors = info.executors.iter().map(|(key, desc)| ExecutorReport {
            executor: key.clone(),
            profile: desc.profile,
            grant: desc.grant.clone(),
            state: desc.state,
        });
        let drivers = info.drivers.iter();
        let drivers =
            drivers.map(|(driver, grant)| DriverReport { driver: driver.clone(), grant: grant.clone() });
        WorkerReport { worker: w(number), executors: executors.collect(), drivers: drivers.collect() }
    }

    pub(super) fn disconnect_worker(&mut self, number: u32) -> Vec<MasterEffect> {
        let peer = self.worker_info(number).peer;
        self.send(MasterEvent::Disconnected { peer })
    }

    /// Lets time pass, with the ticks that the master asks for.
    pub(super) fn wait(&mut self, time: Duration) -> Vec<MasterEffect> {
        let until = self.now + time;
        let mut effects = Vec::new();
        while let Some(deadline) = self.next_deadline().filter(|deadline| *deadline <= until) {
            self.now = self.now.max(deadline);
            effects.extend(self.send(MasterEvent::Tick));
        }
        self.now = until;
        effects
    }

    pub(super) fn worker_info(&self, number: u32) -> &WorkerInfo {
        self.workers().find(|worker| *worker.id() == w(number)).expect("the worker is there")
    }

    pub(super) fn app_info(&self, app: &AppId) -> &AppInfo {
        self.apps().find(|info| info.id() == app).expect("the application is there")
    }

    /// The cores that an application has on each worker, in order of the workers' ids.
    pub(super) fn cores(&self, app: &AppId) -> Vec<u32> {
        let on = |worker: &WorkerInfo| {
            let of_app = worker.executors.iter().filter(|(key, _)| key.app == *app);
            of_app.map(|(_, desc)| desc.grant.cores).sum()
        };
        self.workers().map(on).collect()
    }

    /// How many executors an application has, and its limit.
    pub(super) fn executors_and_limit(&self, app: &AppId) -> (usize, u32) {
        let info = self.app_info(app);
        (info.executors.len(), info.executor_limit())
    }

    pub(super) fn status(&mut self, driver: &DriverId) -> Option<DriverStatus> {
        let effects = self.send(MasterEvent::RequestDriverStatus { peer: CLIENT, driver: driver.clone() });
        match effects.as_slice() {
            [MasterEffect::ToClient { reply: Reply::DriverStatus { status, .. }, .. }] => status.clone(),
            other => panic!("not an answer: {other:?}"),
        }
    }
}
