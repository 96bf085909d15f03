//! What executors report of their attempts, and what the loss of an executor does to them.

use std::{collections::BTreeMap, time::Duration};

use firesteel_types::{
    AttemptId, ExecutorId, ExecutorLossReason, ListenerEvent, TaskEndReason, TaskFailure, TaskIndex,
    TaskInfo, TaskMetrics,
};

use super::{
    outcome::{AfterFailure, Withdrawn},
    running::{RunPhase, Running},
    scheduler::TaskScheduler,
};
use crate::{
    dag::{DagEvent, TaskEnded},
    effect::{Effect, Ignored, StageTaskKind, Warning},
    event::{FetchedResult, NotSent, ResultPlace, TaskOutcome, TaskStatus},
    executors::Executor,
    map_output::MapStatus,
    pool::SetKey,
    shared::Shared,
};

const TOO_LARGE: &str = "the results of its task set exceed the driver's limit";
const BEATEN: &str = "another attempt succeeded";

impl TaskScheduler {
    pub(crate) fn on_status(
        &mut self,
        cx: &mut Shared,
        executor: ExecutorId,
        attempt: AttemptId,
        status: TaskStatus,
    ) {
        let Some(running) = self.running.get_mut(&attempt) else {
            return cx.ignore(Ignored::UnknownAttempt { attempt });
        };
        if running.info.executor != executor {
            return cx.ignore(Ignored::WrongExecutor { attempt, executor });
        }
        if cx.executors.get(executor).is_some_and(|known| known.loss_pending) {
            // The DAG scheduler has written the executor off. Its attempts end when the reason of the loss is known.
            return cx.ignore(Ignored::ContactLost { executor });
        }
        match (&running.phase, status) {
            (RunPhase::Fetching(_), _) | (RunPhase::Ahead, TaskStatus::Running) => {
                cx.ignore(Ignored::UnknownAttempt { attempt });
            }
            (RunPhase::Launching | RunPhase::Running, TaskStatus::Running) => {
                running.phase = RunPhase::Running
            }
            (RunPhase::Ahead, TaskStatus::Failed { failure: TaskFailure::Killed { .. }, .. }) => {
                self.withdraw(cx, attempt, Withdrawn::Lost);
                self.dirty.push(executor);
            }
            (_, TaskStatus::Finished(outcome)) => {
                self.free_resources(cx, attempt);
                self.on_finished(cx, attempt, outcome);
            }
            (_, TaskStatus::Failed { failure, metrics, accumulators }) => {
                self.free_resources(cx, attempt);
                self.fail_attempt(cx, attempt, failure, metrics, accumulators);
            }
        }
    }

    /// The attempt does not hold its resources any more: another one begins there, or its executor can be offered
    /// again. One that was not known to have begun has, and held none.
    pub(super) fn free_resources(&mut self, cx: &mut Shared, attempt: AttemptId) {
        let running = &self.running[&attempt];
        let executor = running.info.executor;
        if running.is_ahead() {
            cx.executors.drop_ahead(executor, attempt);
            self.begin(cx, attempt);
        } else {
            let next = cx.executors.stop_running(executor, attempt, running.cpus, &running.resources);
            if let Some(next) = next {
                self.begin(cx, next);
            }
        }
        self.dirty.push(executor);
    }

    fn on_finished(&mut self, cx: &mut Shared, attempt: AttemptId, outcome: TaskOutcome) {
        let key = self.running[&attempt].set;
        let limit = cx.config.tasks.result_bytes_max;
        let set = self.set_mut(key);
        let too_much = set.takes_too_much(outcome.size_bytes, limit);
        if too_much.is_some() || outcome.result == ResultPlace::Dropped {
            let reason = too_much.unwrap_or_else(|| {
                format!(
                    "a result of {} bytes is bigger than firesteel.driver.maxResultSize ({limit} bytes)",
                    outcome.size_bytes
                )
            });
            if outcome.result == ResultPlace::Indirect {
                cx.out.push(Effect::DropResultBlock { attempt });
            }
            self.give_up(cx, key, reason, None);
            self.fail_attempt(
                cx,
                attempt,
                TaskFailure::killed(TOO_LARGE),
                outcome.metrics,
                outcome.accumulators,
            );
            return;
        }
        match outcome.result {
            ResultPlace::Indirect => {
                let running = &mut self.running[&attempt];
                let task = running.info;
                running.phase = RunPhase::Fetching(Box::new(outcome));
                self.fetching.insert((task.executor, attempt));
                let set = self.set(key).set.id;
                cx.post(ListenerEvent::TaskGettingResult { set, task, time: cx.now });
                cx.out.push(Effect::FetchResult { attempt });
            }
            ResultPlace::Direct | ResultPlace::Dropped => self.succeed_attempt(cx, attempt, outcome),
        }
    }

