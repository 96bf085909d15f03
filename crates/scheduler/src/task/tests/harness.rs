//! A task set manager, a few executors, and a clock.

use std::{collections::BTreeMap, time::Duration};

use firesteel_types::{
    AttemptId, Cpus, ExecutorId, Host, JobId, Locality, PartitionId, ProfileId, Properties, RddId,
    StageAttemptId, StageId, TaskIndex, TaskLocation, Timestamp,
};

use crate::{
    config::{LocalityConfig, SchedulerConfig},
    effect::StageTaskKind,
    event::ExecutorSpec,
    executors::Executors,
    task::{
        manager::TaskSetManager,
        offer::{Answer, Offer, Picked},
        set::{Task, TaskSet},
    },
};

/// A manager that is offered single executors, as in Spark's own tests of it.
pub(super) struct Bench {
    pub(super) set: TaskSetManager,
    pub(super) executors: Executors,
    config: LocalityConfig,
    now: Timestamp,
    next_attempt: u64,
}

impl Bench {
    /// A set whose tasks prefer these places (in Spark's notation), with executors on these hosts, all alive.
    pub(super) fn new(hosts: &[&str], tasks: &[&[&str]]) -> Self {
        Self::with(SchedulerConfig::default(), hosts, tasks)
    }

    pub(super) fn with(config: SchedulerConfig, hosts: &[&str], tasks: &[&[&str]]) -> Self {
        let now = Timestamp::from_secs(1000);
        let mut executors = Executors::default();
        for (id, host) in (0..).zip(hosts) {
            add_executor(&mut executors, id, host);
        }
        let set = TaskSetManager::new(task_set(tasks), now, &config, &mut executors);
        Self { set, executors, config: config.locality, now, next_attempt: 0 }
    }

    pub(super) fn advance(&mut self, by: Duration) -> &mut Self {
        self.now += by;
        self
    }

    /// What the set does with an offer at no more than `most`; what it takes is launched.
    pub(super) fn answer(&mut self, executor: u32, most: Locality) -> Answer {
        let id = ExecutorId(executor);
        let host = self.executors.known(id).host;
        let (host_name, rack) = (self.executors.hosts.name(host), self.executors.hosts.rack(host));
        let offer = Offer { executor: id, host, host_name, rack };
        let answer = self.set.offer(self.now, offer, most, &self.config);
        if let Answer::Takes(picked) = answer {
            self.set.start(picked.index, AttemptId(self.next_attempt));
            self.set.note_host(picked.index, host);
            self.next_attempt += 1;
        }
        answer
    }

    /// The task that takes the offer, with its level.
    pub(super) fn offer(&mut self, executor: u32, most: Locality) -> Option<(u32, Locality)> {
        self.pick(executor, most).map(|picked| (picked.index.0, picked.locality))
    }

    pub(super) fn pick(&mut self, executor: u32, most: Locality) -> Option<Picked> {
        match self.answer(executor, most) {
            Answer::Takes(picked) => Some(picked),
            Answer::RefusedByDelay | Answer::Nothing => None,
        }
    }

    /// The level the set may go to now.
    pub(super) fn allowed(&mut self) -> Locality {
        self.set.levels.allowed(self.now, &self.set.waiting, &self.config)
    }

    /// Marks a running task as one that may get a second copy.
    pub(super) fn speculate(&mut self, task: u32) {
        let index = TaskIndex(task);
        self.set.pending_copies.add(index, self.set.set.preferred(index), &mut self.executors);
        self.set.speculatable.insert(index);
    }
}

fn add_executor(executors: &mut Executors, id: u32, host: &str) {
    let spec = ExecutorSpec {
        executor: ExecutorId(id),
        host: Host::from(host),
        address: host.into(),
        cpus: Cpus::cores(4),
        resources: BTreeMap::new(),
        profile: ProfileId::DEFAULT,
    };
    executors.add(spec, None);
    executors.update(ExecutorId(id), |executor| executor.launched = true);
}

fn task_set(preferred: &[&[&str]]) -> TaskSet {
    let tasks: Vec<_> =
        (0..preferred.len() as u32).map(|at| Task { partition: PartitionId(at), output: at }).collect();
    TaskSet {
        id: StageAttemptId::new(StageId(0), 0),
        kind: StageTaskKind::Result(JobId(0)),
        rdd: RddId(0),
        partitions: tasks.len() as u32,
        priority: JobId(0),
        profile: ProfileId::DEFAULT,
        properties: Properties::default(),
        generations: [].into(),
        barrier: false,
        epoch: 0,
        tasks,
        preferred: preferred
            .iter()
            .map(|places| places.iter().map(|place| TaskLocation::from(*place)).collect())
            .collect(),
    }
}
