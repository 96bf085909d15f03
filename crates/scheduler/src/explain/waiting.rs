//! Why a task waits.

use std::time::Duration;

use firesteel_types::{ExecutorId, Locality, PartitionId, StageId, TaskIndex, TaskLocation};

use super::answer::{Explanation, NotReady, WaitReason, Waiting};
use crate::{pool::SetKey, resources::TaskNeed, scheduler::Scheduler, task::TaskSetManager};

impl Scheduler {
    /// What is going on with the task that computes `partition` in the latest attempt of `stage`.
    pub fn explain(&self, stage: StageId, partition: PartitionId) -> Explanation {
        let Some(active) = self.dag.stages.get(&stage) else { return Explanation::NotActive };
        if self.dag.failed.contains(&stage) {
            let left = self.dag.resubmit_at.map_or(Duration::ZERO, |at| at.since(self.cx.now));
            return waiting_for(WaitReason::StageRetry { left });
        }
        if self.dag.waiting.contains(&stage) {
            let parents = active.parents.iter().copied();
            let stages = parents.filter(|parent| !self.dag.is_available(&self.cx, *parent)).collect();
            return waiting_for(WaitReason::ParentStages { stages });
        }
        let Some((key, index)) = self.find_task(stage, partition) else { return Explanation::Done };
        let set = self.tasks.set(key);
        let attempts = set.running().map(|attempt| &self.tasks.running[&attempt]);
        let of_task = attempts.filter(|running| running.info.index == index);
        let running: Vec<_> = of_task.map(|running| self.explain_running(running)).collect();
        if !running.is_empty() {
            Explanation::Running(running)
        } else if set.is_waiting(index) && !set.is_zombie {
            Explanation::Waiting(self.explain_waiting(key, index))
        } else {
            Explanation::Done
        }
    }

    /// The task of a partition in the newest set of the stage that has one for it.
    fn find_task(&self, stage: StageId, partition: PartitionId) -> Option<(SetKey, TaskIndex)> {
        let mut sets = self.tasks.sets_of(stage).into_iter().rev();
        sets.find_map(|key| {
            let tasks = &self.tasks.set(key).set.tasks;
            let at = tasks.iter().position(|task| task.partition == partition)?;
            Some((key, TaskIndex(at as u32)))
        })
    }

