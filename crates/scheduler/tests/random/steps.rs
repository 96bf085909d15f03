//! What can happen in one step of a random run.

use std::time::Duration;

use firesteel_scheduler::{
    Cancel, Event, FetchedResult, JobSpec, Partitions, ResultPlace, TaskStatus,
    barrier_sync::{SyncCall, SyncRequest},
};
use firesteel_types::{
    AttemptId, ExecutorId, JobId, PartitionId, ProfileId, Properties, RddId, ShuffleId, StageId, TaskFailure,
    TaskMetrics,
};

use crate::{
    case::{Dice, Flavour},
    judge::Phase,
    lineage::host,
    world::World,
};

/// One kind of step.
#[derive(Clone, Copy, Debug)]
enum Step {
    Progress,
    Failure,
    Batch,
    FetchFailure,
    Submit,
    SubmitMapStage,
    NewExecutor,
    ExecutorTrouble,
    Time,
    Answer,
    Blocks,
    Cancel,
    Lie,
    Ask,
    Lineage,
    Scaling,
    Disaster,
    Heartbeats,
}

/// How likely each kind of step is.
fn weights(flavour: Flavour) -> [(usize, Step); 18] {
    let of = |calm, losses, cancellations, lies, queues| match flavour {
        Flavour::Calm => calm,
        Flavour::Losses => losses,
        Flavour::Cancellations => cancellations,
        Flavour::Lies => lies,
        Flavour::Queues => queues,
    };
    [
        (of(400, 300, 300, 300, 300), Step::Progress),
        (of(20, 40, 40, 40, 15), Step::Failure),
        (of(60, 40, 40, 40, 150), Step::Batch),
        (of(5, 60, 30, 40, 10), Step::FetchFailure),
        (of(60, 40, 60, 40, 60), Step::Submit),
        (of(20, 15, 25, 15, 15), Step::SubmitMapStage),
        (of(40, 60, 40, 40, 40), Step::NewExecutor),
        (of(5, 60, 15, 30, 20), Step::ExecutorTrouble),
        (of(80, 80, 80, 80, 120), Step::Time),
        (of(60, 40, 40, 40, 100), Step::Answer),
        (of(30, 20, 20, 20, 10), Step::Blocks),
        (of(5, 10, 60, 20, 15), Step::Cancel),
        (of(0, 20, 10, 150, 30), Step::Lie),
        (of(30, 30, 30, 30, 20), Step::Ask),
        (of(5, 5, 30, 10, 3), Step::Lineage),
        (of(5, 30, 10, 20, 15), Step::Scaling),
        (of(0, 2, 15, 4, 3), Step::Disaster),
        (of(10, 10, 5, 5, 5), Step::Heartbeats),
    ]
}

impl World {
    /// Executors and jobs that are there from the start.
    pub fn prologue(&mut self, dice: &mut Dice) {
        for _ in 0..dice.below(4) {
            self.join(dice);
        }
        self.submit(dice);
    }

    /// Does what `seed` stands for in the present state.
    pub fn step(&mut self, flavour: Flavour, seed: u64) {
        let mut dice = Dice::new(seed);
        let dice = &mut dice;
        if dice.chance(50) {
            self.pass(Duration::from_micros(dice.below(200_000) as u64), false);
        }
        match dice.weighted(&weights(flavour)) {
            Step::Progress => self.progress(dice),
            Step::Failure => self.fail(dice),
            Step::Batch => self.batch(dice),
            Step::FetchFailure => self.fetch_failure(dice),
            Step::Submit => self.submit(dice),
            Step::SubmitMapStage => self.submit_map_stage(dice),
            Step::NewExecutor => self.join(dice),
            Step::ExecutorTrouble => self.executor_trouble(dice),
            Step::Time => self.time(dice),
            Step::Answer => self.answer(dice),
            Step::Blocks => self.blocks(dice),
            Step::Cancel => self.cancel(dice),
            Step::Lie => self.lie(dice),
            Step::Ask => self.ask(dice),
            Step::Lineage => self.change_lineage(dice),
            Step::Scaling => self.scale(dice),
            Step::Disaster => self.disaster(dice),
            Step::Heartbeats => self.heartbeats(),
        }
    }

    pub fn running(&self, dice: &mut Dice) -> Option<AttemptId> {
        let is_running = |(_, attempt): &(AttemptId, &crate::judge::Attempt)| attempt.phase == Phase::Running;
        let running: Vec<_> = self.judge.live_attempts().filter(is_running).map(|(id, _)| id).collect();
        dice.pick(&running).copied()
    }

    fn progress(&mut self, dice: &mut Dice) {
        let Some(id) = self.running(dice) else { return self.time(dice) };
        let event = self.progress_of(id, dice);
        self.send(event);
    }

