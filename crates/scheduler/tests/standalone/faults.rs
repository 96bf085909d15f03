//! What goes wrong: connections break, processes and machines die and come back, leadership changes.

use std::time::Duration;

use firesteel_scheduler::{
    deploy::{MasterAddress, WorkerToMaster},
    master::{MasterEvent, Peer, StoredObject},
    worker::{ProcessId, ProcessOwner, Worker, WorkerEvent},
};

use crate::{
    app::AppPhase,
    cluster::{Cluster, address, at_address},
    network::{End, Happening},
};

impl Cluster {
    /// Sends a worker's message, over a new connection if need be.
    pub(crate) fn send_to_master(&mut self, worker: usize, to: &MasterAddress, message: WorkerToMaster) {
        let master = at_address(to);
        let open = self.network.between(master, End::Worker(worker));
        let connection = match open {
            Some(connection) => connection,
            None if self.masters[master].master.is_some() => {
                self.network.connect(master, End::Worker(worker))
            }
            None => return self.tell_worker_of_loss(worker, master),
        };
        let event = MasterEvent::FromWorker { peer: Peer(connection), message };
        self.network.send_to_master(connection, event);
    }

    pub(crate) fn tell_worker_of_loss(&mut self, worker: usize, master: usize) {
        let event = WorkerEvent::MasterLost { master: address(master) };
        let life = self.workers[worker].life;
        self.network.soon(Happening::WorkerNews { worker, life, event });
    }

    /// Breaks a connection: what is on its way is lost, and both ends notice, each in its time.
    pub(crate) fn break_connection(&mut self, connection: u64) {
        self.network.close(connection);
        let known = self.network.connection(connection).clone();
        let (master, life) = (known.master, self.masters[known.master].life);
        let event = MasterEvent::Disconnected { peer: Peer(connection) };
        self.network.soon(Happening::MasterNews { master, life, event });
        match known.end {
            End::Worker(worker) if self.network.between(master, known.end).is_none() => {
                self.tell_worker_of_loss(worker, master);
            }
            End::App(app) => self.network.soon(Happening::AppCutOff { app, connection }),
            End::Worker(_) | End::Client => {}
        }
    }

    /// An application whose master is alive was given up by it; one whose master died waits for the next.
    pub(crate) fn app_cut_off(&mut self, app: usize, connection: u64) {
        if self.apps[app].connection != Some(connection) || !self.apps[app].is_alive() {
            return;
        }
        let master = self.network.connection(connection).master;
        if self.masters[master].master.is_some() && self.leader == Some(master) {
            self.end_app_process(app);
        } else {
            self.apps[app].phase = AppPhase::Waiting;
        }
    }

    /// The application's driver ends, and its executors lose it.
    pub(crate) fn end_app_process(&mut self, app: usize) {
        self.apps[app].phase = AppPhase::Ended;
        for connection in self.network.open_connections(|known| known.end == End::App(app)) {
            self.break_connection(connection);
        }
        self.end_executors_without_driver(app);
    }

    /// Executors that cannot reach their driver end by themselves.
    fn end_executors_without_driver(&mut self, app: usize) {
        let Some(id) = self.apps[app].id.clone() else { return };
        for worker in 0..self.workers.len() {
            let life = self.workers[worker].life;
            let its_own =
                |owner: &ProcessOwner| matches!(owner, ProcessOwner::Executor(key) if key.app == id);
            let processes = self.workers[worker].processes.iter().filter(|(_, owner)| its_own(owner));
            let processes: Vec<ProcessId> = processes.map(|(process, _)| *process).collect();
            for process in processes {
                let end = Happening::ProcessEnds { worker, life, process, code: 1 };
                self.network.after(Duration::from_secs(10), end);
            }
        }
    }

    /// The application reports that it is done.
    pub(crate) fn finish_app(&mut self, app: usize) {
        if let (Some(connection), Some(id)) = (self.apps[app].connection, self.apps[app].id.clone())
            && self.network.connection(connection).open
        {
            self.network.send_to_master(connection, MasterEvent::UnregisterApplication { app: id });
            self.apps[app].phase = AppPhase::Ended;
            self.end_executors_without_driver(app);
        } else {
            self.end_app_process(app);
        }
    }

