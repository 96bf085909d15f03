//! Executors come, go, and are asked for.

use std::collections::BTreeMap;

use firesteel_types::{ExecutorId, ExecutorLossReason, Host, ListenerEvent, ProfileId, Timestamp};

use crate::{
    dag::DagEvent,
    effect::{Effect, Ignored, Refusal},
    event::{ExecutorSpec, Scaling},
    exclusion::HealthEffect,
    executors::{CountFailures, Decommission, EarlyDecommission},
    scheduler::Scheduler,
};

impl Scheduler {
    pub(super) fn on_scaling_requested(&mut self, scaling: Scaling) {
        let cx = &mut self.cx;
        if self.is_stopped {
            return cx.ignore(Ignored::Stopped);
        }
        match scaling {
            Scaling::Add(additional) => match u32::try_from(additional) {
                Ok(additional) => cx.backend.add(cx.now, additional, &mut cx.out),
                Err(_) => cx.ignore(Ignored::BadExecutorCount { count: additional }),
            },
            Scaling::Total(totals) => self.on_totals_requested(totals),
            Scaling::Kill { executors, adjust_target, count_failures, force } => {
                self.kill_executors(&executors, adjust_target, count_failures, force);
            }
            Scaling::Replace(executors) => self.kill_executors(&executors, false, false, true),
            Scaling::Decommission { executors, worker_host, adjust_target, by_executor } => {
                self.on_decommission_requested(&executors, worker_host.as_ref(), adjust_target, by_executor);
            }
        }
    }

    pub(super) fn on_executor_registered(&mut self, spec: ExecutorSpec) {
        let executor = spec.executor;
        let health = self.tasks.health.as_ref();
        let answer = if self.is_stopped {
            Err(Refusal::Stopped)
        } else if self.cx.executors.get(executor).is_some() {
            Err(Refusal::Duplicate { executor })
        } else if health.is_some_and(|health| health.is_node_excluded(&spec.host)) {
            Err(Refusal::HostExcluded { host: spec.host.clone() })
        } else {
            Ok(())
        };
        let joins = answer.is_ok();
        if joins {
            let (host, cpus, profile) = (spec.host.clone(), spec.cpus, spec.profile);
            let requested = self.cx.backend.registered(executor, profile);
            self.cx.executors.add(spec, requested);
            if !self.cx.config.local {
                self.heartbeats.on_executor_added(self.cx.now, executor);
            }
            let time = self.cx.now;
            self.cx.post(ListenerEvent::ExecutorAdded { executor, host, cpus, profile, time });
        }
        self.cx.out.push(Effect::AnswerRegistration { executor, answer });
        if !joins {
            return;
        }
        self.cx.ask_racks([self.cx.executors.known(executor).host]);
        if let Some(early) = self.cx.backend.take_early(executor) {
            let EarlyDecommission { worker_host, adjust_target, by_executor, .. } = early;
            self.on_decommission_requested(&[executor], worker_host.as_ref(), adjust_target, by_executor);
        }
    }

    /// The executor is ready. From now on it is offered, and counts as a place where data can be near.
    pub(super) fn on_executor_launched(&mut self, executor: ExecutorId) {
        match self.cx.executors.update(executor, |known| std::mem::replace(&mut known.launched, true)) {
            None => self.cx.ignore(Ignored::UnknownExecutor { executor }),
            Some(true) => (), // It said so before.
            Some(false) => {
                self.cx.to_dag.push_back(DagEvent::ExecutorAdded { executor });
                self.tasks.recompute_levels(&self.cx);
                self.tasks.dirty.push(executor);
            }
        }
    }

    /// Contact is lost and the cause is not known yet: no offers, and its tasks are left as they are.
    pub(super) fn on_executor_disconnected(&mut self, executor: ExecutorId) {
        match self.cx.executors.update(executor, |known| std::mem::replace(&mut known.loss_pending, true)) {
            None => self.cx.ignore(Ignored::UnknownExecutor { executor }),
            Some(true) => (),
            Some(false) => {
                self.tasks.recompute_levels(&self.cx);
                self.cx.to_dag.push_back(DagEvent::ExecutorLost { executor, worker_host: None });
            }
        }
    }

    pub(super) fn on_executor_lost(&mut self, executor: ExecutorId, reason: ExecutorLossReason) {
        let time = self.cx.now;
        let retained = self.cx.config.executors.retained_decommissioned;
        let Some(gone) = self.cx.executors.remove(executor, retained) else {
            self.cx.out.push(Effect::RemoveBlockManager { executor });
            let reason = reason.to_string();
            return self.cx.post(ListenerEvent::ExecutorRemoved { executor, time, reason });
        };
        self.heartbeats.on_executor_removed(executor);
        let reason = match (gone.going.kill, gone.going.decommission.clone()) {
            (Some(CountFailures::No), _) => ExecutorLossReason::Killed,
            (Some(CountFailures::Yes) | None, Some(decommission)) => {
                ExecutorLossReason::Decommissioned { worker_host: decommission.worker_host }
            }
            (Some(CountFailures::Yes) | None, None) => reason,
        };
        self.tasks.on_executor_lost(&mut self.cx, executor, &gone, &reason);
        if !gone.loss_pending {
            let worker_host = reason.worker_host().cloned();
            self.cx.to_dag.push_back(DagEvent::ExecutorLost { executor, worker_host });
        }
        let reason = reason.to_string();
        self.cx.post(ListenerEvent::ExecutorRemoved { executor, time, reason });
    }

