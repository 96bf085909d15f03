//! Attempts: each begins once, runs where it may, and ends once.

use firesteel_scheduler::{
    AccumulatorScope, FetchedResult, ResultPlace, StageLaunch, StageTaskKind, TaskDescription, TaskStatus,
};
use firesteel_types::{
    AttemptId, ExecutorId, StageAttemptId, StageInfo, TaskEndReason, TaskFailure, TaskInfo,
};

use super::{Judge, state::Set};

/// One attempt.
#[derive(Debug)]
pub struct Attempt {
    pub task: TaskDescription,
    pub phase: Phase,
    /// Whether what was reported last is a success.
    pub(super) succeeds: bool,
    /// Whether the report that ended it carries accumulator updates.
    pub(super) carries: bool,
    is_merged: bool,
    /// Whether it ended with a result that has not been lost since.
    pub(super) has_result: bool,
    /// Whether it ever had one. With a shuffle service its output may outlive it.
    pub(super) had_result: bool,
    /// Whether its executor was told to end it.
    pub is_killed: bool,
    /// Whether its executor said that it runs.
    pub(super) has_begun: bool,
    /// Whether the listeners know of it.
    pub(super) is_announced: bool,
    /// Whether its executor was asked to return it.
    pub(super) is_recalled: bool,
}

/// Where an attempt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It waits on its executor and holds nothing.
    Ahead,
    /// It holds its resources.
    Running,
    /// Its result is on the way.
    Fetching,
    /// Its end was reported to the scheduler, which has to tell listeners in this call.
    Reported,
    /// The listeners know that it ended.
    Ended,
    /// Its executor returned it before it began: it never was.
    Returned,
    /// Its executor was lost or killed it before it was known to have begun.
    Withdrawn,
}

impl Phase {
    /// Whether more is to be heard of the attempt.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Ahead | Self::Running | Self::Fetching)
    }

    pub const fn is_over(self) -> bool {
        matches!(self, Self::Ended | Self::Returned | Self::Withdrawn)
    }
}

impl Judge {
    pub(super) fn hear_status(&mut self, executor: ExecutorId, id: AttemptId, status: &TaskStatus) {
        let Some(attempt) = self.attempts.get_mut(&id) else { return };
        if !matches!(attempt.phase, Phase::Running | Phase::Ahead) || attempt.task.executor != executor {
            return;
        }
        if self.executors.get(&executor).is_some_and(|known| known.is_disconnected) {
            return; // It was written off when contact was lost.
        }
        let is_ahead = attempt.phase == Phase::Ahead;
        match status {
            TaskStatus::Running => {
                attempt.has_begun |= !is_ahead;
                return;
            }
            TaskStatus::Failed { failure: TaskFailure::Killed { .. }, .. } if is_ahead => {
                return self.withdraw(id);
            }
            TaskStatus::Finished(outcome) => {
                attempt.succeeds = outcome.result != ResultPlace::Dropped;
                attempt.carries = outcome.accumulators;
            }
            TaskStatus::Failed { accumulators, .. } => {
                attempt.succeeds = false;
                attempt.carries = *accumulators;
            }
        }
        self.end(id);
    }

    pub(super) fn hear_fetched(&mut self, id: AttemptId, outcome: &FetchedResult) {
        let Some(attempt) = self.attempts.get_mut(&id).filter(|a| a.phase == Phase::Fetching) else { return };
        attempt.succeeds = *outcome == FetchedResult::Fetched;
        attempt.phase = Phase::Reported;
        self.batch.reported.push(id);
    }

    pub(super) fn hear_not_sent(&mut self, id: AttemptId) {
        // An attempt that reported was sent, even if the runtime now denies it.
        let is_unsent = |a: &&mut Attempt| matches!(a.phase, Phase::Running | Phase::Ahead) && !a.has_begun;
        let Some(attempt) = self.attempts.get_mut(&id).filter(is_unsent) else { return };
        (attempt.succeeds, attempt.carries) = (false, false);
        self.end(id);
    }

    /// A running attempt gives its resources back, and another one may begin in its place.
    pub(super) fn end(&mut self, id: AttemptId) {
        self.batch.reported.push(id);
        let attempt = self.attempts.get_mut(&id).expect("callers looked it up");
        let held = std::mem::replace(&mut attempt.phase, Phase::Reported) == Phase::Running;
        let task = &attempt.task;
        let id = task.executor;
        if held && let Some(executor) = self.executors.get_mut(&id) {
            executor.give_back(task.cpus, &task.resources);
            self.begin_next(id);
        }
    }

