//! A scheduler with a clock that stands still until told otherwise, and short names for everything.

use std::{collections::BTreeMap, time::Duration};

use firesteel_scheduler::{
    BlockUpdate, Cancel, Effect, Event, ExecutorSpec, JobSpec, MapOutput, Partitions, RowsSeen, Scaling,
    Scheduler, SchedulerConfig, TaskDescription, TaskOutcome, TaskStatus,
    barrier_sync::{SyncCall, SyncRequest},
    map_output::{BlockSizes, SizeLimits},
};
use firesteel_types::{
    AttemptId, Cpus, Dependency, Determinism, ExecutorId, ExecutorLossReason, FetchFailure, JobId,
    PartitionId, PreferredLocations, ProfileId, Properties, RddId, RddNode, ShuffleDependency, ShuffleId,
    StorageLevel, TaskFailure, TaskLocation, TaskMetrics, Timestamp,
};

pub use crate::show::Shown;

/// A scheduler under test.
pub struct World {
    pub scheduler: Scheduler,
    pub now: Timestamp,
    /// Everything launched so far, by attempt.
    pub launched: BTreeMap<AttemptId, TaskDescription>,
    next_job: u32,
}

/// The effects of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects(pub Vec<Effect>);

impl World {
    /// A scheduler with Spark's defaults.
    pub fn new() -> Self {
        Self::with(SchedulerConfig::default())
    }

    /// A scheduler with Spark's defaults but for what `change` changes.
    pub fn config(change: impl FnOnce(&mut SchedulerConfig)) -> Self {
        let mut config = SchedulerConfig::default();
        change(&mut config);
        Self::with(config)
    }

    pub fn with(config: SchedulerConfig) -> Self {
        let scheduler = Scheduler::new(config).expect("the test's configuration is valid");
        Self { scheduler, now: Timestamp::from_secs(1000), launched: BTreeMap::new(), next_job: 0 }
    }

    /// Sends one event at the current time.
    pub fn send(&mut self, event: Event) -> Effects {
        let effects = self.scheduler.handle(self.now, event);
        for effect in &effects {
            if let Effect::LaunchTask(task) = effect {
                self.launched.insert(task.attempt, (**task).clone());
            }
        }
        Effects(effects)
    }

    /// Lets time pass and sends a tick.
    pub fn advance(&mut self, by: Duration) -> Effects {
        self.now += by;
        self.send(Event::Tick)
    }

    /// Registers and launches executors of `cores` cores each, numbered from `first`, one on each host.
    pub fn executors(&mut self, first: u32, hosts: &[&str], cores: u32) -> &mut Self {
        for (id, host) in (first..).zip(hosts) {
            self.executor(id, host, cores);
        }
        self
    }

    /// Registers and launches one executor. The effects are those of the launch: its first offer.
    pub fn executor(&mut self, id: u32, host: &str, cores: u32) -> Effects {
        self.register(id, host, cores);
        self.send(Event::ExecutorLaunched { executor: ExecutorId(id) })
    }

    /// Registers one executor, which is not ready yet.
    pub fn register(&mut self, id: u32, host: &str, cores: u32) -> Effects {
        self.send(Event::ExecutorRegistered(executor_spec(id, host, cores)))
    }

    pub fn rdds(&mut self, nodes: impl IntoIterator<Item = RddNode>) -> &mut Self {
        let effects = self.send(Event::RddsRegistered(nodes.into_iter().collect()));
        assert_eq!(effects.lines(), [""; 0], "the test's lineage is valid");
        self
    }

    /// Submits a job over every partition of an RDD.
    pub fn submit(&mut self, rdd: u32) -> Effects {
        self.submit_with(rdd, Properties::default())
    }

    pub fn submit_with(&mut self, rdd: u32, properties: Properties) -> Effects {
        self.submit_spec(rdd, Partitions::All, properties)
    }

    /// Submits a job over some partitions of an RDD.
    pub fn submit_partitions(&mut self, rdd: u32, partitions: &[u32]) -> Effects {
        let partitions = Partitions::Listed(partitions.iter().copied().map(PartitionId).collect());
        self.submit_spec(rdd, partitions, Properties::default())
    }

