//! Task sets that exclusion leaves no place to run.

use firesteel_types::{ExecutorId, Host, ListenerEvent, StageAttemptId, TaskIndex, Timestamp};

use super::scheduler::TaskScheduler;
use crate::{exclusion::HealthEffect, pool::SetKey, shared::Shared};

/// A set that can run nowhere, and is given up unless something changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unschedulable {
    pub(crate) abort_at: Timestamp,
    task: TaskIndex,
    /// Whether listeners were told that more executors would help.
    announced: bool,
}

impl TaskScheduler {
    /// A round launched nothing of the set: is its next task excluded on every executor?
    pub(super) fn check_excluded_everywhere(&mut self, cx: &mut Shared, key: SetKey) {
        let Some(task) = self.excluded_everywhere(cx, key) else { return };
        let id = self.set(key).set.id;
        if let Some(idle) = self.idle_executor(cx) {
            if !self.unschedulable.contains_key(&id) {
                let mut kills = Vec::new();
                if let Some(health) = &self.health {
                    health.kill_idle_excluded(idle, &mut kills);
                }
                self.perform_health(cx, kills);
                self.start_abort_timer(cx, id, task, false);
            }
        } else if cx.config.dynamic_allocation {
            if !self.unschedulable.contains_key(&id) {
                cx.post(ListenerEvent::UnschedulableTaskSetAdded { set: id });
                self.start_abort_timer(cx, id, task, true);
            }
        } else {
            self.abort_excluded(cx, key, task);
        }
    }

    fn start_abort_timer(&mut self, cx: &Shared, id: StageAttemptId, task: TaskIndex, announced: bool) {
        let abort_at = cx.now + cx.config.unschedulable_timeout;
        self.unschedulable.insert(id, Unschedulable { abort_at, task, announced });
    }

    /// Something was launched, so there is hope for every set: no timer runs any more.
    pub(super) fn clear_unschedulable(&mut self, cx: &mut Shared) {
        while let Some((id, waiting)) = self.unschedulable.pop_first() {
            if waiting.announced {
                cx.post(ListenerEvent::UnschedulableTaskSetRemoved { set: id });
            }
        }
    }

    /// The set is gone, and its timer with it.
    pub(super) fn withdraw_unschedulable(&mut self, cx: &mut Shared, id: StageAttemptId) {
        if self.unschedulable.remove(&id).is_some_and(|waiting| waiting.announced) {
            cx.post(ListenerEvent::UnschedulableTaskSetRemoved { set: id });
        }
    }

    /// Gives up the sets whose time is over.
    pub(super) fn abort_unschedulable(&mut self, cx: &mut Shared) {
        let due: Vec<_> = self
            .unschedulable
            .iter()
            .filter(|(_, w)| w.abort_at <= cx.now)
            .map(|(id, w)| (*id, w.task))
            .collect();
        for (id, task) in due {
            self.withdraw_unschedulable(cx, id);
            if let Some(key) = self.by_id.get(&id).copied() {
                self.abort_excluded(cx, key, task);
            }
        }
    }

    fn abort_excluded(&mut self, cx: &mut Shared, key: SetKey, task: TaskIndex) {
        let set = self.set(key);
        let last = set.excludelist().and_then(|list| list.latest_failure()).unwrap_or("none");
        let reason = format!(
            "{task} of {} cannot run anywhere: every executor is excluded for it; add executors or relax the \
             exclusion settings; most recent failure: {last}",
            set.set.id,
        );
        self.abort(cx, key, reason, None);
    }

    /// The next waiting task of the set, if no executor may run it.
    fn excluded_everywhere(&mut self, cx: &Shared, key: SetKey) -> Option<TaskIndex> {
        let set = self.sets[key.0 as usize].as_mut().expect("keys are of active sets");
        let health = self.health.as_ref()?;
        if set.is_zombie || cx.executors.len() == 0 {
            return None;
        }
        let task = set.next_waiting()?;
        let is_excluded = |(executor, host): (ExecutorId, &Host)| {
            health.is_executor_excluded(executor)
                || health.is_node_excluded(host)
                || set.is_barred(executor, host)
                || set.is_task_barred(task, executor, host)
        };
        let mut known = cx.executors.iter().filter(|(_, e)| e.launched && !e.loss_pending).peekable();
        known.peek()?;
        known.all(|(id, e)| is_excluded((id, cx.executors.hosts.name(e.host)))).then_some(task)
    }

    fn idle_executor(&self, cx: &Shared) -> Option<ExecutorId> {
        let idle = cx.executors.iter().filter(|(_, e)| e.launched && !e.loss_pending && e.running.is_empty());
        // One that is on its way out anyway only if there is no other.
        idle.map(|(id, executor)| (!executor.is_active(), id)).min().map(|(_, id)| id)
    }

    /// Does what the health tracker decided.
    pub(super) fn perform_health(&mut self, cx: &mut Shared, effects: Vec<HealthEffect>) {
        for effect in effects {
            match effect {
                HealthEffect::Post(event) => {
                    self.take_back_excluded(cx, &event);
                    cx.post(event);
                }
                HealthEffect::KillExecutor { .. }
                | HealthEffect::DecommissionExecutor { .. }
                | HealthEffect::KillExecutorsOnHost(_)
                | HealthEffect::DecommissionExecutorsOnHost(_) => self.to_backend.push_back(effect),
            }
        }
    }
}