    pub(crate) fn on_result_fetched(&mut self, cx: &mut Shared, attempt: AttemptId, fetched: FetchedResult) {
        let Some(Running { phase: phase @ RunPhase::Fetching(_), set, .. }) = self.running.get_mut(&attempt)
        else {
            return cx.ignore(Ignored::UnknownAttempt { attempt });
        };
        let RunPhase::Fetching(outcome) = std::mem::replace(phase, RunPhase::Running) else {
            unreachable!("the pattern above says so")
        };
        let key = *set;
        match fetched {
            FetchedResult::Fetched => self.succeed_attempt(cx, attempt, *outcome),
            FetchedResult::Lost => {
                self.set_mut(key).uncount_result(outcome.size_bytes);
                self.fail_attempt(
                    cx,
                    attempt,
                    TaskFailure::ResultLost,
                    outcome.metrics,
                    outcome.accumulators,
                );
            }
            FetchedResult::Unreadable { message } => {
                self.give_up(cx, key, format!("the result of {attempt} cannot be decoded: {message}"), None);
                self.fail_attempt(cx, attempt, TaskFailure::Unknown, outcome.metrics, outcome.accumulators);
            }
        }
    }

    fn succeed_attempt(&mut self, cx: &mut Shared, attempt: AttemptId, outcome: TaskOutcome) {
        let running = &self.running[&attempt];
        let (key, index, beaten) = (running.set, running.info.index, running.beaten);
        if beaten && self.set(key).is_done(index) {
            self.set_mut(key).uncount_result(outcome.size_bytes);
            self.fail_attempt(
                cx,
                attempt,
                TaskFailure::killed(BEATEN),
                outcome.metrics,
                outcome.accumulators,
            );
            return;
        }
        let running = self.take_running(attempt);
        let set = self.set_mut(key);
        set.stop(index, attempt);
        set.succeed(running.info);
        if set.tasks[index.index()].copies_running > 0 {
            self.kill_beaten(cx, key, index);
        }
        let run_time_us = outcome.metrics.run_time_us;
        self.set_mut(key).pace.add(run_time_us);
        if cx.config.speculation.is_some() {
            let mut duration = cx.now.since(running.info.launched);
            if running.ahead {
                // Its end may be told together with that of the one before it.
                duration = duration.max(Duration::from_micros(run_time_us));
            }
            self.set_mut(key).finished.add(duration, &outcome.metrics);
        }
        let host = cx.executors.hosts.name(running.host);
        let map_output = outcome.map_output.map(|written| MapStatus {
            executor: running.info.executor,
            host: host.clone(),
            attempt,
            sizes: written.sizes,
            checksum: written.checksum,
        });
        let (metrics, accumulators) = (outcome.metrics, outcome.accumulators);
        self.report(cx, key, running.info, TaskEndReason::Success, metrics, accumulators, map_output);
        if self.set(key).is_zombie {
            self.refresh_schedulable(key);
            self.remove_if_finished(cx, key);
        }
    }

    /// The task is done: its other attempts are told to end.
    fn kill_beaten(&mut self, cx: &mut Shared, key: SetKey, index: TaskIndex) {
        let attempts: Vec<_> = self.set(key).running().collect();
        for attempt in attempts {
            let running = &mut self.running[&attempt];
            if running.info.index == index {
                running.beaten = true;
                self.kill_attempt(cx, attempt, true, BEATEN);
            }
        }
    }

