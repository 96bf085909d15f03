//! Random but honest histories: the counts of the status store always agree with a naive model.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_types::{JobId, ListenerEvent, StageAttemptId, StageInfo, TaskEndReason, TaskInfo, Timestamp};
use proptest::{prelude::*, sample::Index};

use super::*;
use crate::{
    Listener,
    sample::{
        completed, executor_added, failed, info, job_end, job_start, killed, panicked, submitted, task,
        task_end, task_start,
    },
};

const EXECUTORS: u32 = 3;
const RETAINED: usize = 4;

/// What may happen next; choices are taken among what is possible.
#[derive(Clone, Copy, Debug)]
enum Step {
    StartJob { new_stages: u32, tasks: u32, share: Option<Index> },
    SubmitStage { stage: Index, attempt_has: u32 },
    StartTask { stage: Index, partition: u32 },
    EndTask { task: Index, how: u8 },
    LoseOutput { task: Index },
    EndStage { stage: Index, succeeds: bool },
    EndJob { job: Index },
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    prop_oneof![
        2 => (0..3u32, 1..5u32, prop::option::weighted(0.4, index()))
            .prop_map(|(new_stages, tasks, share)| Step::StartJob { new_stages, tasks, share }),
        4 => (index(), 1..5u32).prop_map(|(stage, attempt_has)| Step::SubmitStage { stage, attempt_has }),
        12 => (index(), 0..4u32).prop_map(|(stage, partition)| Step::StartTask { stage, partition }),
        12 => (index(), 0..4u8).prop_map(|(task, how)| Step::EndTask { task, how }),
        1 => index().prop_map(|task| Step::LoseOutput { task }),
        2 => (index(), any::<bool>()).prop_map(|(stage, succeeds)| Step::EndStage { stage, succeeds }),
        1 => index().prop_map(|job| Step::EndJob { job }),
    ]
}

/// Attempts of tasks: started, completed, failed, killed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    started: u32,
    completed: u32,
    failed: u32,
    killed: u32,
}

impl Counts {
    fn active(self) -> u32 {
        self.started - self.completed - self.failed - self.killed
    }
}

/// A scheduler that does anything, and remembers all of it.
#[derive(Default)]
struct World {
    store: StatusStore,
    next_stage: u32,
    next_job: u32,
    next_attempt: u64,
    /// Running jobs with their stages.
    jobs: BTreeMap<u32, Vec<u32>>,
    /// Every job that ever shared a stage.
    sharing: BTreeSet<u32>,
    /// The latest info of the stages of running jobs.
    stages: BTreeMap<u32, StageInfo>,
    active: BTreeSet<StageAttemptId>,
    running: Vec<(StageAttemptId, TaskInfo)>,
    won: Vec<(StageAttemptId, TaskInfo)>,
    by_attempt: BTreeMap<StageAttemptId, Counts>,
    by_executor: BTreeMap<u32, Counts>,
    /// Counts of jobs that share nothing.
    by_job: BTreeMap<u32, Counts>,
    owner: BTreeMap<u32, u32>,
}

impl World {
    fn new() -> Self {
        let retention = Retention { jobs: RETAINED, stages: RETAINED, removed_executors: RETAINED };
        let mut world = Self { store: StatusStore::new(retention), ..Self::default() };
        for executor in 0..EXECUTORS {
            world.tell(&executor_added(executor, "h1"));
        }
        world
    }

    fn tell(&mut self, event: &ListenerEvent) {
        self.store.on_event(event);
    }

    fn count(&mut self, set: StageAttemptId, executor: u32, change: impl Fn(&mut Counts)) {
        change(self.by_attempt.entry(set).or_default());
        change(self.by_executor.entry(executor).or_default());
        if let Some(job) = self.owner.get(&set.stage.0) {
            change(self.by_job.entry(*job).or_default());
        }
    }