    /// A process of any worker ends by itself. Gives whether there was one.
    pub(crate) fn exit_process(&mut self, owner: &ProcessOwner, code: i32) -> bool {
        let found = self.workers.iter().enumerate().find_map(|(worker, node)| {
            let mut processes = node.processes.iter();
            let (process, _) = processes.find(|(_, known)| *known == owner)?;
            Some((worker, node.life, *process))
        });
        if let Some((worker, life, process)) = found {
            self.network.soon(Happening::ProcessEnds { worker, life, process, code });
        }
        found.is_some()
    }

    pub(crate) fn end_process(&mut self, worker: usize, life: u32, process: ProcessId, code: i32) {
        let node = &mut self.workers[worker];
        if node.life == life && node.processes.remove(&process).is_some() {
            let event = WorkerEvent::ProcessExited { process, code };
            self.network.soon(Happening::WorkerNews { worker, life, event });
        }
    }

    pub(crate) fn start_worker(&mut self, worker: usize) {
        let node = &mut self.workers[worker];
        if node.worker.is_some() {
            return;
        }
        let seed = (worker as u64) << 32 | u64::from(node.life);
        node.worker = Some(Worker::new(node.config.clone(), seed).expect("the settings are valid"));
        self.worker_event(worker, WorkerEvent::Started);
    }

    /// A worker's process ends, and with it, because they watch it, all that it started.
    pub(crate) fn kill_worker(&mut self, worker: usize) {
        let node = &mut self.workers[worker];
        node.worker = None;
        node.life += 1;
        node.processes.clear();
        for connection in self.network.open_connections(|known| known.end == End::Worker(worker)) {
            self.break_connection(connection);
        }
    }

    pub(crate) fn start_master(&mut self, master: usize) {
        if self.masters[master].master.is_none() {
            self.masters[master].master = Some(self.new_master());
        }
    }

    /// A master's process ends.
    pub(crate) fn kill_master(&mut self, master: usize) {
        let node = &mut self.masters[master];
        node.master = None;
        node.life += 1;
        if self.leader == Some(master) {
            self.leader = None;
        }
        for connection in self.network.open_connections(|known| known.master == master) {
            self.break_connection(connection);
        }
    }

    /// Makes a master the leader, if it is up and there is no other leader.
    pub(crate) fn elect(&mut self, master: usize) {
        if self.leader.is_none() && self.masters[master].master.is_some() {
            self.leader = Some(master);
            self.master_event(master, MasterEvent::Elected);
        }
    }

    /// Reads the store and connects to all peers in it; one that is gone is noticed as a broken connection.
    pub(crate) fn recover(&mut self, master: usize) {
        let (mut apps, mut drivers, mut workers) = (Vec::new(), Vec::new(), Vec::new());
        let mut broken = Vec::new();
        for object in self.store.values().cloned().collect::<Vec<_>>() {
            let end = match &object {
                StoredObject::App(stored) => {
                    let is_it = |app: &crate::app::App| app.is_alive() && app.id.as_ref() == Some(&stored.id);
                    self.apps.iter().position(is_it).map(End::App)
                }
                StoredObject::Worker(stored) => {
                    let is_it = |node: &crate::cluster::WorkerNode| {
                        node.worker.as_ref().and_then(Worker::id) == Some(&stored.id)
                    };
                    self.workers.iter().position(is_it).map(End::Worker)
                }
                StoredObject::Driver(_) => None,
            };
            let mut peer = || {
                let connection = self.network.connect(master, end.unwrap_or(End::Client));
                broken.extend(end.is_none().then_some(connection));
                Peer(connection)
            };
            match object {
                StoredObject::App(app) => apps.push((app, peer())),
                StoredObject::Worker(worker) => workers.push((worker, peer())),
                StoredObject::Driver(driver) => drivers.push(driver),
            }
        }
        let life = self.masters[master].life;
        let event = MasterEvent::Recovered { apps, drivers, workers };
        self.network.soon(Happening::MasterNews { master, life, event });
        for connection in broken {
            self.network.close(connection);
            let event = MasterEvent::Disconnected { peer: Peer(connection) };
            self.network.after(Duration::from_secs(2), Happening::MasterNews { master, life, event });
        }
    }
}
