//! A scheduling pass: drivers first, then executors, each on a worker with room.
//!
//! A pass runs only after something that could change its result, and sorts nothing. What did not fit once is
//! remembered for the rest of the pass, in which workers only fill up: a hundred applications that wait for the
//! same kind of executor cost one look at the workers, not a hundred.

use std::{
    collections::{BTreeSet, VecDeque},
    mem,
};

use firesteel_types::{AppId, DriverId, ExecutorKey, ProfileId, WorkerId};

use super::{
    app_info::AppState,
    config::Placement,
    driver_info::DriverPlace,
    effect::{AppMessage, MasterEffect},
    machine::{Master, Phase, to_worker},
    schedule::{Demand, Room, cores_for_workers},
    worker_info::ExecutorDesc,
};
use crate::deploy::{DriverLaunch, ExecutorLaunch, ExecutorState, MasterToWorker, Need};

impl Master {
    /// Runs a pass if this master is alive and something has changed since the last one.
    pub(super) fn schedule(&mut self, out: &mut Vec<MasterEffect>) {
        if self.phase != Phase::Alive || !mem::take(&mut self.changed) {
            return;
        }
        self.passes += 1;
        self.place_drivers(out);
        self.place_executors(out);
    }

    fn place_drivers(&mut self, out: &mut Vec<MasterEffect>) {
        if self.waiting_drivers.is_empty() {
            return;
        }
        let mut order = self.workers.alive();
        if self.config.driver_placement == Placement::SpreadOut {
            for at in (1..order.len()).rev() {
                order.swap(at, self.rng.below(at + 1));
            }
        }
        let most = self.config.max_drivers.map_or(usize::MAX, |most| most as usize);
        let mut running = self.drivers.len() - self.waiting_drivers.len();
        let mut still_waiting = VecDeque::new();
        let mut hopeless = BTreeSet::new();
        let mut next = 0;
        for driver in mem::take(&mut self.waiting_drivers) {
            let need = self.drivers.get(&driver).expect("waiting drivers are there").need();
            let place = if running < most && !hopeless.contains(&need) {
                self.first_with_room(&order, next, &need)
            } else {
                None
            };
            if let Some(at) = place {
                self.launch_driver(&driver, &order[at], &need, out);
                running += 1;
                if self.config.driver_placement == Placement::SpreadOut {
                    next = (at + 1) % order.len();
                }
            } else {
                hopeless.insert(need);
                still_waiting.push_back(driver);
            }
        }
        self.waiting_drivers = still_waiting;
    }

    /// The position of the first worker, going round from `start`, that has room for `need`.
    fn first_with_room(&self, order: &[WorkerId], start: usize, need: &Need) -> Option<usize> {
        let positions = (start..order.len()).chain(0..start);
        let has_room =
            |at: &usize| self.workers.get(&order[*at]).is_some_and(|worker| worker.can_launch(need));
        positions.into_iter().find(has_room)
    }

    fn launch_driver(
        &mut self,
        driver: &DriverId,
        worker: &WorkerId,
        need: &Need,
        out: &mut Vec<MasterEffect>,
    ) {
        let (grant, peer) = self.workers.update(worker, |worker| {
            let grant = worker.acquire(need);
            worker.drivers.insert(driver.clone(), grant.clone());
            (grant, worker.peer)
        });
        let info = self.drivers.get_mut(driver).expect("the driver is there");
        info.place = DriverPlace::Running { worker: worker.clone() };
        let launch = DriverLaunch {
            driver: driver.clone(),
            grant,
            supervise: info.description().supervise,
            command: info.description().command.clone(),
        };
        out.push(to_worker(peer, MasterToWorker::LaunchDriver(Box::new(launch))));
    }

    /// Applications go in the order they registered, and their profiles by id; each takes all it wants.
    fn place_executors(&mut self, out: &mut Vec<MasterEffect>) {
        let mut hopeless = BTreeSet::new();
        for at in 0..self.apps.len() {
            if self.workers.is_full() {
                return;
            }
            let (_, app) = self.apps.get_index(at).expect("a pass removes no applications");
            if app.cores_left() == 0 {
                continue;
            }
            let hungry = app.profiles.iter().filter(|(_, profile)| profile.executors_left() > 0);
            let (app, hungry): (AppId, Vec<ProfileId>) =
                (app.id().clone(), hungry.map(|(id, _)| *id).collect());
            for profile in hungry {
                self.place_executors_of(&app, profile, &mut hopeless, out);
            }
        }
    }

    fn place_executors_of(
        &mut self,
        app: &AppId,
        profile: ProfileId,
        hopeless: &mut BTreeSet<Need>,
        out: &mut Vec<MasterEffect>,
    ) {
        let info = self.apps.get(app).expect("a pass removes no applications");
        let of_profile = info.profiles.get(&profile).expect("profiles are never removed");
        let mut need = of_profile.need();
        let demand = Demand {
            cores_per_executor: of_profile.request.cores,
            memory_mib: need.memory_mib,
            cores_left: info.cores_left(),
            executors_left: of_profile.executors_left(),
        };
        // Each usable worker takes at least one executor, so workers beyond this number would get none.
        let most = demand.executors_left.min(demand.cores_left / need.cores);
        if most == 0 || hopeless.contains(&need) {
            return;
        }
        let usable = self.workers.usable(&need, most as usize);
        if usable.is_empty() {
            hopeless.insert(need);
            return;
        }
        let room = |worker: &&super::WorkerInfo| Room {
            cores: worker.cores_free(),
            memory_mib: worker.memory_free_mib(),
            executors_by_addresses: worker.fits_by_addresses(&need.resources),
        };
        let rooms: Vec<Room> = usable.iter().map(room).collect();
        let ids: Vec<WorkerId> = usable.into_iter().map(|worker| worker.id().clone()).collect();
        let cores = cores_for_workers(&demand, &rooms, self.config.app_placement);
        for (worker, cores) in ids.iter().zip(cores).filter(|(_, cores)| *cores > 0) {
            need.cores = demand.cores_per_executor.unwrap_or(cores);
            for _ in 0..cores / need.cores {
                self.launch_executor(app, profile, worker, &need, out);
            }
        }
    }

    fn launch_executor(
        &mut self,
        app: &AppId,
        profile: ProfileId,
        worker: &WorkerId,
        need: &Need,
        out: &mut Vec<MasterEffect>,
    ) {
        let info = self.apps.get_mut(app).expect("a pass removes no applications");
        let executor = info.next_executor();
        info.add_executor(executor, profile, need.cores, worker.clone());
        info.state = AppState::Running;
        let key = ExecutorKey { app: app.clone(), executor };
        let (grant, peer, host, port) = self.workers.update(worker, |worker| {
            let grant = worker.acquire(need);
            let desc = ExecutorDesc { profile, state: ExecutorState::Launching, grant: grant.clone() };
            worker.executors.insert(key.clone(), desc);
            (grant, worker.peer, worker.host().clone(), worker.description.port)
        });
        let (cores, memory_mib) = (grant.cores, grant.memory_mib);
        let launch = ExecutorLaunch {
            executor: key,
            profile,
            grant,
            driver_url: info.description().driver_url.clone(),
            command: info.description().command.clone(),
        };
        out.push(to_worker(peer, MasterToWorker::LaunchExecutor(Box::new(launch))));
        let added =
            AppMessage::ExecutorAdded { executor, worker: worker.clone(), host, port, cores, memory_mib };
        out.push(MasterEffect::ToApp { peer: info.peer, message: added });
    }
}