    fn perform(&mut self, step: Step) {
        match step {
            Step::StartJob { new_stages, tasks, share } => self.start_job(new_stages, tasks, share),
            Step::SubmitStage { stage, attempt_has } => self.submit(stage, attempt_has),
            Step::StartTask { stage, partition } => self.start_task(stage, partition),
            Step::EndTask { .. } if self.running.is_empty() => (),
            Step::EndTask { task, how } => self.end_task(task.index(self.running.len()), how),
            Step::LoseOutput { task } => self.lose_output(task),
            Step::EndStage { stage, succeeds } => self.end_stage(stage, succeeds),
            Step::EndJob { job } => {
                if let Some(job) = pick(self.jobs.keys(), job).copied() {
                    self.end_job(job);
                }
            }
        }
    }

    fn start_job(&mut self, new_stages: u32, tasks: u32, share: Option<Index>) {
        let job = self.next_job;
        self.next_job += 1;
        let mut infos = Vec::new();
        if let Some(shared) = share.and_then(|share| pick(self.stages.values(), share)) {
            infos.push(shared.clone());
            let stage = shared.id.stage.0;
            let others = self.jobs.iter().filter(|(_, stages)| stages.contains(&stage)).map(|(job, _)| *job);
            self.sharing.extend(others);
            self.sharing.insert(job);
        }
        for _ in 0..new_stages {
            let info = info(self.next_stage, 0, tasks);
            self.owner.insert(self.next_stage, job);
            self.stages.insert(self.next_stage, info.clone());
            self.next_stage += 1;
            infos.push(info);
        }
        self.jobs.insert(job, infos.iter().map(|info| info.id.stage.0).collect());
        self.tell(&job_start(job, &infos));
    }

    fn submit(&mut self, stage: Index, attempt_has: u32) {
        let idle = self.stages.values().filter(|info| !self.active.contains(&info.id));
        let Some(mut next) = pick(idle, stage).cloned() else { return };
        if next.completed.is_some() {
            next = info(next.id.stage.0, next.id.attempt + 1, attempt_has.min(next.tasks));
        }
        next.submitted = Some(Timestamp::ZERO);
        self.tell(&submitted(&next));
        self.active.insert(next.id);
        self.stages.insert(next.id.stage.0, next);
    }

    fn start_task(&mut self, stage: Index, partition: u32) {
        let Some(set) = pick(self.active.iter(), stage).copied() else { return };
        let mut task = task(partition % self.stages[&set.stage.0].tasks, partition % EXECUTORS);
        task.attempt.0 = self.next_attempt;
        self.next_attempt += 1;
        self.running.push((set, task));
        self.count(set, task.executor.0, |counts| counts.started += 1);
        self.tell(&task_start(set, task));
    }

    fn end_task(&mut self, place: usize, how: u8) {
        let (set, task) = self.running.swap_remove(place);
        let executor = task.executor.0;
        let reason = match how {
            0 => {
                self.count(set, executor, |counts| counts.failed += 1);
                panicked()
            }
            1 => {
                self.count(set, executor, |counts| counts.killed += 1);
                killed()
            }
            _ => {
                self.count(set, executor, |counts| counts.completed += 1);
                self.won.push((set, task));
                TaskEndReason::Success
            }
        };
        self.tell(&task_end(set, task, reason));
    }

    /// Only a set that is active hears of it, as in the scheduler.
    fn lose_output(&mut self, which: Index) {
        let active = &self.active;
        self.won.retain(|(set, _)| active.contains(set));
        if self.won.is_empty() {
            return;
        }
        let (set, task) = self.won.swap_remove(which.index(self.won.len()));
        self.count(set, task.executor.0, |counts| {
            counts.completed -= 1;
            counts.failed += 1;
        });
        self.tell(&task_end(set, task, TaskEndReason::Resubmitted));
    }

    fn end_stage(&mut self, stage: Index, succeeds: bool) {
        let Some(set) = pick(self.active.iter(), stage).copied() else { return };
        self.end_attempt(set, succeeds);
    }

    fn end_attempt(&mut self, set: StageAttemptId, succeeds: bool) {
        self.active.remove(&set);
        let info = self.stages.get_mut(&set.stage.0).expect("an active stage has a job");
        info.completed = Some(Timestamp::ZERO);
        info.failure = (!succeeds).then(|| "fetch failed".to_owned());
        let event = if succeeds { completed(info) } else { failed(info, "fetch failed") };
        self.tell(&event);
    }