    pub fn submit_spec(&mut self, rdd: u32, partitions: Partitions, properties: Properties) -> Effects {
        self.submit_job(rdd, partitions, properties, None)
    }

    /// Submits a job over some partitions of an RDD whose rows were handed out in part, in this generation.
    pub fn submit_next(&mut self, rdd: u32, partitions: &[u32], generation: u32) -> Effects {
        let partitions = Partitions::Listed(partitions.iter().copied().map(PartitionId).collect());
        let rows_seen = Some(RowsSeen { rdd: RddId(rdd), generation });
        self.submit_job(rdd, partitions, Properties::default(), rows_seen)
    }

    fn submit_job(
        &mut self,
        rdd: u32,
        partitions: Partitions,
        properties: Properties,
        rows_seen: Option<RowsSeen>,
    ) -> Effects {
        let job = JobId(self.next_job);
        self.next_job += 1;
        self.send(Event::JobSubmitted(JobSpec { job, rdd: RddId(rdd), partitions, properties, rows_seen }))
    }

    /// Submits the map side of a shuffle that `rdd` reads as a job of its own.
    pub fn submit_map_stage(&mut self, rdd: u32, shuffle: u32) -> Effects {
        let job = JobId(self.next_job);
        self.next_job += 1;
        let (rdd, shuffle) = (RddId(rdd), ShuffleId(shuffle));
        self.send(Event::MapStageSubmitted { job, rdd, shuffle, properties: Properties::default() })
    }

    /// Lets the failed stages be submitted again.
    pub fn resubmit(&mut self) -> Effects {
        self.advance(millis(200))
    }

    /// Map tasks finish with one block of 10 bytes for each reducer.
    pub fn finish_maps(&mut self, attempts: &[u64], reducers: usize) -> Effects {
        let mut last = Effects(Vec::new());
        for attempt in attempts {
            last = self.finish_map(*attempt, &vec![10; reducers]);
        }
        last
    }

    /// Asks for jobs to be cancelled.
    pub fn cancel(&mut self, what: Cancel) -> Effects {
        self.send(Event::CancelRequested { what, reason: None })
    }

    /// Reports the attempt as running.
    pub fn running(&mut self, attempt: u64) -> Effects {
        self.status(attempt, TaskStatus::Running)
    }

    /// A result task finishes.
    pub fn finish(&mut self, attempt: u64) -> Effects {
        self.status(attempt, TaskStatus::Finished(TaskOutcome::default()))
    }

    /// A result task finishes whose own code took this long.
    pub fn finish_in(&mut self, attempt: u64, run_time_us: u64) -> Effects {
        let metrics = TaskMetrics { run_time_us, ..TaskMetrics::default() };
        self.status(attempt, TaskStatus::Finished(TaskOutcome { metrics, ..TaskOutcome::default() }))
    }

    /// The executor returns attempts that it has not begun.
    pub fn return_tasks(&mut self, executor: u32, attempts: &[u64]) -> Effects {
        let attempts = attempts.iter().copied().map(AttemptId).collect();
        self.send(Event::TasksReturned { executor: ExecutorId(executor), attempts })
    }

    /// A map task finishes with blocks of these sizes, one for each reducer.
    pub fn finish_map(&mut self, attempt: u64, sizes: &[u64]) -> Effects {
        self.status(attempt, TaskStatus::Finished(map_outcome(sizes, None)))
    }

    pub fn fail(&mut self, attempt: u64, failure: TaskFailure) -> Effects {
        self.status(
            attempt,
            TaskStatus::Failed { failure, metrics: TaskMetrics::default(), accumulators: false },
        )
    }

    /// The attempt panics.
    pub fn panic(&mut self, attempt: u64) -> Effects {
        self.fail(attempt, TaskFailure::panicked("boom"))
    }

    /// A status update from the executor that runs the attempt.
    pub fn status(&mut self, attempt: u64, status: TaskStatus) -> Effects {
        let attempt = AttemptId(attempt);
        let executor = self.launched.get(&attempt).map_or(ExecutorId(999), |task| task.executor);
        self.send(Event::StatusUpdate { executor, attempt, status })
    }

