//! The executors that are registered now.

use std::{collections::VecDeque, sync::Arc};

use firesteel_types::{AttemptId, Cpus, ExecutorId, Host, ProfileId, ResourceAssignment, Timestamp};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::{
    HostId, Hosts,
    ahead::{SentAhead, SlotSizes},
    table::ExecutorTable,
};
use crate::{
    event::ExecutorSpec,
    resources::{ExecutorResources, ProfileManager, TaskNeed},
};

/// One registered executor.
#[derive(Debug)]
pub(crate) struct Executor {
    pub(crate) host: HostId,
    pub(crate) address: Arc<str>,
    pub(crate) profile: ProfileId,
    pub(crate) resources: ExecutorResources,
    /// Attempts that hold resources here, oldest first.
    pub(crate) running: Vec<AttemptId>,
    /// Attempts that wait here for one of those to end, in the order in which they begin.
    pub(crate) ahead: VecDeque<SentAhead>,
    pub(super) sizes: SlotSizes,
    /// Whether it reported that it is ready. Until then it has nothing to offer.
    pub(crate) launched: bool,
    pub(crate) going: Going,
    /// Whether contact was lost and the reason is not known yet.
    pub(crate) loss_pending: bool,
    /// When it was asked for, if it was.
    pub(crate) requested: Option<Timestamp>,
    /// Its place in the list of executors with something to offer.
    free_position: Option<u32>,
}

/// Whether and why an executor is on the way out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Going {
    /// The driver ordered its end; the flag tells whether that counts as a failure.
    pub(crate) kill: Option<CountFailures>,
    /// It was told to drain and leave.
    pub(crate) decommission: Option<Decommission>,
}

/// Whether the end of a killed executor counts against the tasks it was running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountFailures {
    Yes,
    No,
}

/// A decommission under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decommission {
    /// The host that leaves with the executor, if it does.
    pub(crate) worker_host: Option<Host>,
    /// When it is killed if it is still there.
    pub(crate) kill_at: Option<Timestamp>,
}

impl Executor {
    /// Whether it may be offered.
    pub(crate) fn is_active(&self) -> bool {
        self.launched && !self.loss_pending && self.going == Going::default()
    }

    /// Whether it counts as a place where data can be near.
    pub(crate) fn is_alive(&self) -> bool {
        self.launched && !self.loss_pending && self.going.decommission.is_none()
    }

    pub(crate) fn has_offer(&self) -> bool {
        self.is_active() && self.resources.cpus_free() > Cpus::ZERO
    }
}

/// Every registered executor, and those of them that have something to offer.
#[derive(Debug, Default)]
pub(crate) struct Executors {
    pub(crate) hosts: Hosts,
    pub(super) executors: ExecutorTable<Executor>,
    /// Executors on which attempts wait.
    pub(super) with_ahead: IndexSet<ExecutorId, FxBuildHasher>,
    /// Active executors with free cpus, in no particular order.
    free: Vec<ExecutorId>,
    /// Wide, so that executors that claim absurd numbers of cores cannot make it overflow.
    total_nanos: u128,
    /// Decommissioned executors that are gone, oldest first, with the host that went with them.
    removed_decommissioned: VecDeque<(ExecutorId, Option<Host>)>,
}

impl Executors {
    pub(crate) fn get(&self, id: ExecutorId) -> Option<&Executor> {
        self.executors.get(id)
    }

    /// The executor `id`, which the caller knows to be registered.
    pub(crate) fn known(&self, id: ExecutorId) -> &Executor {
        self.get(id).expect("the caller looked the executor up before")
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ExecutorId, &Executor)> {
        self.executors.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.executors.len()
    }

    /// Active executors with free cpus.
    pub(crate) fn free(&self) -> &[ExecutorId] {
        &self.free
    }

    pub(crate) fn host_name(&self, id: ExecutorId) -> Option<&Host> {
        self.get(id).map(|executor| self.hosts.name(executor.host))
    }

    pub(crate) fn is_alive(&self, id: ExecutorId) -> bool {
        self.get(id).is_some_and(Executor::is_alive)
    }

    /// Takes in a new executor, which has nothing to offer yet.
    pub(crate) fn add(&mut self, spec: ExecutorSpec, requested: Option<Timestamp>) {
        let host = self.hosts.intern(&spec.host);
        self.total_nanos += u128::from(spec.cpus.as_nanos());
        let executor = Executor {
            host,
            address: spec.address,
            profile: spec.profile,
            resources: ExecutorResources::new(spec.cpus, spec.resources),
            running: Vec::new(),
            ahead: VecDeque::new(),
            sizes: SlotSizes::default(),
            launched: false,
            going: Going::default(),
            loss_pending: false,
            requested,
            free_position: None,
        };
        let is_new = self.executors.insert(spec.executor, executor);
        assert!(is_new, "registration refuses an id that is taken");
    }