    fn explain_waiting(&self, key: SetKey, index: TaskIndex) -> Waiting {
        let set = self.tasks.set(key);
        let executors = self.cx.executors.iter().map(|(id, _)| id);
        let mut blocked: Vec<_> = executors.map(|id| (id, self.blockers(set, index, id))).collect();
        blocked.sort_by_key(|(id, reasons)| (reasons.len(), needed_level(self, set, index, *id), *id));
        let behind = self.behind(key);
        if blocked.is_empty() {
            let reasons = [WaitReason::NoExecutor].into_iter().chain(behind).collect();
            return Waiting { nearest: None, reasons, elsewhere: Vec::new() };
        }
        let (nearest, mut reasons) = blocked.remove(0);
        reasons.extend(self.barrier_slots(set));
        reasons.extend(behind);
        let mut elsewhere: Vec<(WaitReason, u32)> = Vec::new();
        for reason in blocked.into_iter().filter_map(|(_, reasons)| reasons.into_iter().next()) {
            match elsewhere.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, count)) => *count += 1,
                None => elsewhere.push((reason, 1)),
            }
        }
        Waiting { nearest: Some(nearest), reasons, elsewhere }
    }

    /// Everything that keeps one task from one executor.
    fn blockers(&self, set: &TaskSetManager, index: TaskIndex, id: ExecutorId) -> Vec<WaitReason> {
        let executor = self.cx.executors.known(id);
        let host = self.cx.executors.hosts.name(executor.host);
        let mut reasons = Vec::new();
        let not_ready = [
            (!executor.launched, NotReady::Starting),
            (executor.loss_pending, NotReady::Disconnected),
            (executor.going.decommission.is_some(), NotReady::Draining),
            (executor.going.kill.is_some(), NotReady::BeingKilled),
        ];
        reasons.extend(
            not_ready.into_iter().filter(|(is, _)| *is).map(|(_, why)| WaitReason::ExecutorNotReady(why)),
        );
        if !self.cx.profiles.can_run_on(set.set.profile, executor.profile) {
            reasons.push(WaitReason::OtherProfile);
        }
        if let Some(until) = self.tasks.health.as_ref().and_then(|health| health.excluded_until(id, host)) {
            reasons.push(WaitReason::ExcludedForApplication { left: until.since(self.cx.now) });
        }
        if set.is_barred(id, host) {
            reasons.push(WaitReason::ExcludedForStage);
        }
        if set.is_task_barred(index, id, host) {
            reasons.push(WaitReason::ExcludedForTask);
        }
        if let Some(need) = self.cx.profiles.need(set.set.profile) {
            reasons.extend(self.lacking(id, need));
        }
        reasons.extend(self.locality_wait(set, index, id));
        reasons
    }

    fn lacking(&self, id: ExecutorId, need: &TaskNeed) -> Option<WaitReason> {
        let executor = self.cx.executors.known(id);
        let free = executor.resources.cpus_free();
        if free < need.cpus {
            let running = executor.running.len() as u32;
            return Some(WaitReason::Cpus { needed: need.cpus, free, running });
        }
        let lacks = |amount: (&_, &_)| {
            let one = TaskNeed { cpus: need.cpus, resources: [(Clone::clone(amount.0), *amount.1)].into() };
            !executor.resources.can_take(&one)
        };
        let resource = need.resources.iter().find(|amount| lacks(*amount))?.0.clone();
        Some(WaitReason::Resource { resource })
    }

    fn locality_wait(&self, set: &TaskSetManager, index: TaskIndex, id: ExecutorId) -> Option<WaitReason> {
        let needed = needed_level(self, set, index, id);
        let (now, config) = (self.cx.now, &self.cx.config.locality);
        // An executor that is not alive brings further levels along when it is.
        let levels = set.levels_with(id, &self.cx.executors);
        let allowed = levels.reached_at(now, &set.waiting, config);
        (needed != Locality::NoPref && needed > allowed).then(|| {
            let left = levels.time_until(needed, now, &set.waiting, config);
            WaitReason::LocalityWait { allowed, needed, left }
        })
    }

    fn barrier_slots(&self, set: &TaskSetManager) -> Option<WaitReason> {
        let need = self.cx.profiles.need(set.set.profile).filter(|_| set.set.barrier)?;
        let active = self.cx.executors.iter().filter(|(_, executor)| executor.is_active());
        let fitting =
            active.filter(|(_, executor)| self.cx.profiles.can_run_on(set.set.profile, executor.profile));
        let free =
            fitting.map(|(_, executor)| executor.resources.free_slots(need)).fold(0, u32::saturating_add);
        (free < set.set.len()).then_some(WaitReason::BarrierSlots { needed: set.set.len(), free })
    }

    /// How many tasks may be offered before the task.
    fn behind(&self, key: SetKey) -> Option<WaitReason> {
        let earlier = self.tasks.by_id.values().copied().filter(|other| {
            *other != key
                && self.tasks.set(*other).is_schedulable()
                && self.tasks.pools.is_before(*other, key)
        });
        let (mut sets, mut tasks) = (0, u64::from(self.tasks.set(key).waiting()) - 1);
        for other in earlier {
            sets += 1;
            tasks += u64::from(self.tasks.set(other).waiting());
        }
        (sets > 0 || tasks > 0).then_some(WaitReason::Behind { sets, tasks })
    }
}

fn waiting_for(reason: WaitReason) -> Explanation {
    Explanation::Waiting(Waiting { nearest: None, reasons: vec![reason], elsewhere: Vec::new() })
}

/// The level at which a task would run on an executor; `NoPref` when it has no preference at all.
fn needed_level(scheduler: &Scheduler, set: &TaskSetManager, index: TaskIndex, id: ExecutorId) -> Locality {
    let executors = &scheduler.cx.executors;
    let executor = executors.known(id);
    let level = |place: &TaskLocation| {
        let host = executors.hosts.find(place.host());
        match place {
            TaskLocation::Executor { executor, .. } if *executor == id => Locality::Process,
            TaskLocation::HostCache(_) if set.is_listed_for(id, index) => Locality::Process,
            _ if host == Some(executor.host) => Locality::Node,
            _ if host
                .and_then(|host| executors.hosts.rack(host))
                .is_some_and(|rack| executors.hosts.rack(executor.host) == Some(rack)) =>
            {
                Locality::Rack
            }
            _ => Locality::Any,
        }
    };
    set.set.preferred(index).iter().map(level).min().unwrap_or(Locality::NoPref)
}