    /// The executor's process is gone, through a task's fault.
    pub fn lose(&mut self, executor: u32) -> Effects {
        self.lose_with(executor, ExecutorLossReason::process_lost("gone"))
    }

    pub fn lose_with(&mut self, executor: u32, reason: ExecutorLossReason) -> Effects {
        self.send(Event::ExecutorLost { executor: ExecutorId(executor), reason })
    }

    /// Asks for executors to come or go.
    pub fn scale(&mut self, scaling: Scaling) -> Effects {
        self.send(Event::ScalingRequested(scaling))
    }

    /// A barrier task calls `barrier()` for the `epoch`-th time.
    pub fn sync(&mut self, attempt: u64, epoch: u32) -> Effects {
        let task = &self.launched[&AttemptId(attempt)];
        let (set, partition, attempt) = (task.set, task.partition, task.attempt);
        let call = SyncCall::Barrier;
        self.send(Event::BarrierRequested(SyncRequest { set, partition, attempt, epoch, call }))
    }

    /// The partitions of an RDD are cached at these executors, in order.
    pub fn cache(&mut self, rdd: u32, executors: &[u32]) -> &mut Self {
        for (partition, executor) in (0..).zip(executors) {
            let block = BlockUpdate {
                rdd: RddId(rdd),
                partition: PartitionId(partition),
                generation: 0,
                present: true,
            };
            self.send(Event::BlocksUpdated { executor: ExecutorId(*executor), blocks: vec![block] });
        }
        self
    }

    /// The latest attempt of a partition in a stage attempt such as `stage-0.1`.
    pub fn attempt_of(&self, set: &str, partition: u32) -> u64 {
        let is_it = |task: &&TaskDescription| task.set.to_string() == set && task.partition.0 == partition;
        self.launched.values().rev().find(is_it).expect("the partition was launched").attempt.0
    }

    /// The executor that runs an attempt.
    pub fn executor_of(&self, attempt: u64) -> ExecutorId {
        self.launched[&AttemptId(attempt)].executor
    }

    /// Asserts that no trace of any job is left.
    pub fn assert_quiescent(&self) {
        assert!(self.scheduler.is_quiescent(), "something is left: {:#?}", self.scheduler);
    }
}

impl Effects {
    /// Every effect as a short line.
    pub fn lines(&self) -> Vec<String> {
        self.0.iter().map(|effect| Shown(effect).to_string()).collect()
    }

    /// The attempts that were launched, in order.
    pub fn launches(&self) -> Vec<&TaskDescription> {
        self.0
            .iter()
            .filter_map(|effect| match effect {
                Effect::LaunchTask(task) => Some(&**task),
                _ => None,
            })
            .collect()
    }

    /// The ids of the attempts that were launched.
    pub fn attempts(&self) -> Vec<u64> {
        self.launches().iter().map(|task| task.attempt.0).collect()
    }

    /// The ids of the attempts that were sent ahead of a free slot.
    pub fn ahead(&self) -> Vec<u64> {
        self.launches().iter().filter(|task| task.ahead).map(|task| task.attempt.0).collect()
    }

    /// The partitions that were launched.
    pub fn partitions(&self) -> Vec<u32> {
        self.launches().iter().map(|task| task.partition.0).collect()
    }

    /// The generations of the RDDs whose jobs succeeded.
    pub fn generations(&self) -> Vec<u32> {
        let succeeded = self.0.iter().filter_map(|effect| match effect {
            Effect::JobSucceeded { generation, .. } => Some(*generation),
            _ => None,
        });
        succeeded.collect()
    }

    /// The lines that contain `text`.
    pub fn lines_with(&self, text: &str) -> Vec<String> {
        self.lines().into_iter().filter(|line| line.contains(text)).collect()
    }
}

pub fn executor_spec(id: u32, host: &str, cores: u32) -> ExecutorSpec {
    ExecutorSpec {
        executor: ExecutorId(id),
        host: host.into(),
        address: format!("{host}:{id}").into(),
        cpus: Cpus::cores(cores),
        resources: BTreeMap::new(),
        profile: ProfileId::DEFAULT,
    }
}

/// A source RDD.
pub fn source(id: u32, partitions: u32) -> RddNode {
    RddNode::source(RddId(id), partitions)
}

