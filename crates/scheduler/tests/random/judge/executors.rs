//! Executors as they were announced, and what they have left.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use firesteel_scheduler::{ExecutorSpec, TaskDescription};
use firesteel_types::{
    AttemptId, Cpus, ExclusionScope, ExecutorId, Host, ListenerEvent, ProfileId, ResourceAssignment,
    ResourceName, Share, StageAttemptId,
};

use super::{Judge, Phase, state::Set};

/// A registered executor.
#[derive(Debug)]
pub struct Executor {
    pub spec: ExecutorSpec,
    pub is_launched: bool,
    /// Whether it was disconnected, killed or told to leave.
    pub is_leaving: bool,
    /// Whether contact with it was lost.
    pub is_disconnected: bool,
    used: Cpus,
    shares: BTreeMap<(ResourceName, Arc<str>), Share>,
}

impl Executor {
    /// Whether it may get tasks.
    pub fn is_ready(&self) -> bool {
        self.is_launched && !self.is_leaving
    }

    pub fn is_idle(&self) -> bool {
        self.used == Cpus::ZERO && self.shares.values().all(|share| share.is_zero())
    }

    /// Whether everything runs that could.
    pub(super) fn is_full(&self) -> bool {
        self.used == self.spec.cpus
    }

    pub(super) fn take(&mut self, task: &TaskDescription) {
        self.used = self.used.plus(task.cpus);
        assert!(self.used <= self.spec.cpus, "{} gets no more than its cores", self.spec.executor);
        for (resource, addresses) in &task.resources {
            for (address, share) in addresses {
                let there = self.spec.resources.get(resource).is_some_and(|all| all.contains(address));
                assert!(there, "{} has {resource} {address}", self.spec.executor);
                let used = self.shares.entry((resource.clone(), address.clone())).or_default();
                *used = used.plus(*share);
                assert!(*used <= Share::WHOLE, "{resource} {address} is given out once");
            }
        }
    }

    pub(super) fn give_back(&mut self, cpus: Cpus, resources: &ResourceAssignment) {
        self.used = self.used.checked_sub(cpus).expect("it was taken");
        for (resource, addresses) in resources {
            for (address, share) in addresses {
                let used = self.shares.get_mut(&(resource.clone(), address.clone())).expect("it was taken");
                *used = used.checked_sub(*share).expect("it was taken");
            }
        }
    }
}

/// Who is excluded, as the listeners were told.
#[derive(Debug, Default)]
pub(super) struct Exclusions {
    executors: BTreeSet<ExecutorId>,
    hosts: BTreeSet<Host>,
    executors_for: BTreeSet<(StageAttemptId, ExecutorId)>,
    hosts_for: BTreeSet<(StageAttemptId, Host)>,
}

impl Exclusions {
    pub(super) fn see(&mut self, event: &ListenerEvent) {
        match event {
            ListenerEvent::ExecutorExcluded { executor, scope, .. } => match scope {
                ExclusionScope::Application => drop(self.executors.insert(*executor)),
                ExclusionScope::Stage(set) => drop(self.executors_for.insert((*set, *executor))),
            },
            ListenerEvent::NodeExcluded { host, scope, .. } => match scope {
                ExclusionScope::Application => drop(self.hosts.insert(host.clone())),
                ExclusionScope::Stage(set) => drop(self.hosts_for.insert((*set, host.clone()))),
            },
            ListenerEvent::ExecutorUnexcluded { executor, .. } => drop(self.executors.remove(executor)),
            ListenerEvent::NodeUnexcluded { host, .. } => drop(self.hosts.remove(host)),
            _ => (),
        }
    }

    fn bars(&self, set: StageAttemptId, executor: ExecutorId, host: &Host) -> bool {
        self.executors.contains(&executor)
            || self.hosts.contains(host)
            || self.executors_for.contains(&(set, executor))
            || self.hosts_for.contains(&(set, host.clone()))
    }
}

impl Judge {
    /// The scheduler answered an executor that wants to join.
    pub(super) fn see_registration(&mut self, executor: ExecutorId, joined: bool) {
        let at = self.batch.registering.iter().position(|spec| spec.executor == executor);
        let spec = self.batch.registering.remove(at.expect("who is answered has asked"));
        let is_known = self.executors.contains_key(&executor);
        if joined {
            assert!(!is_known, "{executor} joins once");
            assert!(!self.is_stopped, "no executor joins a context that is stopped");
            let (used, shares) = (Cpus::ZERO, BTreeMap::new());
            let known = Executor {
                spec,
                is_launched: false,
                is_leaving: false,
                is_disconnected: false,
                used,
                shares,
            };
            self.executors.insert(executor, known);
            self.gone.remove(&executor);
        }
    }