    /// Changes what is known of an executor, and brings everything derived from it up to date.
    pub(crate) fn update<T>(&mut self, id: ExecutorId, change: impl FnOnce(&mut Executor) -> T) -> Option<T> {
        let executor = self.executors.get_mut(id)?;
        let was_alive = executor.is_alive();
        let result = change(executor);
        let (host, is_alive) = (executor.host, executor.is_alive());
        match (was_alive, is_alive) {
            (false, true) => self.hosts.add_alive(host, id),
            (true, false) => self.hosts.remove_alive(host, id),
            (false, false) | (true, true) => (),
        }
        self.refresh_offer(id);
        Some(result)
    }

    /// Removes an executor for good.
    pub(crate) fn remove(&mut self, id: ExecutorId, remembered_max: usize) -> Option<Executor> {
        self.update(id, |executor| executor.launched = false)?;
        let executor = self.executors.remove(id)?;
        self.with_ahead.swap_remove(&id);
        self.total_nanos -= u128::from(executor.resources.cpus_total().as_nanos());
        if let Some(decommission) = &executor.going.decommission {
            self.removed_decommissioned.push_back((id, decommission.worker_host.clone()));
            while self.removed_decommissioned.len() > remembered_max {
                self.removed_decommissioned.pop_front();
            }
        }
        Some(executor)
    }

    /// Takes what `attempt` needs from an executor that has it.
    pub(crate) fn take(&mut self, id: ExecutorId, need: &TaskNeed) -> Option<ResourceAssignment> {
        let executor = self.executors.get_mut(id)?;
        let assignment = executor.resources.take(need)?;
        if executor.resources.cpus_free() == Cpus::ZERO {
            self.refresh_offer(id);
        }
        Some(assignment)
    }

    /// Gives back what was taken. An executor that is gone took it along.
    pub(crate) fn give_back(&mut self, id: ExecutorId, cpus: Cpus, assignment: &ResourceAssignment) {
        if let Some(executor) = self.executors.get_mut(id) {
            executor.resources.give_back(cpus, assignment).expect("only what was taken is given back");
            if executor.free_position.is_none() {
                self.refresh_offer(id);
            }
        }
    }

    /// Whether, and with which host, an executor is decommissioning or was when it went.
    pub(crate) fn decommission_of(&self, id: ExecutorId) -> Option<Option<&Host>> {
        match self.get(id) {
            Some(executor) => executor.going.decommission.as_ref().map(|d| d.worker_host.as_ref()),
            None => self
                .removed_decommissioned
                .iter()
                .find(|(gone, _)| *gone == id)
                .map(|(_, host)| host.as_ref()),
        }
    }

    /// Cores of every registered executor.
    pub(crate) fn total_cpus(&self) -> Cpus {
        Cpus::nanos(u64::try_from(self.total_nanos).unwrap_or(u64::MAX))
    }

    /// Tasks of a profile that all active executors could run at once, busy or free.
    pub(crate) fn slots_in_all(&self, profile: ProfileId, profiles: &ProfileManager) -> u32 {
        let Some(need) = profiles.need(profile) else { return 0 };
        let slots: u64 = self
            .iter()
            .map(|(_, executor)| executor)
            .filter(|executor| executor.is_active() && profiles.can_run_on(profile, executor.profile))
            .map(|executor| u64::from(executor.resources.total_slots(need)))
            .sum();
        u32::try_from(slots).unwrap_or(u32::MAX)
    }

    /// Keeps the list of executors with offers exact after a change of this one.
    fn refresh_offer(&mut self, id: ExecutorId) {
        let executor = self.executors.get_mut(id).expect("callers hold the id of a registered executor");
        match (executor.has_offer(), executor.free_position) {
            (true, None) => {
                executor.free_position = Some(self.free.len() as u32);
                self.free.push(id);
            }
            (false, Some(position)) => {
                executor.free_position = None;
                self.free.swap_remove(position as usize);
                if let Some(moved) = self.free.get(position as usize) {
                    let moved = self.executors.get_mut(*moved).expect("the list holds registered executors");
                    moved.free_position = Some(position);
                }
            }
            (true, Some(_)) | (false, None) => (),
        }
    }

    /// Gives an executor other resources, for tests of what would happen then.
    #[cfg(test)]
    pub(crate) fn replace_resources(&mut self, id: ExecutorId, resources: ExecutorResources) {
        let executor = self.executors.get_mut(id).expect("the test names a registered executor");
        self.total_nanos -= u128::from(executor.resources.cpus_total().as_nanos());
        self.total_nanos += u128::from(resources.cpus_total().as_nanos());
        executor.resources = resources;
        self.refresh_offer(id);
    }

    /// Cross-checks what is derived.
    pub(crate) fn check_invariants(&self) {
        for (id, executor) in self.iter() {
            let listed = executor.free_position.is_some_and(|at| self.free.get(at as usize) == Some(&id));
            assert_eq!(listed, executor.has_offer(), "{id} is listed as free exactly when it has an offer");
            if executor.running.is_empty() {
                assert!(executor.resources.is_all_free(), "{id} runs nothing and so has everything free");
            }
        }
        let total: u128 = self.iter().map(|(_, e)| u128::from(e.resources.cpus_total().as_nanos())).sum();
        assert_eq!(total, self.total_nanos, "the total is the sum");
        self.check_ahead();
    }
}