    fn end_job(&mut self, job: u32) {
        let stages = self.jobs.remove(&job).expect("it was picked");
        for stage in stages {
            if self.jobs.values().any(|others| others.contains(&stage)) {
                continue;
            }
            let set = self.stages[&stage].id;
            if self.active.contains(&set) {
                self.end_attempt(set, false);
            }
            self.stages.remove(&stage);
        }
        self.tell(&job_end(job));
    }

    fn finish(&mut self) {
        while let Some(job) = self.jobs.keys().next().copied() {
            self.end_job(job);
        }
        while !self.running.is_empty() {
            self.end_task(0, 1);
        }
    }

    fn check(&self) {
        for stage in self.store.stages() {
            let expected = self.by_attempt.get(&stage.id()).copied().unwrap_or_default();
            let (completed, failed, killed) =
                (stage.num_complete_tasks, stage.num_failed_tasks, stage.num_killed_tasks);
            let started = stage.num_active_tasks + completed + failed + killed;
            assert_eq!(Counts { started, completed, failed, killed }, expected, "{stage:?}");
            assert_eq!(stage.status == StageStatus::Active, self.active.contains(&stage.id()));
        }
        for executor in self.store.executors() {
            let expected = self.by_executor.get(&executor.id.0).copied().unwrap_or_default();
            let counted = [executor.total_tasks, executor.completed_tasks, executor.failed_tasks];
            assert_eq!(counted, [expected.started, expected.completed, expected.failed].map(u64::from));
            assert_eq!(executor.active_tasks, expected.active());
            assert_eq!(executor.killed_tasks, u64::from(expected.killed));
        }
        for job in self.store.jobs() {
            self.check_job(&job);
        }
        let active: Vec<JobId> = self.jobs.keys().map(|job| JobId(*job)).collect();
        assert_eq!(self.store.active_job_ids(), active);
        assert!(self.store.jobs().len() <= active.len() + RETAINED);
        let unsettled = self.by_attempt.iter().filter(|(_, counts)| counts.active() > 0).count();
        // Not every attempt is active: a stage may be pending, and its first attempt stays so if the second runs.
        assert!(self.store.stages().len() <= 2 * self.stages.len() + unsettled + RETAINED);
    }

    fn check_job(&self, job: &JobData) {
        let stages = job.stage_ids.len() as u32;
        let settled = job.num_active_stages + job.num_completed_stages + job.num_skipped_stages;
        assert!(settled <= stages, "{job:?}");
        assert!(job.num_skipped_tasks <= job.num_tasks, "{job:?}");
        let in_stages = |set: &StageAttemptId| job.stage_ids.contains(&set.stage);
        let running = self.running.iter().filter(|(set, _)| in_stages(set)).count();
        assert!(job.num_active_tasks as usize <= running, "{job:?}");
        if self.sharing.contains(&job.job_id.0) {
            return;
        }
        let expected = self.by_job.get(&job.job_id.0).copied().unwrap_or_default();
        let (completed, failed, killed) =
            (job.num_completed_tasks, job.num_failed_tasks, job.num_killed_tasks);
        let started = job.num_active_tasks + completed + failed + killed;
        assert_eq!(Counts { started, completed, failed, killed }, expected, "{job:?}");
        assert!(job.num_completed_indices <= job.num_tasks, "{job:?}");
        assert!(job.num_completed_indices <= job.num_completed_tasks, "{job:?}");
    }
}

fn pick<T>(mut among: impl Iterator<Item = T> + Clone, which: Index) -> Option<T> {
    match among.clone().count() {
        0 => None,
        count => among.nth(which.index(count)),
    }
}

proptest! {
    #[test]
    fn counts_agree_with_a_naive_model_after_every_event(steps in prop::collection::vec(step(), 1..150)) {
        let mut world = World::new();

        for step in steps {
            world.perform(step);
            world.check();
        }
        world.finish();
        world.check();

        for job in world.store.jobs() {
            assert_eq!((job.num_active_tasks, job.num_active_stages), (0, 0), "{job:?}");
        }
        assert!(world.store.stages().len() <= RETAINED && world.store.jobs().len() <= RETAINED);
    }
}