    /// An executor is not to get any more tasks.
    pub(super) fn leaves(&mut self, executor: ExecutorId) {
        if let Some(known) = self.executors.get_mut(&executor) {
            known.is_leaving = true;
        }
    }

    /// Contact with an executor was lost.
    pub(super) fn disconnects(&mut self, executor: ExecutorId) {
        self.leaves(executor);
        if let Some(known) = self.executors.get_mut(&executor) {
            known.is_disconnected = true;
        }
    }

    /// An executor is gone, and what it ran must be said to have ended.
    pub(super) fn remove_executor(&mut self, executor: ExecutorId) {
        if self.executors.remove(&executor).is_none() {
            return;
        }
        self.gone.insert(executor);
        let mut withdrawn = Vec::new();
        for (id, attempt) in &mut self.attempts {
            if attempt.task.executor != executor || !attempt.phase.is_live() {
                continue;
            }
            attempt.succeeds = false;
            if attempt.phase == Phase::Ahead {
                attempt.phase = Phase::Withdrawn;
                let task = &attempt.task;
                withdrawn.push((task.set, task.partition, task.number));
            } else {
                attempt.phase = Phase::Reported;
                self.batch.reported.push(*id);
            }
        }
        for (set, partition, number) in withdrawn {
            self.lose_commit(set, partition, number);
        }
    }

    /// Nothing runs, and time has passed: a task that waits has no executor that could take it.
    pub fn check_nothing_can_start(&self) {
        if self.config.exclusion.is_some() {
            return; // Single tasks may be barred from an executor, which no effect tells.
        }
        for (id, set) in self.sets.iter().filter(|(_, set)| set.is_open()) {
            let fitting = self.executors.values().find(|executor| self.could_run(set, executor));
            assert!(
                fitting.is_none() || self.barrier_stages.contains(&id.stage),
                "{id} waits while {:?} is idle",
                fitting.map(|executor| executor.spec.executor)
            );
        }
    }

    /// Where no task waits for a better place, the tasks of a new set take what is free at once.
    pub(super) fn check_prompt_start(&self) {
        let waits = self.config.locality.process + self.config.locality.node + self.config.locality.rack;
        if !waits.is_zero() || self.config.exclusion.is_some() || self.batch.events > 1 {
            return;
        }
        for id in &self.batch.prepared {
            let set = &self.sets[id];
            let is_of_set = |attempt: &&AttemptId| self.attempts[*attempt].task.set == *id;
            let launched = self.batch.launched.iter().filter(is_of_set).count();
            let waits = set.is_open() && launched < set.launch.tasks as usize;
            let is_left_out = waits && self.executors.values().any(|executor| self.could_run(set, executor));
            let is_barrier = self.barrier_stages.contains(&id.stage);
            assert!(!is_left_out || is_barrier, "{id} takes what is idle");
        }
    }

    fn could_run(&self, set: &Set, executor: &Executor) -> bool {
        let (wanted, serves) = (set.launch.profile, executor.spec.profile);
        let default = &self.config.default_profile;
        let cpus = if wanted == ProfileId::DEFAULT { default.task_cpus } else { Cpus::ONE };
        let serves = wanted == serves || (serves == ProfileId::DEFAULT && !self.config.dynamic_allocation);
        let stays = executor.is_ready() && !self.asked_to_leave.contains(&executor.spec.executor);
        stays && executor.is_idle() && executor.spec.cpus >= cpus && serves
    }

    /// A task is sent to an executor, which must be able to take it, now or soon.
    pub(super) fn take_resources(&mut self, task: &TaskDescription, profile: ProfileId) {
        let (attempt, id) = (task.attempt, task.executor);
        let host =
            self.host_of(id).unwrap_or_else(|| panic!("{attempt} is sent to {id}, which is registered"));
        assert!(
            !self.exclusions.bars(task.set, id, host),
            "{attempt} is sent to {id}, which is not excluded"
        );
        let dynamic_allocation = self.config.dynamic_allocation;
        let executor = self.executors.get_mut(&id).expect("it was looked up just now");
        assert!(executor.is_ready(), "{attempt} is sent to {id}, which is ready");
        let serves = executor.spec.profile;
        assert!(
            serves == profile || (serves == ProfileId::DEFAULT && !dynamic_allocation),
            "{id} serves tasks of {profile}"
        );
        if !task.ahead {
            executor.take(task);
        }
    }
}