    pub(super) fn see_prepared(&mut self, launch: &StageLaunch) {
        let id = launch.set;
        for (older, set) in self.sets.range(StageAttemptId::new(id.stage, 0)..) {
            if older.stage == id.stage {
                assert!(*older < id, "{id} is newer than {older}");
                assert!(set.is_ended, "{older} is over before {id} begins");
            }
        }
        assert!(launch.tasks > 0, "{id} has tasks");
        // A stage attempt may be given up in the very call that began it.
        let is_ended = self.batch.ended_stages.contains(&id);
        assert!(is_ended || self.open_stages.contains(&id), "{id} is announced before it is prepared");
        let positions = match launch.kind {
            StageTaskKind::Result(job) => self.open_positions(job),
            StageTaskKind::ShuffleMap(_) => Vec::new(),
        };
        let set = Set { launch: launch.clone(), positions, is_forgotten: false, is_ended };
        let before = self.sets.insert(id, set);
        assert!(before.is_none(), "{id} is prepared once");
        self.batch.prepared.push(id);
    }

    pub(super) fn see_launch(&mut self, task: &TaskDescription) {
        let id = task.attempt;
        let is_announced = self.batch.last_started == Some(id);
        assert_eq!(is_announced, !task.ahead, "the listeners hear of {id} when it begins");
        assert!(self.attempts.last_key_value().is_none_or(|(last, _)| *last < id), "{id} is a new id");
        let set = self.sets.get(&task.set).unwrap_or_else(|| panic!("{} is prepared before {id}", task.set));
        assert!(set.is_open(), "{} is under way when {id} is launched", task.set);
        assert!(task.index.0 < set.launch.tasks, "{} is one of the tasks of {}", task.index, task.set);
        if let StageTaskKind::Result(job) = set.launch.kind {
            let position = set.positions[task.index.index()];
            assert_eq!(self.jobs[&job].partition(position), task.partition, "{id} computes what {job} wants");
        }
        let is_wanted = self
            .stage_jobs
            .get(&task.set.stage)
            .is_some_and(|jobs| jobs.iter().any(|job| !self.jobs[job].is_over()));
        assert!(is_wanted, "a job wants {}", task.set);
        self.check_siblings(task);
        let profile = set.launch.profile;
        self.take_resources(task, profile);
        if task.ahead {
            self.check_sent_ahead(task);
        }
        let attempt = Attempt {
            task: task.clone(),
            phase: if task.ahead { Phase::Ahead } else { Phase::Running },
            succeeds: false,
            carries: false,
            is_merged: false,
            has_result: false,
            had_result: false,
            is_killed: false,
            has_begun: false,
            is_announced,
            is_recalled: false,
        };
        self.attempts.insert(id, attempt);
        self.batch.launched.push(id);
    }

    /// The other attempts of the same task in the same set allow one more.
    fn check_siblings(&self, task: &TaskDescription) {
        let is_sibling =
            |other: &&super::Attempt| other.task.set == task.set && other.task.index == task.index;
        let mut siblings: Vec<_> = self.attempts.values().filter(is_sibling).collect();
        siblings.retain(|other| other.phase != Phase::Returned);
        let id = task.attempt;
        assert_eq!(siblings.len(), task.number.index(), "attempts of the task of {id} are counted from 0");
        assert!(siblings.iter().all(|other| !other.has_result), "the task of {id} has no result yet");
        let running = siblings.iter().filter(|other| !other.phase.is_over()).count();
        assert_eq!(
            running,
            usize::from(task.speculative),
            "{id} is the only attempt, or a copy of the only one"
        );
        assert!(
            !task.speculative || self.config.speculation.is_some(),
            "{id} is no copy when copies are off"
        );
    }

    pub(super) fn see_kill(&mut self, executor: ExecutorId, id: AttemptId) {
        assert!(self.config.can_kill_tasks, "{id} is not killed by a backend that cannot");
        let attempt = self.attempts.get_mut(&id).unwrap_or_else(|| panic!("{id} is killed after its launch"));
        assert_eq!(attempt.task.executor, executor, "{id} is killed where it runs");
        let is_racing = self.batch.events > 1 && self.batch.reported.contains(&id);
        let can_end = matches!(attempt.phase, Phase::Running | Phase::Ahead);
        assert!(can_end || is_racing || self.batch.events > 1, "{id} is killed while it runs");
        attempt.is_killed = true;
    }

