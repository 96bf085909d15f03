//! Replies of executors that follow their orders and report what they see.

use firesteel_scheduler::{
    Event, FetchedResult, MapOutput, ResultPlace, Scheduler, StageTaskKind, TaskOutcome, TaskStatus,
    map_output::{BlockSizes, SizeLimits},
};
use firesteel_types::{
    AttemptId, Dependency, ExecutorId, ExecutorLossReason, FetchFailure, PartitionId, ProfileId, RddNode,
    ShuffleId, TaskFailure, TaskMetrics,
};

use crate::{
    judge::{Attempt, Phase},
    world::World,
};

/// More events than any case needs to come to rest. A case that needs more does not come to rest.
const HEALING_EVENTS_MAX: usize = 4000;

/// Deadlines in a row after which a task that waited for a better place has taken the next best one.
const IDLE_TICKS_MAX: u32 = 12;

impl World {
    /// An honest executor's last word on an attempt.
    pub fn honest_end(&self, id: AttemptId) -> Event {
        let attempt = &self.judge.attempts[&id];
        let (executor, metrics) = (attempt.task.executor, TaskMetrics::default());
        let failed = |failure| TaskStatus::Failed { failure, metrics, accumulators: true };
        let status = if attempt.is_killed {
            failed(TaskFailure::killed("as told"))
        } else if let Some(fetch) = self.true_fetch_failure(attempt) {
            failed(TaskFailure::FetchFailed(fetch))
        } else {
            TaskStatus::Finished(self.outcome(attempt, ResultPlace::Direct))
        };
        Event::StatusUpdate { executor, attempt: id, status }
    }

    /// An honest executor's answer when it is asked to return attempts.
    pub fn honest_return(&self, executor: ExecutorId, mut attempts: Vec<AttemptId>) -> Event {
        attempts.retain(|id| self.judge.attempts[id].phase == Phase::Ahead);
        Event::TasksReturned { executor, attempts }
    }

    /// What an attempt that went well reports.
    pub fn outcome(&self, attempt: &Attempt, result: ResultPlace) -> TaskOutcome {
        let map_output = match self.judge.sets[&attempt.task.set].launch.kind {
            StageTaskKind::ShuffleMap(shuffle) => Some(map_output(&self.nodes, shuffle, attempt)),
            StageTaskKind::Result(_) => None,
        };
        let size_bytes = 100 + attempt.task.attempt.0 % 100;
        // The tasks of one stage in three are long.
        let run_time_us = if attempt.task.set.stage.0 % 3 == 2 { 20_000 } else { 100 };
        let metrics = TaskMetrics { run_time_us, ..TaskMetrics::default() };
        TaskOutcome { result, size_bytes, map_output, metrics, accumulators: true }
    }

    /// The first map output that an attempt needs and cannot get.
    pub fn true_fetch_failure(&self, attempt: &Attempt) -> Option<FetchFailure> {
        let rdd = self.judge.sets[&attempt.task.set].launch.rdd;
        let partition = attempt.task.partition;
        for input in self.judge.inputs_of(&self.scheduler, rdd) {
            for map in (0..self.judge.maps_of(&input)).map(PartitionId) {
                if let Some(failure) = self.missing_output(&self.scheduler, input.shuffle, map, partition) {
                    return Some(failure);
                }
            }
        }
        None
    }

    fn missing_output(
        &self,
        scheduler: &Scheduler,
        shuffle: ShuffleId,
        map: PartitionId,
        reduce_partition: PartitionId,
    ) -> Option<FetchFailure> {
        let config = self.config();
        let output = scheduler.map_outputs().output(shuffle, map);
        let outlives = config.shuffle_service || config.reliable_shuffle;
        let is_there =
            output.is_some_and(|output| outlives || self.judge.executors.contains_key(&output.executor));
        (!is_there).then(|| FetchFailure {
            shuffle,
            location: output.map(|output| (output.executor, output.host.clone())),
            map_partition: output.map(|_| map),
            map_attempt: output.map(|output| output.attempt),
            reduce_partition,
            message: "not there".to_owned(),
        })
    }