    /// A report that an executor may make of an attempt that goes well.
    fn progress_of(&self, id: AttemptId, dice: &mut Dice) -> Event {
        let attempt = &self.judge.attempts[&id];
        let executor = attempt.task.executor;
        if dice.chance(15) {
            return Event::StatusUpdate { executor, attempt: id, status: TaskStatus::Running };
        }
        if dice.chance(90) && attempt.is_killed || dice.chance(50) {
            return self.honest_end(id);
        }
        let places = [
            (60, ResultPlace::Direct),
            (30, ResultPlace::Indirect),
            (usize::from(dice.chance(5)), ResultPlace::Dropped),
        ];
        let mut outcome = self.outcome(attempt, dice.weighted(&places));
        outcome.accumulators = dice.chance(50);
        Event::StatusUpdate { executor, attempt: id, status: TaskStatus::Finished(outcome) }
    }

    /// Several executors report at once.
    fn batch(&mut self, dice: &mut Dice) {
        let mut events = Vec::new();
        let mut waiting: Vec<_> = self.judge.live_attempts().collect();
        waiting.retain(|(_, attempt)| attempt.phase == Phase::Ahead);
        for (id, attempt) in self.judge.live_attempts() {
            if attempt.phase == Phase::Running && dice.chance(70) {
                events.push(self.progress_of(id, dice));
                // Those that wait behind it begin and end in their order, before any other report.
                let ends =
                    !matches!(events.last(), Some(Event::StatusUpdate { status: TaskStatus::Running, .. }));
                while ends
                    && dice.chance(50)
                    && let Some(at) =
                        waiting.iter().position(|(_, a)| a.task.executor == attempt.task.executor)
                {
                    events.push(self.honest_end(waiting.remove(at).0));
                }
            }
        }
        if !events.is_empty() {
            self.send_all(events);
        }
    }

    fn fail(&mut self, dice: &mut Dice) {
        let Some(id) = self.running(dice) else { return };
        let executor = self.judge.attempts[&id].task.executor;
        let failure = match dice.below(14) {
            0 => TaskFailure::CommitDenied,
            1 => TaskFailure::ResultNotSerializable { message: "no".to_owned() },
            2 => TaskFailure::OutputExists { path: "/out".to_owned() },
            3 | 4 => TaskFailure::killed("killed on request"),
            5 => TaskFailure::ExecutorShuttingDown,
            6 => TaskFailure::Unknown,
            7 => TaskFailure::ResultLost,
            8 => TaskFailure::ExecutorLost { executor, caused_by_app: true, reason: "said so".to_owned() },
            _ => TaskFailure::panicked("boom"),
        };
        let (metrics, accumulators) = (TaskMetrics::default(), dice.chance(50));
        let status = TaskStatus::Failed { failure, metrics, accumulators };
        self.send(Event::StatusUpdate { executor, attempt: id, status });
    }

    pub fn submit(&mut self, dice: &mut Dice) {
        let Some(node) = dice.pick(&self.nodes[self.nodes.len() / 2..]) else { return };
        let (rdd, count) = (node.id, node.partitions);
        let partitions = if count == 0 || dice.chance(70) {
            Partitions::All
        } else {
            let beyond = u32::from(dice.chance(2));
            let len = dice.below(count as usize + 2);
            Partitions::Listed((0..len).map(|_| PartitionId(dice.between(0, count - 1 + beyond))).collect())
        };
        let job = self.job_id(dice);
        let properties = properties(dice);
        self.send(Event::JobSubmitted(JobSpec { job, rdd, partitions, properties, rows_seen: None }));
    }

    fn job_id(&mut self, dice: &mut Dice) -> JobId {
        let last = JobId(self.next_job.saturating_sub(1));
        if dice.chance(1) && self.judge.jobs.get(&last).is_some_and(|job| !job.is_over()) {
            return last;
        }
        self.next_job += 1;
        JobId(self.next_job - 1)
    }

    fn submit_map_stage(&mut self, dice: &mut Dice) {
        let shuffles = self.shuffles();
        let Some((rdd, shuffle)) = dice.pick(&shuffles).copied() else { return };
        let (job, properties) = (self.job_id(dice), properties(dice));
        self.send(Event::MapStageSubmitted { job, rdd, shuffle, properties });
    }

    /// Every shuffle of the lineage with an RDD that reads it.
    pub fn shuffles(&self) -> Vec<(RddId, ShuffleId)> {
        let of_node = |node: &firesteel_types::RddNode| {
            let id = node.id;
            let shuffles: Vec<_> = node.dependencies.iter().filter_map(shuffle_of).collect();
            shuffles.into_iter().map(move |shuffle| (id, shuffle))
        };
        self.nodes.iter().flat_map(of_node).collect()
    }

    fn join(&mut self, dice: &mut Dice) {
        let gone: Vec<_> = self.judge.gone.iter().copied().collect();
        let executor = match dice.pick(&gone) {
            Some(again) if dice.chance(15) => *again,
            _ => self.new_executor(),
        };
        let profile = ProfileId(u32::from(self.has_second_profile && dice.chance(30)));
        let spec = self.executor_spec(executor, host(dice.between(0, 3)), dice.between(1, 4), profile);
        self.send(Event::ExecutorRegistered(spec));
        if dice.chance(95) {
            self.send(Event::ExecutorLaunched { executor });
        }
    }

