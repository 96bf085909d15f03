//! The cluster: machines, processes and the store, driven by the network's clock.

use std::{collections::BTreeMap, time::Duration};

use firesteel_scheduler::{
    deploy::{MasterAddress, MasterToWorker},
    master::{
        AppDescription, Master, MasterConfig, MasterEffect, MasterEvent, ObjectName, Peer, RecoveryState,
        Reply, StoredObject,
    },
    worker::{ProcessId, ProcessOwner, ProcessSignal, Worker, WorkerConfig, WorkerEffect, WorkerEvent},
};
use firesteel_types::{ExecutorRequest, Timestamp};

use crate::{
    app::{App, AppPhase, AppReaction},
    network::{End, Happening, Network},
    show,
};

/// 2026-01-01 00:00:00 UTC.
pub(crate) const START: Timestamp = Timestamp(1_767_225_600_000_000);

/// A master's machine. A killed one is down until it is started again, as a new process.
#[derive(Debug)]
pub(crate) struct MasterNode {
    pub(crate) master: Option<Master>,
    pub(crate) life: u32,
}

/// A worker's machine.
#[derive(Debug)]
pub(crate) struct WorkerNode {
    pub(crate) config: WorkerConfig,
    pub(crate) worker: Option<Worker>,
    pub(crate) life: u32,
    /// The processes that run.
    pub(crate) processes: BTreeMap<ProcessId, ProcessOwner>,
    /// It does nothing before that time.
    pub(crate) paused_until: Timestamp,
}

#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) network: Network,
    pub(crate) masters: Vec<MasterNode>,
    pub(crate) workers: Vec<WorkerNode>,
    pub(crate) apps: Vec<App>,
    /// The master that was elected last, if it is up.
    pub(crate) leader: Option<usize>,
    pub(crate) store: BTreeMap<ObjectName, StoredObject>,
    pub(crate) replies: Vec<Reply>,
    trace: Vec<String>,
    master_config: MasterConfig,
    /// Whether processes may fail to start and ignore a first signal.
    pub(crate) unruly: bool,
}

impl Cluster {
    /// Masters and workers that have not started, with messages that all take a millisecond.
    pub(crate) fn new(masters: usize, workers: usize, master_config: MasterConfig) -> Self {
        let addresses: Vec<MasterAddress> = (0..masters).map(address).collect();
        let worker = |number: usize| {
            let config = WorkerConfig::new(format!("h{number}"), 7078, addresses.clone(), 4, 4096);
            let config = WorkerConfig { decommission_enabled: true, ..config };
            let (worker, life, processes) = (None, 0, BTreeMap::new());
            WorkerNode { config, worker, life, processes, paused_until: Timestamp::ZERO }
        };
        let mut cluster = Self {
            network: Network::new(START, 1, Duration::from_millis(1), false),
            masters: (0..masters).map(|_| MasterNode { master: None, life: 0 }).collect(),
            workers: (0..workers).map(worker).collect(),
            apps: Vec::new(),
            leader: None,
            store: BTreeMap::new(),
            replies: Vec::new(),
            trace: Vec::new(),
            master_config,
            unruly: false,
        };
        (0..masters).for_each(|master| cluster.start_master(master));
        cluster
    }

    /// A cluster whose first master leads and whose workers are registered.
    pub(crate) fn running(masters: usize, workers: usize) -> Self {
        let mut cluster = Self::new(masters, workers, MasterConfig::default());
        cluster.elect(0);
        cluster.run(Duration::from_secs(1));
        (0..workers).for_each(|worker| cluster.start_worker(worker));
        cluster.run(Duration::from_secs(1));
        cluster.trace.clear();
        cluster
    }