    /// The faults stop: from now on all processes follow the protocol, and everything must come to an end.
    pub fn heal(&mut self) {
        if self.judge.wants_stop && !self.judge.is_stopped {
            self.send(Event::ContextStopped);
        }
        let first = self.calls.len();
        let mut idle_ticks = 0;
        while self.judge.has_live_job() || self.judge.live_attempts().next().is_some() {
            let events = self.calls.len() - first;
            assert!(events < HEALING_EVENTS_MAX, "everything ends once the faults stop");
            self.bury_the_dead();
            if self.answer_one() {
                idle_ticks = 0;
            } else if idle_ticks < IDLE_TICKS_MAX {
                idle_ticks += 1;
                self.wait_for_deadline();
            } else {
                // Nothing but time has passed for long enough to end every wait for a better place.
                self.judge.check_nothing_can_start();
                self.add_healthy_executors();
                idle_ticks = 0;
            }
        }
        self.judge.check_ended();
        assert!(self.scheduler.is_quiescent(), "no trace of any job is left: {:#?}", self.scheduler);
    }

    /// Executors that were disconnected, killed or drained are gone for good now.
    fn bury_the_dead(&mut self) {
        let stopped = self.judge.is_stopped;
        let is_dead = |executor: &crate::judge::Executor| stopped || executor.is_leaving;
        let dead: Vec<_> =
            self.judge.executors.iter().filter(|(_, e)| is_dead(e)).map(|(id, _)| *id).collect();
        for executor in dead {
            let reason = ExecutorLossReason::process_lost("it was time");
            self.send(Event::ExecutorLost { executor, reason });
        }
    }

    /// For each profile executors come that can run any stage.
    fn add_healthy_executors(&mut self) {
        let profiles = if self.has_second_profile { 2 } else { 1 };
        // A barrier stage may need a whole address for each of its tasks.
        let wanted = if self.has_gpus { 4 } else { 1 };
        for profile in (0..profiles).map(ProfileId) {
            for _ in 0..wanted {
                let executor = self.new_executor();
                let host = format!("healthy{}", executor.0).into();
                let spec = self.executor_spec(executor, host, 32, profile);
                self.send(Event::ExecutorRegistered(spec));
                self.send(Event::ExecutorLaunched { executor });
            }
        }
    }

    /// Answers one thing that the scheduler waits for. Whether there was one.
    fn answer_one(&mut self) -> bool {
        if !self.racks.is_empty() {
            let racks = std::mem::take(&mut self.racks).into_iter().map(|host| (host, None)).collect();
            self.send(Event::RacksResolved(racks));
            return true;
        }
        if let Some((executor, attempts)) = self.recalls.pop() {
            let event = self.honest_return(executor, attempts);
            self.send(event);
            return true;
        }
        if let Some(attempt) = self.fetches.pop() {
            self.send(Event::ResultFetched { attempt, outcome: FetchedResult::Fetched });
            return true;
        }
        let next = self.judge.live_attempts().find(|(_, attempt)| attempt.phase == Phase::Running);
        let Some((id, _)) = next else { return false };
        let event = self.honest_end(id);
        self.send(event);
        true
    }

    fn wait_for_deadline(&mut self) {
        // Without a deadline only something new can help.
        let Some(deadline) = self.scheduler.next_deadline() else { return };
        let step = self.config().heartbeat.interval;
        while self.now < deadline {
            self.pass(deadline.since(self.now).min(step), false);
        }
        self.send(Event::Tick);
    }

    /// Executors that can be asked: registered ones, in the order of their ids.
    pub fn executor_ids(&self) -> Vec<ExecutorId> {
        self.judge.executors.keys().copied().collect()
    }
}

fn map_output(nodes: &[RddNode], shuffle: ShuffleId, attempt: &Attempt) -> MapOutput {
    let mut dependencies = nodes.iter().flat_map(|node| &node.dependencies);
    let reducers = dependencies.find_map(|dependency| match dependency {
        Dependency::Shuffle(found) if found.shuffle == shuffle => Some(found.reducers),
        Dependency::Shuffle(_) | Dependency::Narrow { .. } => None,
    });
    let sizes = vec![100; reducers.expect("map stages write shuffles of the lineage") as usize];
    let checksum = Some(attempt.task.attempt.0 % 3);
    MapOutput { sizes: BlockSizes::from_bytes(&sizes, &SizeLimits::default()), checksum }
}
