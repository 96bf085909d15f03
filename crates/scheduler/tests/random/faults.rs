//! What goes wrong in the world around the scheduler, and who lies to it.

use std::collections::BTreeMap;

use firesteel_scheduler::{
    BlockUpdate, Event, FetchedResult, MapOutput, NotSent, Scaling, StageTaskKind, TaskOutcome, TaskStatus,
    map_output::{BlockSizes, SizeLimits},
};
use firesteel_types::{
    AttemptId, AttemptNumber, Dependency, ExecutorLossReason, FetchFailure, JobId, PartitionId, ProfileId,
    RddId, RddNode, ShuffleId, StageAttemptId, StageId, StorageLevel, TaskFailure, TaskMetrics,
};

use crate::{
    case::Dice,
    lineage::{checkpointed, host},
    world::World,
};

impl World {
    pub fn executor_trouble(&mut self, dice: &mut Dice) {
        let executor = self.any_executor(dice);
        match dice.below(10) {
            0 | 1 => self.send(Event::ExecutorDisconnected { executor }),
            2 => {
                let message = "the worker is gone".to_owned();
                self.send(Event::WorkerRemoved { host: host(dice.between(0, 3)), message });
            }
            _ => {
                let reason = loss(dice);
                self.send(Event::ExecutorLost { executor, reason });
            }
        }
    }

    /// A reducer cannot get a block, or wrongly reports so.
    pub fn fetch_failure(&mut self, dice: &mut Dice) {
        let Some(id) = self.running(dice) else { return };
        let attempt = &self.judge.attempts[&id];
        let executor = attempt.task.executor;
        let rdd = self.judge.sets[&attempt.task.set].launch.rdd;
        let mut inputs = self.judge.inputs_of(&self.scheduler, rdd);
        let truth = self.true_fetch_failure(attempt);
        let failure = if truth.is_some() && dice.chance(60) {
            truth
        } else if inputs.is_empty() {
            None
        } else {
            let input = inputs.swap_remove(dice.below(inputs.len()));
            let map = PartitionId(dice.below(self.judge.maps_of(&input).max(1) as usize) as u32);
            let output = self.scheduler.map_outputs().output(input.shuffle, map);
            Some(FetchFailure {
                shuffle: input.shuffle,
                location: output.map(|output| (output.executor, output.host.clone())),
                map_partition: Some(map),
                map_attempt: output.map(|output| output.attempt),
                reduce_partition: attempt.task.partition,
                message: "connection refused".to_owned(),
            })
        };
        let Some(failure) = failure else { return };
        let status = failed(TaskFailure::FetchFailed(failure));
        self.send(Event::StatusUpdate { executor, attempt: id, status });
    }

    pub fn blocks(&mut self, dice: &mut Dice) {
        let is_cached = |node: &&RddNode| node.storage.is_persisted();
        let cached: Vec<_> =
            self.judge.rdds.values().filter(is_cached).map(|n| (n.id, n.partitions)).collect();
        let Some((rdd, partitions)) = dice.pick(&cached).copied() else { return };
        let executor = self.any_executor(dice);
        let present = dice.chance(80);
        let all = dice.chance(60);
        // A task of an earlier run may store a partition at any time, and a report may be of nothing that ever was.
        let now = self.scheduler.generation(rdd);
        let generation = if dice.chance(70) { now } else { dice.between(0, now + 1) };
        let wanted = (0..partitions + u32::from(dice.chance(5))).filter(|_| all || dice.chance(40));
        let block = |at: u32| BlockUpdate { rdd, partition: PartitionId(at), generation, present };
        let blocks = wanted.map(block).collect();
        self.send(Event::BlocksUpdated { executor, blocks });
    }

    pub fn scale(&mut self, dice: &mut Dice) {
        let executors: Vec<_> = (0..dice.between(1, 2)).map(|_| self.any_executor(dice)).collect();
        let scaling = match dice.below(10) {
            0 => Scaling::Add(dice.between(0, 3).cast_signed() - 1),
            1 => Scaling::Total(BTreeMap::from([
                (ProfileId(0), dice.between(0, 4).cast_signed() - 1),
                (ProfileId(1), 1),
            ])),
            2 => Scaling::Replace(executors),
            3..=5 => Scaling::Kill {
                executors,
                adjust_target: dice.chance(50),
                count_failures: dice.chance(50),
                force: dice.chance(50),
            },
            _ => Scaling::Decommission {
                executors,
                worker_host: dice.chance(40).then(|| host(dice.between(0, 3))),
                adjust_target: dice.chance(50),
                by_executor: dice.chance(40),
            },
        };
        self.send(Event::ScalingRequested(scaling));
    }