    /// What was said since the last call, without heartbeats.
    pub(crate) fn said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.trace)
    }

    /// Lets time pass.
    pub(crate) fn run(&mut self, time: Duration) {
        let until = self.network.now + time;
        while let Some(at) = self.next_time().filter(|at| *at <= until) {
            self.network.now = self.network.now.max(at);
            match self.network.pop_until(self.network.now) {
                Some(happening) => self.happen(happening),
                None => self.tick(),
            }
        }
        self.network.now = until;
    }

    fn next_time(&self) -> Option<Timestamp> {
        let masters = self.masters.iter().filter_map(|node| node.master.as_ref()?.next_deadline());
        let workers = self.workers.iter().filter_map(WorkerNode::next_deadline);
        masters.chain(workers).chain(self.network.next_time()).min()
    }

    /// Wakes every machine whose deadline has come.
    fn tick(&mut self) {
        for master in 0..self.masters.len() {
            let machine = self.masters[master].master.as_ref();
            if machine.and_then(Master::next_deadline).is_some_and(|at| at <= self.network.now) {
                self.master_event(master, MasterEvent::Tick);
            }
        }
        for worker in 0..self.workers.len() {
            if self.workers[worker].next_deadline().is_some_and(|at| at <= self.network.now) {
                self.worker_event(worker, WorkerEvent::Tick);
            }
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::ToMaster { connection, event } => self.deliver_to_master(connection, event),
            Happening::ToWorker { connection, message } => self.deliver_to_worker(connection, message),
            Happening::ToApp { connection, message } => {
                let text = show::app_message(&message);
                let Some(app) = self.arrived_at_app(connection, &text) else { return };
                let reaction = self.apps[app].on_message(connection, &message);
                self.react(app, reaction);
            }
            Happening::Answer { connection, reply } => {
                if self.network.connection(connection).end == End::Client {
                    self.note(connection, true, &show::reply(&reply));
                    self.replies.push(reply);
                } else if let Some(app) = self.arrived_at_app(connection, &show::reply(&reply)) {
                    self.apps[app].on_reply(connection, &reply);
                }
            }
            Happening::WorkerNews { worker, life, event } => {
                let node = &self.workers[worker];
                if node.life == life && node.is_paused(self.network.now) {
                    let at = node.paused_until;
                    self.network.at(at, Happening::WorkerNews { worker, life, event });
                } else if node.life == life {
                    self.worker_event(worker, event);
                }
            }
            Happening::MasterNews { master, life, event } => {
                if self.masters[master].life == life {
                    self.master_event(master, event);
                }
            }
            Happening::ProcessEnds { worker, life, process, code } => {
                self.end_process(worker, life, process, code);
            }
            Happening::StartWorker { worker } => self.start_worker(worker),
            Happening::StartMaster { master } => self.start_master(master),
            Happening::Elect { master } => self.elect(master),
            Happening::AskAgain { app } => self.ask_masters(app),
            Happening::AppCutOff { app, connection } => self.app_cut_off(app, connection),
        }
    }

    fn deliver_to_master(&mut self, connection: u64, event: MasterEvent) {
        let known = self.network.connection(connection);
        if !known.open {
            return;
        }
        let master = known.master;
        let text = show::master_event(&event);
        if text != "Heartbeat" {
            self.note(connection, false, &text);
        }
        self.master_event(master, event);
    }

    fn deliver_to_worker(&mut self, connection: u64, message: MasterToWorker) {
        let known = self.network.connection(connection);
        let (master, End::Worker(worker), true) = (known.master, known.end, known.open) else { return };
        let node = &self.workers[worker];
        if node.is_paused(self.network.now) {
            let at = node.paused_until;
            self.network.at(at, Happening::ToWorker { connection, message });
            return;
        }
        self.note(connection, true, &show::master_to_worker(&message));
        self.worker_event(worker, WorkerEvent::FromMaster { master: address(master), message });
    }

    /// The application at the other end, if the connection still stands and it lives.
    fn arrived_at_app(&mut self, connection: u64, text: &str) -> Option<usize> {
        let known = self.network.connection(connection);
        let (End::App(app), true) = (known.end, known.open) else { return None };
        self.note(connection, true, text);
        self.apps[app].is_alive().then_some(app)
    }

    fn react(&mut self, app: usize, reaction: AppReaction) {
        let Some(connection) = self.apps[app].connection else { return };
        match reaction {
            AppReaction::Nothing => {}
            AppReaction::AcknowledgeMaster => {
                let id = self.apps[app].id.clone().expect("only registered applications are stored");
                let event = MasterEvent::MasterChangeAcknowledged { peer: Peer(connection), app: id };
                self.network.send_to_master(connection, event);
            }
            AppReaction::Drain(executor) => {
                let app = self.apps[app].id.clone().expect("it has executors");
                let owner = ProcessOwner::Executor(firesteel_types::ExecutorKey { app, executor });
                self.exit_process(&owner, 0);
            }
            AppReaction::End => self.end_app_process(app),
        }
    }

    pub(crate) fn master_event(&mut self, master: usize, event: MasterEvent) {
        let Some(machine) = &mut self.masters[master].master else { return };
        let effects = machine.handle(self.network.now, event);
        for effect in effects {
            self.perform_for_master(master, effect);
        }
    }

    fn perform_for_master(&mut self, master: usize, effect: MasterEffect) {
        match effect {
            MasterEffect::ToWorker { peer: Peer(connection), message } => {
                self.send_from_master(connection, Happening::ToWorker { connection, message });
            }
            MasterEffect::ToApp { peer: Peer(connection), message } => {
                self.send_from_master(connection, Happening::ToApp { connection, message });
            }
            MasterEffect::ToClient { peer: Peer(connection), reply } => {
                self.send_from_master(connection, Happening::Answer { connection, reply });
            }
            MasterEffect::LoadStored => self.recover(master),
            MasterEffect::Persist(object) => {
                let before = self.store.insert(object.name(), object);
                assert_eq!(before, None, "an object is stored once");
            }
            MasterEffect::Forget(name) => {
                assert!(self.store.remove(&name).is_some(), "{name} is forgotten once");
            }
            MasterEffect::ShutDown => self.kill_master(master),
            MasterEffect::Ignored { .. } => {}
        }
    }

    /// What goes out on a connection that broke is lost.
    fn send_from_master(&mut self, connection: u64, happening: Happening) {
        if self.network.connection(connection).open {
            self.network.send_from_master(connection, happening);
        }
    }

    pub(crate) fn worker_event(&mut self, worker: usize, event: WorkerEvent) {
        let Some(machine) = &mut self.workers[worker].worker else { return };
        let effects = machine.handle(self.network.now, event);
        for effect in effects {
            self.perform_for_worker(worker, effect);
        }
    }

    fn perform_for_worker(&mut self, worker: usize, effect: WorkerEffect) {
        let life = self.workers[worker].life;
        let news = |event| Happening::WorkerNews { worker, life, event };
        match effect {
            WorkerEffect::Prepare { .. } => {
                let (from_file, discovered) = (BTreeMap::new(), BTreeMap::new());
                self.network.soon(news(WorkerEvent::Prepared { from_file, discovered }));
            }
            WorkerEffect::ToMaster { master, message } => self.send_to_master(worker, &master, message),
            WorkerEffect::CreateDirs { process, local_dirs, .. } => {
                self.network.soon(news(WorkerEvent::DirsCreated { process, local_dirs }));
            }
            WorkerEffect::StartProcess(start) => {
                let process = start.process;
                if self.unruly && self.network.one_in(10) {
                    let message = "no such file".to_owned();
                    self.network.soon(news(WorkerEvent::ProcessFailed { process, message }));
                } else {
                    if self.is_of_ended_app(&start.owner) {
                        let end = Happening::ProcessEnds { worker, life, process, code: 1 };
                        self.network.after(Duration::from_secs(10), end);
                    }
                    self.workers[worker].processes.insert(process, start.owner);
                    self.network.soon(news(WorkerEvent::ProcessStarted { process }));
                }
            }
            WorkerEffect::Signal { process, signal } => {
                let code = match signal {
                    ProcessSignal::Terminate if self.unruly && self.network.one_in(5) => return,
                    ProcessSignal::Terminate => 143,
                    ProcessSignal::Destroy => 137,
                };
                self.network.soon(Happening::ProcessEnds { worker, life, process, code });
            }
            WorkerEffect::ListDirs { .. } => {
                self.network.soon(news(WorkerEvent::DirsListed { dirs: Vec::new() }));
            }
            WorkerEffect::Exit { .. } => {
                self.kill_worker(worker);
                self.network.after(Duration::from_secs(5), Happening::StartWorker { worker });
            }
            // A worker that was paused may give a process up just before it hears of its end.
            WorkerEffect::Orphaned { .. }
            | WorkerEffect::RemoveDir { .. }
            | WorkerEffect::ForgetApp { .. }
            | WorkerEffect::Ignored { .. } => {}
        }
    }

    /// Whether the driver that the process will look for is gone.
    fn is_of_ended_app(&self, owner: &ProcessOwner) -> bool {
        match owner {
            ProcessOwner::Executor(key) => {
                !self.apps.iter().any(|app| app.is_alive() && app.id.as_ref() == Some(&key.app))
            }
            ProcessOwner::Driver(_) => false,
        }
    }

    fn note(&mut self, connection: u64, from_master: bool, text: &str) {
        let known = self.network.connection(connection);
        let other = match known.end {
            End::Worker(worker) => format!("h{worker}"),
            End::App(app) => format!("a{app}"),
            End::Client => "client".to_owned(),
        };
        let arrow = if from_master { '<' } else { '>' };
        self.trace.push(format!("{other} {arrow} {}: {text}", address(known.master)));
    }

    /// The machine of the master that leads.
    pub(crate) fn master(&self) -> &Master {
        let leader = self.leader.expect("a master leads");
        self.masters[leader].master.as_ref().expect("the leader is up")
    }

    pub(crate) fn new_master(&self) -> Master {
        Master::new(self.master_config.clone(), 7).expect("the settings are valid")
    }

    pub(crate) fn is_led(&self) -> bool {
        self.leader.is_some() && self.master().state() == RecoveryState::Alive
    }

    /// Starts an application whose executors have one core and 512 MiB. Gives its number.
    pub(crate) fn start_app(&mut self, executors: u32) -> usize {
        let executor = ExecutorRequest { cores: Some(1), memory_mib: 512, ..ExecutorRequest::default() };
        self.apps.push(App::new(AppDescription {
            name: "app".to_owned(),
            cores_max: None,
            executor,
            executor_limit: Some(executors),
            driver_url: "driver:1".to_owned(),
            page: None,
            command: std::sync::Arc::default(),
        }));
        let app = self.apps.len() - 1;
        self.ask_masters(app);
        app
    }

    fn ask_masters(&mut self, app: usize) {
        if self.apps[app].phase != AppPhase::Registering {
            return;
        }
        for master in self.up_masters() {
            let connection = self.network.between(master, End::App(app));
            let connection = connection.unwrap_or_else(|| self.network.connect(master, End::App(app)));
            let description = self.apps[app].description.clone();
            let event = MasterEvent::RegisterApplication { peer: Peer(connection), app: description };
            self.network.send_to_master(connection, event);
        }
        self.network.after(Duration::from_secs(20), Happening::AskAgain { app });
    }

    /// Asks the leader something as a client.
    pub(crate) fn ask(&mut self, event: impl FnOnce(Peer) -> MasterEvent) {
        let leader = self.leader.expect("a master leads");
        let connection = self.network.connect(leader, End::Client);
        self.network.send_to_master(connection, event(Peer(connection)));
    }

    pub(crate) fn up_masters(&self) -> Vec<usize> {
        (0..self.masters.len()).filter(|&master| self.masters[master].master.is_some()).collect()
    }
}

impl WorkerNode {
    fn next_deadline(&self) -> Option<Timestamp> {
        let deadline = self.worker.as_ref()?.next_deadline()?;
        Some(deadline.max(self.paused_until))
    }

    pub(crate) fn is_paused(&self, now: Timestamp) -> bool {
        now < self.paused_until
    }
}

/// Where a master is reached.
pub(crate) fn address(master: usize) -> MasterAddress {
    format!("m{master}").into()
}

/// Which master is reached there.
pub(crate) fn at_address(address: &MasterAddress) -> usize {
    address.as_str()[1..].parse().expect("addresses are made here")
}