    /// Ends an attempt without a result.
    pub(super) fn fail_attempt(
        &mut self,
        cx: &mut Shared,
        attempt: AttemptId,
        failure: TaskFailure,
        metrics: TaskMetrics,
        accumulators: bool,
    ) {
        let running = self.take_running(attempt);
        let key = running.set;
        let (info, host) = (running.info, running.host);
        let mut posted = Vec::new();
        let set = self.set_mut(key);
        set.stop(info.index, attempt);
        let failures_max = cx.config.tasks.failures_max;
        let after = set.fail(cx.now, (&info, host), &failure, failures_max, &mut cx.executors, &mut posted);
        let wants_offers = set.is_schedulable() && set.is_waiting(info.index);
        self.on_fetch_failure(cx, &failure);
        for event in posted {
            self.take_back_excluded(cx, &event);
            cx.post(event);
        }
        let reason = TaskEndReason::Failed(failure.clone());
        self.report(cx, key, info, reason, metrics, accumulators, None);
        self.refresh_schedulable(key);
        match after {
            AfterFailure::GoOn => self.remove_if_finished(cx, key),
            AfterFailure::Abort(reason) => self.abort(cx, key, reason, Some(failure)),
        }
        self.revive |= wants_offers;
    }

    fn on_fetch_failure(&mut self, cx: &mut Shared, failure: &TaskFailure) {
        if let (Some(health), TaskFailure::FetchFailed(fetch)) = (&mut self.health, failure)
            && let Some((executor, host)) = &fetch.location
        {
            let mut effects = Vec::new();
            health.on_fetch_failure(cx.now, *executor, host, cx.config.shuffle_service, &mut effects);
            self.perform_health(cx, effects);
        }
    }

    fn take_running(&mut self, attempt: AttemptId) -> Running {
        let running = self.running.swap_remove(&attempt).expect("the caller looked the attempt up");
        self.fetching.remove(&(running.info.executor, attempt));
        self.pools.add_running(running.set, -1);
        running
    }

    /// Tells the DAG scheduler how an attempt ended. The set's own books are already up to date.
    #[expect(clippy::too_many_arguments, reason = "a report has this many parts")]
    fn report(
        &self,
        cx: &mut Shared,
        key: SetKey,
        info: TaskInfo,
        reason: TaskEndReason,
        metrics: TaskMetrics,
        accumulators: bool,
        map_output: Option<MapStatus>,
    ) {
        let set = &self.set(key).set;
        let output = set.tasks[info.index.index()].output;
        let (id, epoch, barrier) = (set.id, set.epoch, set.barrier);
        let ended =
            TaskEnded { set: id, output, info, epoch, barrier, reason, metrics, accumulators, map_output };
        cx.to_dag.push_back(DagEvent::TaskEnded(Box::new(ended)));
    }

    /// A launched task never left the driver: its set is of no use.
    pub(crate) fn on_not_sent(&mut self, cx: &mut Shared, attempt: AttemptId, why: NotSent) {
        // One that its executor has reported on was sent, even if the runtime reports otherwise.
        let is_unheard = |running: &&Running| matches!(running.phase, RunPhase::Ahead | RunPhase::Launching);
        let Some(running) = self.running.get(&attempt).filter(is_unheard) else {
            return cx.ignore(Ignored::UnknownAttempt { attempt });
        };
        let (key, index) = (running.set, running.info.index);
        let task = self.set(key).describe(index);
        let reason = match why {
            NotSent::NotSerializable { message } => format!("{task} cannot be serialized: {message}"),
            NotSent::TooLarge { size_bytes } => format!(
                "{task} is {size_bytes} bytes, which is not below firesteel.rpc.message.maxSize ({} bytes); raise it or \
                 use broadcast variables for large values",
                cx.config.tasks.message_bytes_max,
            ),
        };
        self.give_up(cx, key, reason, None);
        self.free_resources(cx, attempt);
        self.fail_attempt(cx, attempt, TaskFailure::killed("it was not sent"), TaskMetrics::default(), false);
    }

    pub(crate) fn on_large_task(&mut self, cx: &mut Shared, attempt: AttemptId, size_bytes: u64) {
        let Some(running) = self.running.get(&attempt) else {
            return cx.ignore(Ignored::UnknownAttempt { attempt });
        };
        let set = self.set_mut(running.set);
        if size_bytes > cx.config.tasks.warn_bytes && !set.warned_large {
            set.warned_large = true;
            let set = set.set.id;
            cx.out.push(Effect::Warn(Warning::LargeTask { set, size_bytes }));
        }
    }

    pub(crate) fn on_kill_requested(
        &mut self,
        cx: &mut Shared,
        attempt: AttemptId,
        interrupt: bool,
        reason: String,
    ) {
        let found = self.running.get(&attempt).is_some_and(|running| !running.has_ended());
        if found && cx.config.can_kill_tasks {
            self.kill_attempt(cx, attempt, interrupt, &reason);
        } else if found {
            cx.ignore(Ignored::CannotKill);
        }
        cx.out.push(Effect::TaskKillAnswer { attempt, found: found && cx.config.can_kill_tasks });
    }