    pub(super) fn see_fetch(&mut self, id: AttemptId) {
        let attempt = self.attempts.get_mut(&id).expect("what is fetched was launched");
        assert!(
            attempt.phase == Phase::Reported && attempt.succeeds,
            "{id} is fetched when it says it succeeded"
        );
        attempt.phase = Phase::Fetching;
    }

    pub(super) fn see_task_end(&mut self, set: StageAttemptId, info: &TaskInfo, reason: &TaskEndReason) {
        let id = info.attempt;
        let attempt = self.attempts.get_mut(&id).unwrap_or_else(|| panic!("{id} began before it ends"));
        assert_eq!(attempt.task.set, set, "{id} ends in its set");
        assert!(attempt.is_announced, "the listeners know of {id}");
        match reason {
            TaskEndReason::Resubmitted => {
                assert!(attempt.phase == Phase::Ended && attempt.has_result, "{id} had a result to lose");
                attempt.has_result = false;
            }
            TaskEndReason::Success => {
                assert!(attempt.phase == Phase::Reported && attempt.succeeds, "{id} said that it succeeded");
                attempt.phase = Phase::Ended;
                (attempt.has_result, attempt.had_result) = (true, true);
                self.batch.succeeded.insert(id);
            }
            TaskEndReason::Failed(_) => {
                assert_eq!(attempt.phase, Phase::Reported, "{id} ends once, and when it was reported");
                attempt.phase = Phase::Ended;
            }
        }
        let keeps_right =
            matches!(reason, TaskEndReason::Success | TaskEndReason::Failed(TaskFailure::CommitDenied));
        if !keeps_right {
            self.lose_commit(set, info.partition, info.number);
        }
    }

    pub(super) fn see_merge(&mut self, id: AttemptId, which: AccumulatorScope) {
        let attempt = self.attempts.get_mut(&id).expect("what is merged was launched");
        assert_eq!(attempt.phase, Phase::Reported, "{id} is merged when it ends");
        assert!(attempt.carries, "{id} brought updates");
        assert!(!std::mem::replace(&mut attempt.is_merged, true), "{id} is merged once");
        let task = &attempt.task;
        match which {
            AccumulatorScope::All => {
                assert!(attempt.succeeds, "{id} succeeded");
                let set = &self.sets[&task.set];
                if let StageTaskKind::Result(job) = set.launch.kind {
                    let position = set.positions[task.index.index()];
                    let job = self.jobs.get_mut(&job).expect("sets are made for jobs");
                    assert!(job.merged.insert(position), "updates of position {position} are merged once");
                }
            }
            AccumulatorScope::CountedOnFailure => (),
        }
    }

    pub(super) fn see_forgotten(&mut self, id: StageAttemptId) {
        let set = self.sets.get_mut(&id).unwrap_or_else(|| panic!("{id} is forgotten after it was prepared"));
        assert!(!std::mem::replace(&mut set.is_forgotten, true), "{id} is forgotten once");
        set.is_ended = true;
        let runs = |attempt: &super::Attempt| attempt.task.set == id && attempt.phase.is_live();
        assert!(!self.attempts.values().any(runs), "nothing of {id} runs when it is forgotten");
    }

    pub(super) fn see_stage_end(&mut self, info: &StageInfo) {
        let id = info.id;
        assert!(self.open_stages.remove(&id), "{id} ends once, after it was announced");
        self.batch.ended_stages.push(id);
        if let Some(set) = self.sets.get_mut(&id) {
            set.is_ended = true;
        }
        self.end_commits(info);
    }

    /// What was reported in this call has ended, or its result is being fetched.
    pub(super) fn check_reports_taken(&self) {
        for id in &self.batch.reported {
            assert_ne!(self.attempts[id].phase, Phase::Reported, "the end of {id} is told");
        }
    }

    /// Barrier tasks are launched all at once.
    pub(super) fn check_barrier_launches(&self) {
        for id in &self.batch.launched {
            let task = &self.attempts[id].task;
            let Some(addresses) = &task.barrier else { continue };
            let in_set = |other: &&AttemptId| self.attempts[other].task.set == task.set;
            let together = self.batch.launched.iter().filter(in_set).count();
            let launch = &self.sets[&task.set].launch;
            assert_eq!(together as u32, launch.tasks, "{} starts as a whole", task.set);
            assert_eq!(launch.tasks, launch.partitions, "{} is run as a whole", task.set);
            assert_eq!(addresses.len(), together, "the tasks of {} know each other", task.set);
        }
    }
}