    /// Ends executors. Those that are unknown, on the way out already, or busy without `force`, are left alone.
    fn kill_executors(
        &mut self,
        executors: &[ExecutorId],
        adjust_target: bool,
        count_failures: bool,
        force: bool,
    ) {
        let mark = if count_failures { CountFailures::Yes } else { CountFailures::No };
        let mut killed = Vec::new();
        let mut profiles = Vec::new();
        for id in executors {
            let Some(executor) = self.cx.executors.get(*id) else { continue };
            if executor.going.kill.is_some() || (!force && !executor.running.is_empty()) {
                continue;
            }
            profiles.push(executor.profile);
            killed.push(*id);
            self.cx.executors.update(*id, |executor| executor.going.kill = Some(mark));
        }
        if adjust_target && !killed.is_empty() {
            self.cx.backend.lower(profiles, &mut self.cx.out);
        }
        // Also when there is none: it is the reply to the request.
        self.cx.out.push(Effect::KillExecutors { executors: killed, force });
    }

    fn on_decommission_requested(
        &mut self,
        executors: &[ExecutorId],
        worker_host: Option<&Host>,
        adjust_target: bool,
        by_executor: bool,
    ) {
        let kill_at = self.cx.config.executors.decommission_force_kill.map(|wait| self.cx.now + wait);
        let mut draining = Vec::new();
        let mut profiles = Vec::new();
        for &executor in executors {
            match self.cx.executors.get(executor) {
                Some(known)
                    if !known.loss_pending
                        && known.going.kill.is_none()
                        && known.going.decommission.is_none() =>
                {
                    profiles.push(known.profile);
                    draining.push(executor);
                    let decommission = Decommission { worker_host: worker_host.cloned(), kill_at };
                    self.cx.executors.update(executor, |known| known.going.decommission = Some(decommission));
                }
                Some(_) => (), // It is on the way out already.
                None => {
                    let early = EarlyDecommission {
                        executor,
                        worker_host: worker_host.cloned(),
                        adjust_target,
                        by_executor,
                    };
                    self.cx.backend.remember(early, self.cx.config.executors.retained_unknown_decommissions);
                }
            }
        }
        if draining.is_empty() {
            return;
        }
        for executor in &draining {
            self.tasks.take_back(&mut self.cx, *executor);
        }
        self.tasks.recompute_levels(&self.cx);
        // A task that waited for a place there need not wait any longer.
        self.tasks.revive = true;
        if adjust_target {
            self.cx.backend.lower(profiles, &mut self.cx.out);
        }
        if !by_executor {
            self.cx.out.push(Effect::DecommissionExecutors { executors: draining });
        }
    }

    /// Kills the executors that take too long to drain.
    pub(super) fn kill_overdue_decommissions(&mut self) {
        if self.cx.config.executors.decommission_force_kill.is_none() {
            return;
        }
        let now = self.cx.now;
        let mut overdue = Vec::new();
        for (id, executor) in self.cx.executors.iter() {
            let kill_at = executor.going.decommission.as_ref().and_then(|decommission| decommission.kill_at);
            if kill_at.is_some_and(|at| at <= now) && executor.going.kill.is_none() {
                overdue.push(id);
            }
        }
        if !overdue.is_empty() {
            overdue.sort_unstable();
            self.kill_executors(&overdue, false, false, true);
        }
    }

    pub(super) fn next_forced_kill(&self) -> Option<Timestamp> {
        self.cx.config.executors.decommission_force_kill?;
        let draining = self.cx.executors.iter().filter(|(_, executor)| executor.going.kill.is_none());
        draining.filter_map(|(_, executor)| executor.going.decommission.as_ref()?.kill_at).min()
    }

    fn on_totals_requested(&mut self, totals: BTreeMap<ProfileId, i32>) {
        let mut wanted = BTreeMap::new();
        for (profile, count) in totals {
            let Ok(count_wanted) = u32::try_from(count) else {
                return self.cx.ignore(Ignored::BadExecutorCount { count });
            };
            if self.cx.profiles.get(profile).is_none() {
                return self.cx.ignore(Ignored::UnknownProfile { profile });
            }
            wanted.insert(profile, count_wanted);
        }
        self.cx.backend.set(self.cx.now, wanted, &mut self.cx.out);
    }

    /// Does what the health tracker wants done to executors.
    pub(super) fn perform_health(&mut self, effect: HealthEffect) {
        let on_host = |host: &Host| {
            let id = self.cx.executors.hosts.find(host);
            let mut there: Vec<_> =
                self.cx.executors.iter().filter(|(_, e)| Some(e.host) == id).map(|(id, _)| id).collect();
            there.sort_unstable();
            there
        };
        match effect {
            HealthEffect::Post(event) => self.cx.post(event),
            HealthEffect::KillExecutor { executor, .. } => {
                self.kill_executors(&[executor], false, false, true)
            }
            HealthEffect::KillExecutorsOnHost(host) => {
                self.kill_executors(&on_host(&host), false, false, true)
            }
            HealthEffect::DecommissionExecutor { executor, .. } => {
                self.on_decommission_requested(&[executor], None, false, false);
            }
            HealthEffect::DecommissionExecutorsOnHost(host) => {
                let there = on_host(&host);
                self.on_decommission_requested(&there, None, false, false);
            }
        }
    }
}
