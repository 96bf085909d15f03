//! The answers.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use firesteel_types::{AttemptId, Cpus, ExecutorId, Locality, ResourceName, StageId};

use crate::task::Passed;

/// What is going on with a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Explanation {
    /// No active stage computes that partition.
    NotActive,
    /// It is done, and nothing more is wanted of it.
    Done,
    /// Attempts of it are under way.
    Running(Vec<Launch>),
    /// It waits.
    Waiting(Waiting),
}

/// Why an attempt runs where it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The attempt.
    pub attempt: AttemptId,
    /// Where it runs.
    pub executor: ExecutorId,
    /// How near to its data.
    pub level: Locality,
    /// Whether it is a second copy of a running task.
    pub speculative: bool,
    /// If it was sent ahead of a free slot and waits on its executor, how many attempts wait there before it.
    pub waits_behind: Option<u32>,
    /// Executors that had something to offer in the round that launched it.
    pub offers: u32,
    /// Task sets that went before its own in that round.
    pub sets_before: u32,
    /// The better levels that were passed over, and why.
    pub passed: Vec<(Locality, Passed)>,
}

/// Why a task waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The executor that fewest reasons keep from the task, if any is registered.
    pub nearest: Option<ExecutorId>,
    /// What stands between that executor, or any, and the task.
    pub reasons: Vec<WaitReason>,
    /// How many other executors are kept from the task, by the first reason each.
    pub elsewhere: Vec<(WaitReason, u32)>,
}

/// One thing that keeps a task from being launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum WaitReason {
    /// Its stage reads outputs that are not all there.
    ParentStages { stages: Vec<StageId> },
    /// Its stage failed and is submitted again after a while.
    StageRetry { left: Duration },
    /// No executor is registered.
    NoExecutor,
    /// The executor takes no tasks now.
    ExecutorNotReady(NotReady),
    /// The executor was started for another profile.
    OtherProfile,
    /// Tasks of the application failed there too often.
    ExcludedForApplication { left: Duration },
    /// Tasks of the set failed there too often.
    ExcludedForStage,
    /// The task itself failed there too often.
    ExcludedForTask,
    /// Too few cpus are free.
    Cpus { needed: Cpus, free: Cpus, running: u32 },
    /// Too little of a custom resource is free.
    Resource { resource: ResourceName },
    /// A better place is waited for.
    LocalityWait { allowed: Locality, needed: Locality, left: Duration },
    /// All tasks of the barrier stage must start at once.
    BarrierSlots { needed: u32, free: u32 },
    /// Others are offered first: at most this many tasks of earlier sets and of its own.
    Behind { sets: u32, tasks: u64 },
}

/// Why an executor takes no tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NotReady {
    /// It registered and is still starting.
    Starting,
    /// Contact was lost.
    Disconnected,
    /// It was told to drain and leave.
    Draining,
    /// It was told to end.
    BeingKilled,
}

impl fmt::Display for WaitReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ParentStages { stages } => write!(out, "its stage waits for {stages:?}"),
            Self::StageRetry { left } => write!(out, "its stage failed and is submitted again in {left:?}"),
            Self::NoExecutor => out.write_str("no executor is registered"),
            Self::ExecutorNotReady(why) => write!(out, "the executor takes no tasks: {why:?}"),
            Self::OtherProfile => out.write_str("the executor was started for another resource profile"),
            Self::ExcludedForApplication { left } => {
                write!(out, "the executor is excluded for {left:?} more")
            }
            Self::ExcludedForStage => out.write_str("the executor is excluded for this stage attempt"),
            Self::ExcludedForTask => out.write_str("the task failed on this executor or its host"),
            Self::Cpus { needed, free, running } => {
                write!(out, "needs {needed} cpus, {free} are free, {running} tasks are running there")
            }
            Self::Resource { resource } => write!(out, "too little {resource} is free"),
            Self::LocalityWait { allowed, needed, left } => {
                write!(out, "waits for {allowed:?} places for {left:?} more before it takes {needed:?}")
            }
            Self::BarrierSlots { needed, free } => {
                write!(out, "needs {needed} slots at once, {free} are free")
            }
            Self::Behind { sets, tasks } => {
                write!(out, "up to {tasks} tasks, of {sets} earlier sets too, go first")
            }
        }
    }
}
