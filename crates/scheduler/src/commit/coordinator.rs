//! The holder of every right to commit.
//!
//! [`OutputCommitCoordinator`] keeps, for each running stage, the attempt that may commit each partition and the
//! attempts that failed. It knows nothing of stages that are over: to them every answer is no.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_types::{AttemptNumber, PartitionId, StageId, TaskEndReason, TaskFailure};
use serde::{Deserialize, Serialize};

/// Decides which attempt may commit each partition's output.
///
/// State is kept by stage, not by stage attempt: an attempt of the first submission that holds the right keeps it
/// while the second submission runs, unless the stage was rolled back in between.
///
/// ```text
///   free ── first to ask ──▶ held ── its holder succeeds ──▶ held until the stage ends
///    ◀─── its holder fails ────┤
///    ◀─── rolled back ─────────┘
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputCommitCoordinator {
    stages: BTreeMap<StageId, StageRights>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StageRights {
    max_partition: PartitionId,
    /// The attempt that may commit each partition. Only partitions with a request are in it: most stages never ask.
    holders: BTreeMap<PartitionId, Committer>,
    failed: BTreeSet<(PartitionId, Committer)>,
    /// Stage attempts below this one were rolled back: what they write was computed from rows that were replaced.
    first_valid_attempt: u32,
}

/// One attempt that may want to commit a partition.
///
/// The number of the task's attempt starts anew in each stage attempt, so it takes both to tell attempts apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Committer {
    /// The submission of the stage it belongs to.
    pub stage_attempt: u32,
    /// Its number among the attempts of its task in that submission.
    pub number: AttemptNumber,
}

/// The answer to an attempt that asked for the right to commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommitDecision {
    /// It may commit.
    Granted,
    /// It may not.
    Denied(CommitDenial),
}

/// Why an attempt may not commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum CommitDenial {
    /// The stage is over, or never started.
    StageNotRunning,
    /// The stage has no such partition.
    UnknownPartition,
    /// The stage was rolled back after the attempt began: its rows were computed from input that was replaced.
    RolledBack,
    /// The attempt is known to have failed: its output is not to be trusted, or it is a process given up on.
    AttemptFailed,
    /// The right is taken, possibly by the asker itself: who asks twice cannot know whether its first commit
    /// went through.
    HeldBy { holder: Committer },
}

impl OutputCommitCoordinator {
    /// Takes the start of an attempt of `stage`, whose partitions go up to `max_partition`.
    ///
    /// A further attempt of a stage that has not ended goes on with the state of the earlier one.
    pub fn on_stage_started(&mut self, stage: StageId, max_partition: PartitionId) {
        let rights = self.stages.entry(stage).or_insert_with(|| StageRights {
            max_partition,
            holders: BTreeMap::new(),
            failed: BTreeSet::new(),
            first_valid_attempt: 0,
        });
        assert_eq!(rights.max_partition, max_partition, "{stage} cannot change its number of partitions");
    }

    /// Takes the end of `stage`, after which no attempt may commit anything for it.
    pub fn on_stage_ended(&mut self, stage: StageId) {
        self.stages.remove(&stage);
    }

    /// Takes back the rights of the stage attempts up to `last`, for good: `stage` was rolled back and runs anew.
    pub fn on_stage_rolled_back(&mut self, stage: StageId, last: u32) {
        let Some(rights) = self.stages.get_mut(&stage) else {
            return; // None of them may commit anything as it is.
        };
        rights.first_valid_attempt = last + 1;
        rights.holders.retain(|_, holder| holder.stage_attempt > last);
    }

    /// Answers attempt `number` of `partition`'s task, which asks for the right to commit.
    pub fn ask(
        &mut self,
        stage: StageId,
        stage_attempt: u32,
        partition: PartitionId,
        number: AttemptNumber,
    ) -> CommitDecision {
        let Some(rights) = self.stages.get_mut(&stage) else {
            return CommitDecision::Denied(CommitDenial::StageNotRunning);
        };
        let committer = Committer { stage_attempt, number };
        if partition > rights.max_partition {
            return CommitDecision::Denied(CommitDenial::UnknownPartition);
        }
        if stage_attempt < rights.first_valid_attempt {
            return CommitDecision::Denied(CommitDenial::RolledBack);
        }
        if rights.failed.contains(&(partition, committer)) {
            return CommitDecision::Denied(CommitDenial::AttemptFailed);
        }
        if let Some(&holder) = rights.holders.get(&partition) {
            return CommitDecision::Denied(CommitDenial::HeldBy { holder });
        }
        rights.holders.insert(partition, committer);
        self.check_in_debug(stage, partition);
        CommitDecision::Granted
    }

    /// Takes the end of an attempt, whether or not it asked before.
    ///
    /// A failed attempt loses the right if it has it and never gets it again. A denied commit is no failure in
    /// this sense: it changes nothing.
    pub fn on_task_ended(
        &mut self,
        stage: StageId,
        stage_attempt: u32,
        partition: PartitionId,
        number: AttemptNumber,
        reason: &TaskEndReason,
    ) {
        let Some(rights) = self.stages.get_mut(&stage) else {
            return; // The stage is over, and its rights went with it.
        };
        let committer = Committer { stage_attempt, number };
        if is_failure(reason) {
            rights.failed.insert((partition, committer));
            if rights.holders.get(&partition) == Some(&committer) {
                rights.holders.remove(&partition);
            }
        }
        self.check_in_debug(stage, partition);
    }

    /// The attempt that may commit `partition` of `stage`, if there is one.
    pub fn holder(&self, stage: StageId, partition: PartitionId) -> Option<Committer> {
        self.stages.get(&stage)?.holders.get(&partition).copied()
    }

    /// Whether no stage is running.
    pub fn is_quiescent(&self) -> bool {
        self.stages.is_empty()
    }

    /// Looks at the partition that an event touched; to look at all would make each event cost what is kept.
    fn check_in_debug(&self, stage: StageId, partition: PartitionId) {
        if cfg!(debug_assertions)
            && let Some(rights) = self.stages.get(&stage)
            && let Some(&holder) = rights.holders.get(&partition)
        {
            assert!(!rights.failed.contains(&(partition, holder)), "no failed attempt holds a right");
        }
    }
}

/// Whether an attempt that ended so must not commit.
const fn is_failure(reason: &TaskEndReason) -> bool {
    match reason {
        TaskEndReason::Success => false,
        // The result is gone with its executor, and the next attempt must be able to commit its own.
        TaskEndReason::Resubmitted => true,
        TaskEndReason::Failed(failure) => match failure {
            TaskFailure::CommitDenied => false,
            TaskFailure::Panicked { .. }
            | TaskFailure::FetchFailed(_)
            | TaskFailure::ResultLost
            | TaskFailure::ResultNotSerializable { .. }
            | TaskFailure::OutputExists { .. }
            | TaskFailure::Killed { .. }
            | TaskFailure::ExecutorLost { .. }
            | TaskFailure::ExecutorShuttingDown
            | TaskFailure::Unknown => true,
        },
    }
}