    /// RDDs are persisted, unpersisted, checkpointed or dropped; shuffles are forgotten.
    pub fn change_lineage(&mut self, dice: &mut Dice) {
        let Some(node) = dice.pick(&self.nodes).cloned() else { return };
        let current = self.judge.rdds.get(&node.id).cloned().unwrap_or(node);
        match dice.below(10) {
            0..=3 => {
                let is_kept = current.storage.is_persisted();
                let storage = if is_kept { StorageLevel::NONE } else { StorageLevel::MEMORY_ONLY };
                self.register_if_whole(RddNode { storage, ..current });
            }
            4 | 5 => self.register_if_whole(checkpointed(&current)),
            6 => self.send(Event::RddsDropped(vec![current.id])),
            7 => self.register_if_whole(current),
            _ => {
                let shuffle = ShuffleId(dice.between(0, 2 * self.nodes.len() as u32));
                self.send(Event::ShuffleDropped { shuffle });
            }
        }
    }

    /// The scheduler refuses an RDD whose parents were dropped, and the judge must not learn of it then. With every
    /// RDD in one go there is no such parent.
    fn register_if_whole(&mut self, changed: RddNode) {
        let mut nodes: Vec<_> = self.judge.rdds.values().cloned().collect();
        for node in &mut nodes {
            if node.id == changed.id {
                *node = changed.clone();
            }
        }
        self.send(Event::RddsRegistered(nodes));
    }

    /// What ends stages, all jobs or the context.
    pub fn disaster(&mut self, dice: &mut Dice) {
        let message = "it is over".to_owned();
        let event = match dice.below(12) {
            0 => Event::ContextStopped,
            1 => Event::LoopFailed { message },
            2 => Event::ClusterFailed { message },
            3..=5 => Event::ResultHandlerFailed { job: JobId(dice.between(0, self.next_job)), message },
            6..=8 => {
                let sets: Vec<_> = self.judge.sets.keys().copied().collect();
                let Some(set) = dice.pick(&sets).copied() else { return };
                Event::StageNotSerializable { set, message }
            }
            9 => {
                let Some(attempt) = self.running(dice) else { return };
                Event::LargeTaskSent { attempt, size_bytes: 1 << 40 }
            }
            _ => {
                let Some(attempt) = self.running(dice) else { return };
                Event::TaskNotSent { attempt, why: NotSent::TooLarge { size_bytes: 1 << 40 } }
            }
        };
        self.send(event);
    }

    /// A report that is late, repeated, unknown or wrong.
    pub fn lie(&mut self, dice: &mut Dice) {
        let known: Vec<_> = self.judge.attempts.keys().copied().collect();
        let attempt = match dice.pick(&known) {
            Some(attempt) if dice.chance(95) => *attempt,
            _ => AttemptId(dice.below(1000) as u64),
        };
        let executor = match self.judge.attempts.get(&attempt) {
            Some(known) if dice.chance(80) => known.task.executor,
            _ => self.any_executor(dice),
        };
        let event = match dice.below(18) {
            0..=5 => Event::StatusUpdate { executor, attempt, status: self.lying_status(attempt, dice) },
            6 => Event::ResultFetched { attempt, outcome: FetchedResult::Fetched },
            7 => Event::TaskNotSent { attempt, why: NotSent::NotSerializable { message: "no".to_owned() } },
            8 => Event::LargeTaskSent { attempt, size_bytes: 5000 },
            9 => Event::ExecutorLaunched { executor: self.any_executor(dice) },
            10 => self.lying_registration(dice),
            11 => Event::Heartbeat {
                executor,
                block_manager_known: dice.chance(50),
                running: vec![(
                    attempt,
                    TaskMetrics { input_records: 5, run_time_us: 9, ..TaskMetrics::default() },
                )],
            },
            12 => Event::CommitRequested {
                set: StageAttemptId::new(StageId(dice.between(0, 5)), dice.between(0, 2)),
                partition: PartitionId(dice.between(0, 9)),
                number: AttemptNumber(dice.between(0, 3)),
            },
            13 => {
                let shuffle = ShuffleId(dice.between(0, 2 * self.nodes.len() as u32));
                let (executor, host) = (self.any_executor(dice), host(dice.between(0, 4)));
                Event::MapOutputMoved { shuffle, map_attempt: attempt, executor, host }
            }
            15 | 16 => {
                let others = known.iter().copied().filter(|_| dice.chance(10));
                Event::TasksReturned { executor, attempts: [attempt].into_iter().chain(others).collect() }
            }
            14 => Event::TaskKillRequested { attempt, interrupt: false, reason: "whim".to_owned() },
            _ => Event::RddsRegistered(vec![RddNode::derived(
                RddId(2000),
                3,
                vec![Dependency::one_to_one(RddId(dice.between(1000, 1001)))],
            )]),
        };
        if let Event::RddsRegistered(_) = event {
            // Not for the judge: the scheduler refuses it.
            let effects = self.scheduler.handle(self.now, event.clone());
            assert_eq!(effects.len(), 1, "a malformed RDD is refused");
            return;
        }
        self.send(event);
    }