    /// Figures of running attempts, for display and for speculation; totals do not change.
    pub(crate) fn on_progress(&mut self, executor: ExecutorId, figures: &[(AttemptId, TaskMetrics)]) {
        for (attempt, metrics) in figures {
            if let Some(running) = self.running.get_mut(attempt)
                && running.info.executor == executor
            {
                running.metrics = *metrics;
            }
        }
    }

    /// A task was completed by an older attempt of the stage. A zombie would not run it anyway.
    pub(super) fn on_output_completed(&mut self, cx: &mut Shared, key: SetKey, output: u32) {
        if self.set(key).is_zombie {
            return;
        }
        self.set_mut(key).output_completed(output);
        self.refresh_schedulable(key);
        self.remove_if_finished(cx, key);
    }

    /// An executor is gone for good. What ran there failed; map outputs that went with it must be made again.
    ///
    /// `gone` knows which attempts held its resources and which waited for them; results on their way from it are
    /// lost too.
    pub(crate) fn on_executor_lost(
        &mut self,
        cx: &mut Shared,
        executor: ExecutorId,
        gone: &Executor,
        reason: &ExecutorLossReason,
    ) {
        // The last one first: what is put back last is looked at first.
        for sent in gone.ahead.iter().rev() {
            self.withdraw(cx, sent.attempt, Withdrawn::Lost);
        }
        let is_decommission = matches!(reason, ExecutorLossReason::Decommissioned { .. });
        let outputs_lost = !cx.config.reliable_shuffle && (is_decommission || !cx.config.shuffle_service);
        let fetching = self.fetching.range((executor, AttemptId(0))..=(executor, AttemptId(u64::MAX)));
        let mut there: BTreeMap<SetKey, Vec<AttemptId>> = BTreeMap::new();
        for attempt in fetching.map(|(_, attempt)| attempt).chain(&gone.running) {
            there.entry(self.running[attempt].set).or_default().push(*attempt);
        }
        let keys: Vec<_> = self.by_id.values().copied().collect();
        for key in keys {
            if outputs_lost {
                self.resubmit_lost_outputs(cx, key, executor, is_decommission);
            }
            let mut attempts = there.remove(&key).unwrap_or_default();
            attempts.sort_unstable();
            for attempt in attempts {
                let running = &self.running[&attempt];
                // Of one that was sent ahead it is known that it has begun, though it never said so.
                let launching = matches!(running.phase, RunPhase::Launching) && !running.ahead;
                let metrics = running.metrics;
                let caused_by_app = reason.is_caused_by_app() && !launching;
                let failure =
                    TaskFailure::ExecutorLost { executor, caused_by_app, reason: reason.to_string() };
                self.fail_attempt(cx, attempt, failure, metrics, false);
            }
        }
        if let Some(health) = &mut self.health {
            health.on_executor_removed(executor);
        }
        self.recompute_levels(cx);
        self.revive = true;
    }

    fn resubmit_lost_outputs(
        &mut self,
        cx: &mut Shared,
        key: SetKey,
        executor: ExecutorId,
        is_decommission: bool,
    ) {
        let StageTaskKind::ShuffleMap(shuffle) = self.set(key).set.kind else { return };
        let set = self.sets[key.0 as usize].as_mut().expect("keys are of active sets");
        if set.is_zombie {
            return;
        }
        let map_outputs = &cx.map_outputs;
        let lost = set.undo_winners(executor, &mut cx.executors, |info| {
            // A decommissioned executor may have moved its output elsewhere before it left.
            let output = map_outputs.output(shuffle, info.partition);
            !(is_decommission && output.is_some_and(|output| output.executor != executor))
        });
        for info in lost {
            self.report(cx, key, info, TaskEndReason::Resubmitted, TaskMetrics::default(), false, None);
        }
        self.refresh_schedulable(key);
    }

    /// Executors came, went or began to drain.
    pub(crate) fn recompute_levels(&mut self, cx: &Shared) {
        for set in self.sets.iter_mut().flatten() {
            set.recompute_levels(&cx.executors);
        }
    }

    /// Racks became known.
    pub(crate) fn resolve_racks(&mut self, cx: &mut Shared) {
        for set in self.sets.iter_mut().flatten() {
            set.resolve_racks(&mut cx.executors);
        }
        self.revive = true;
    }
}