    fn time(&mut self, dice: &mut Dice) {
        let deadline = self.scheduler.next_deadline();
        match dice.below(10) {
            0 => self.pass(Duration::from_secs(dice.below(30) as u64), dice.chance(20)),
            1 => self.pass(Duration::from_secs(200), dice.chance(50)),
            2 | 3 => self.pass(Duration::from_millis(dice.below(2000) as u64), false),
            _ => {
                let by = deadline.map_or(Duration::ZERO, |at| at.since(self.now));
                self.pass(by, dice.chance(10));
            }
        }
        if dice.chance(90) {
            self.send(Event::Tick);
        }
    }

    fn answer(&mut self, dice: &mut Dice) {
        if !self.racks.is_empty() && dice.chance(50) {
            let racks = std::mem::take(&mut self.racks).into_iter().map(|host| {
                let rack = dice.chance(70).then(|| format!("r{}", dice.below(2)));
                (host, rack)
            });
            let racks = racks.collect();
            return self.send(Event::RacksResolved(racks));
        }
        if !self.recalls.is_empty() && dice.chance(70) {
            let (executor, attempts) = self.recalls.swap_remove(dice.below(self.recalls.len()));
            let event = self.honest_return(executor, attempts);
            return self.send(event);
        }
        if self.fetches.is_empty() {
            return self.end_killed_ahead(dice);
        }
        let attempt = self.fetches.swap_remove(dice.below(self.fetches.len()));
        let outcome = match dice.below(12) {
            0 | 1 => FetchedResult::Lost,
            2 => FetchedResult::Unreadable { message: "bad bytes".to_owned() },
            _ => FetchedResult::Fetched,
        };
        self.send(Event::ResultFetched { attempt, outcome });
    }

    /// An executor ends an attempt that it was told to end and had not begun.
    fn end_killed_ahead(&mut self, dice: &mut Dice) {
        let is_killed = |(_, attempt): &(AttemptId, &crate::judge::Attempt)| {
            attempt.phase == Phase::Ahead && attempt.is_killed
        };
        let killed: Vec<_> = self.judge.live_attempts().filter(is_killed).map(|(id, _)| id).collect();
        match dice.pick(&killed) {
            Some(id) => {
                let event = self.honest_end(*id);
                self.send(event);
            }
            None => self.progress(dice),
        }
    }

    /// A task asks to commit, or waits for the others of its barrier stage.
    fn ask(&mut self, dice: &mut Dice) {
        let Some(id) = self.running(dice) else { return };
        let task = self.judge.attempts[&id].task.clone();
        if task.barrier.is_some() && dice.chance(80) {
            let message = format!("{id}").into();
            let call = if dice.chance(80) { SyncCall::Barrier } else { SyncCall::AllGather { message } };
            let (set, partition) = (task.set, task.partition);
            let epoch = dice.below(2) as u32;
            self.send(Event::BarrierRequested(SyncRequest { set, partition, attempt: id, epoch, call }));
        } else {
            let (set, partition, number) = (task.set, task.partition, task.number);
            self.send(Event::CommitRequested { set, partition, number });
        }
    }

    fn cancel(&mut self, dice: &mut Dice) {
        let what = match dice.below(10) {
            0..=3 => Cancel::Job(JobId(dice.between(0, self.next_job))),
            4 => Cancel::Group { group: "g0".to_owned(), future: dice.chance(30) },
            5 => Cancel::Tag("t0".to_owned()),
            6 | 7 => Cancel::Stage(StageId(dice.between(0, 10))),
            8 => {
                let Some(attempt) = self.running(dice) else { return };
                let (interrupt, reason) = (dice.chance(50), "by hand".to_owned());
                return self.send(Event::TaskKillRequested { attempt, interrupt, reason });
            }
            _ => Cancel::All,
        };
        let reason = dice.chance(50).then(|| "because".to_owned());
        self.send(Event::CancelRequested { what, reason });
    }

    /// Any executor, mostly one that is registered.
    pub fn any_executor(&self, dice: &mut Dice) -> ExecutorId {
        let known = self.executor_ids();
        match dice.pick(&known) {
            Some(executor) if dice.chance(90) => *executor,
            _ => ExecutorId(dice.between(0, self.next_executor + 1)),
        }
    }
}

fn shuffle_of(dependency: &firesteel_types::Dependency) -> Option<ShuffleId> {
    match dependency {
        firesteel_types::Dependency::Shuffle(shuffle) => Some(shuffle.shuffle),
        firesteel_types::Dependency::Narrow { .. } => None,
    }
}

fn properties(dice: &mut Dice) -> Properties {
    let mut properties = Properties::default();
    let mut maybe = |key: &str, values: &[&str]| {
        if dice.chance(40) {
            let value = dice.pick(values).expect("there are values");
            properties = properties.with(key, *value);
        }
    };
    maybe(Properties::POOL, &["a", "b", "c"]);
    maybe(Properties::JOB_GROUP, &["g0", "g1"]);
    maybe(Properties::TAGS, &["t0", "t0,t1"]);
    maybe(Properties::INTERRUPT_ON_CANCEL, &["true"]);
    properties
}