    fn lying_registration(&self, dice: &mut Dice) -> Event {
        let executor = self.any_executor(dice);
        let spec = self.executor_spec(executor, host(dice.between(0, 3)), dice.between(0, 2), ProfileId(0));
        Event::ExecutorRegistered(spec)
    }

    fn lying_status(&self, attempt: AttemptId, dice: &mut Dice) -> TaskStatus {
        let sizes = vec![7; dice.below(4)];
        let map_output = MapOutput {
            sizes: BlockSizes::from_bytes(&sizes, &SizeLimits::default()),
            checksum: dice.chance(50).then_some(3),
        };
        match dice.below(6) {
            0 => TaskStatus::Running,
            1 => TaskStatus::Finished(TaskOutcome { accumulators: true, ..TaskOutcome::default() }),
            2 => TaskStatus::Finished(TaskOutcome { map_output: Some(map_output), ..TaskOutcome::default() }),
            3 => failed(TaskFailure::panicked("late")),
            4 => failed(TaskFailure::FetchFailed(self.false_fetch_failure(attempt, dice))),
            _ => failed(TaskFailure::Killed { reason: "late".to_owned() }),
        }
    }

    /// A fetch failure that names anything.
    fn false_fetch_failure(&self, attempt: AttemptId, dice: &mut Dice) -> FetchFailure {
        let task = self.judge.attempts.get(&attempt).map(|known| &known.task);
        let own_shuffle = task.and_then(|task| match self.judge.sets[&task.set].launch.kind {
            StageTaskKind::ShuffleMap(shuffle) => Some(shuffle),
            StageTaskKind::Result(_) => None,
        });
        let any = ShuffleId(dice.between(0, 2 * self.nodes.len() as u32));
        FetchFailure {
            shuffle: own_shuffle.filter(|_| dice.chance(20)).unwrap_or(any),
            location: dice.chance(70).then(|| (self.any_executor(dice), host(dice.between(0, 4)))),
            map_partition: dice.chance(70).then(|| PartitionId(dice.between(0, 9))),
            map_attempt: dice.chance(50).then_some(attempt),
            reduce_partition: PartitionId(dice.between(0, 9)),
            message: "a lie".to_owned(),
        }
    }
}

fn failed(failure: TaskFailure) -> TaskStatus {
    TaskStatus::Failed { failure, metrics: TaskMetrics::default(), accumulators: true }
}

fn loss(dice: &mut Dice) -> ExecutorLossReason {
    let message = "gone".to_owned();
    match dice.below(6) {
        0 => ExecutorLossReason::Killed,
        1 => ExecutorLossReason::Exited { code: 1, caused_by_app: dice.chance(50), message },
        2 => ExecutorLossReason::Decommissioned {
            worker_host: dice.chance(50).then(|| host(dice.between(0, 3))),
        },
        3 => ExecutorLossReason::ProcessLost {
            message,
            worker_host: Some(host(dice.between(0, 3))),
            caused_by_app: dice.chance(50),
        },
        _ => ExecutorLossReason::process_lost(message),
    }
}