/// A source RDD whose partitions prefer these places, in Spark's notation.
pub fn located(id: u32, places: &[&[&str]]) -> RddNode {
    let places: Vec<Vec<TaskLocation>> =
        places.iter().map(|places| places.iter().map(|place| TaskLocation::from(*place)).collect()).collect();
    let partitions = places.len() as u32;
    RddNode { preferred: PreferredLocations::PerPartition(places.into()), ..source(id, partitions) }
}

/// An RDD computed one to one from `parent`.
pub fn map(id: u32, partitions: u32, parent: u32) -> RddNode {
    RddNode::derived(RddId(id), partitions, vec![Dependency::one_to_one(RddId(parent))])
}

/// An RDD that reads `shuffle` of `parent`.
pub fn shuffled(id: u32, partitions: u32, shuffle: u32, parent: u32) -> RddNode {
    RddNode::derived(RddId(id), partitions, vec![shuffle_dependency(shuffle, parent, partitions)])
}

pub fn shuffle_dependency(shuffle: u32, parent: u32, reducers: u32) -> Dependency {
    Dependency::Shuffle(ShuffleDependency::new(ShuffleId(shuffle), RddId(parent), reducers))
}

/// A source RDD whose partitions want to be computed by these executors.
pub fn pinned(id: u32, places: &[(u32, &str)]) -> RddNode {
    placed(source(id, places.len() as u32), places)
}

/// The same RDD, whose partitions want to be computed by these executors.
pub fn placed(node: RddNode, places: &[(u32, &str)]) -> RddNode {
    let place = |(executor, host): &(u32, &str)| {
        vec![TaskLocation::Executor { host: (*host).into(), executor: ExecutorId(*executor) }]
    };
    let preferred = PreferredLocations::PerPartition(places.iter().map(place).collect());
    RddNode { preferred, ..node }
}

/// An RDD computed from several others, in one stage or across shuffles.
pub fn derived(id: u32, partitions: u32, dependencies: Vec<Dependency>) -> RddNode {
    RddNode::derived(RddId(id), partitions, dependencies)
}

pub fn one_to_one(parent: u32) -> Dependency {
    Dependency::one_to_one(RddId(parent))
}

/// The same RDD, kept in memory once computed.
pub fn persisted(node: RddNode) -> RddNode {
    RddNode { storage: StorageLevel::MEMORY_ONLY, ..node }
}

/// The same RDD, which may give other rows when it runs again.
pub fn indeterminate(node: RddNode) -> RddNode {
    RddNode { determinism: Some(Determinism::Indeterminate), ..node }
}

/// A source RDD whose stage runs all its tasks at once.
pub fn barrier(id: u32, partitions: u32) -> RddNode {
    RddNode { barrier: true, ..source(id, partitions) }
}

/// Properties with one entry.
pub fn property(key: &str, value: &str) -> Properties {
    Properties::default().with(key, value)
}

/// The outcome of a map task that wrote blocks of these sizes.
pub fn map_outcome(sizes: &[u64], checksum: Option<u64>) -> TaskOutcome {
    let sizes = BlockSizes::from_bytes(sizes, &SizeLimits::default());
    TaskOutcome { map_output: Some(MapOutput { sizes, checksum }), ..TaskOutcome::default() }
}

/// A failure to fetch the output of map partition `map` from an executor.
pub fn fetch_failed(shuffle: u32, map: u32, executor: u32, host: &str) -> TaskFailure {
    TaskFailure::FetchFailed(FetchFailure {
        shuffle: ShuffleId(shuffle),
        location: Some((ExecutorId(executor), host.into())),
        map_partition: Some(PartitionId(map)),
        map_attempt: None,
        reduce_partition: PartitionId(0),
        message: "connection refused".to_owned(),
    })
}

/// A failure to find out where the outputs of a shuffle are.
pub fn metadata_failed(shuffle: u32) -> TaskFailure {
    TaskFailure::FetchFailed(FetchFailure {
        shuffle: ShuffleId(shuffle),
        location: None,
        map_partition: None,
        map_attempt: None,
        reduce_partition: PartitionId(0),
        message: "no locations".to_owned(),
    })
}

pub const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

pub const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}
