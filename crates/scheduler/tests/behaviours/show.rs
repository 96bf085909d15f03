//! Effects as short lines.

use std::fmt;

use firesteel_scheduler::{Effect, JobError, StageTaskKind};
use firesteel_types::{ExclusionScope, JobOutcome, ListenerEvent, TaskEndReason, TaskFailure};

/// Writes an effect as one short line. Posted events begin with `*`.
pub struct Shown<'a>(pub &'a Effect);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Effect::Post(event) => post(event, out),
            Effect::PrepareStage(stage) => match stage.kind {
                StageTaskKind::ShuffleMap(shuffle) => write!(out, "prepare {} for {shuffle}", stage.set),
                StageTaskKind::Result(job) => write!(out, "prepare {} for {job}", stage.set),
            },
            Effect::LaunchTask(task) => {
                let copy = if task.speculative { " copy" } else { "" };
                let ahead = if task.ahead { " ahead" } else { "" };
                write!(
                    out,
                    "launch {} = {} {} {}{copy} on {} {:?}{ahead}",
                    task.attempt, task.set, task.partition, task.number, task.executor, task.locality
                )
            }
            Effect::KillTask { executor, attempt, interrupt, reason } => {
                let how = if *interrupt { " with interrupt" } else { "" };
                write!(out, "kill {attempt} on {executor}{how}: {reason}")
            }
            Effect::TakeBackTasks { executor, attempts } => {
                write!(out, "take {attempts:?} back from {executor}")
            }
            Effect::ForgetStage { set } => write!(out, "forget {set}"),
            Effect::FetchResult { attempt } => write!(out, "fetch result of {attempt}"),
            Effect::DropResultBlock { attempt } => write!(out, "drop result block of {attempt}"),
            Effect::DeliverResult { job, position, attempt } => {
                write!(out, "deliver {job} [{position}] = {attempt}")
            }
            Effect::DeliverStatistics { job, bytes_by_reducer } => {
                write!(out, "statistics {job} = {bytes_by_reducer:?}")
            }
            Effect::JobSucceeded { job, .. } => write!(out, "{job} succeeded"),
            Effect::JobFailed { job, error: JobError::StageFailed { stage, reason, cause } } => {
                let cause = cause.as_ref().map(|cause| format!(" ({cause})")).unwrap_or_default();
                write!(out, "{job} failed by {stage}: {reason}{cause}")
            }
            Effect::JobFailed { job, error } => write!(out, "{job} failed: {error}"),
            Effect::MergeAccumulators { attempt, which } => write!(out, "merge {which:?} of {attempt}"),
            Effect::AnswerCommit { set, partition, number, decision } => {
                write!(out, "commit {set} {partition} {number}: {decision:?}")
            }
            Effect::AnswerBarrier { set, attempt, reply } => {
                write!(out, "barrier {set} {attempt}: {reply:?}")
            }
            Effect::AnswerHeartbeat { executor, reply } => write!(out, "heartbeat {executor}: {reply:?}"),
            Effect::ProfileAnswer(answer) => write!(out, "profile {answer:?}"),
            Effect::AnswerRegistration { executor, answer: Ok(()) } => write!(out, "{executor} may join"),
            Effect::AnswerRegistration { executor, answer: Err(why) } => {
                write!(out, "{executor} may not join: {why}")
            }
            Effect::KillExecutors { executors, force } => {
                write!(out, "kill {executors:?}{}", if *force { " by force" } else { "" })
            }
            Effect::DecommissionExecutors { executors } => write!(out, "decommission {executors:?}"),
            Effect::RequestExecutors { totals } => write!(out, "request {totals:?}"),
            Effect::RemoveBlockManager { executor } => write!(out, "remove blocks of {executor}"),
            Effect::RemoveStaleBlocks { rdds } => {
                out.write_str("remove stale blocks of")?;
                rdds.iter().try_for_each(|(rdd, generation)| write!(out, " {rdd} before {generation}"))
            }
            Effect::ResolveRacks { hosts } => write!(out, "resolve racks of {hosts:?}"),
            Effect::TagCancelled { tag, jobs } => write!(out, "tag {tag} cancelled {jobs:?}"),
            Effect::TaskKillAnswer { attempt, found } => {
                write!(out, "{attempt} {}", if *found { "found" } else { "not found" })
            }
            Effect::StopExecutors => out.write_str("stop executors"),
            Effect::StopContext { reason } => write!(out, "stop context: {reason}"),
            Effect::Warn(warning) => write!(out, "warn: {warning}"),
            Effect::Ignored(why) => write!(out, "ignored: {why}"),
        }
    }
}

fn post(event: &ListenerEvent, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match event {
        ListenerEvent::JobStart { job, stages, .. } => {
            let stages: Vec<_> = stages.iter().map(|stage| stage.id).collect();
            write!(out, "* {job} starts {stages:?}")
        }
        ListenerEvent::JobEnd { job, outcome: JobOutcome::Succeeded, .. } => write!(out, "* {job} ends"),
        ListenerEvent::JobEnd { job, outcome: JobOutcome::Failed(why), .. } => {
            write!(out, "* {job} ends: {why}")
        }
        ListenerEvent::StageSubmitted { info, .. } => {
            write!(out, "* {} submitted, {} tasks", info.id, info.tasks)
        }
        ListenerEvent::StageCompleted { info } => match &info.failure {
            None => write!(out, "* {} completed", info.id),
            Some(why) => write!(out, "* {} failed: {why}", info.id),
        },
        ListenerEvent::TaskStart { task, .. } => write!(out, "* {} starts", task.attempt),
        ListenerEvent::TaskGettingResult { task, .. } => write!(out, "* {} getting result", task.attempt),
        ListenerEvent::AccumulatorsUpdated { attempt, accumulables, .. } => {
            write!(out, "* {attempt} adds to {} accumulators", accumulables.len())
        }
        ListenerEvent::TaskEnd { task, reason, .. } => match reason {
            TaskEndReason::Success => write!(out, "* {} ends", task.attempt),
            TaskEndReason::Resubmitted => write!(out, "* {} resubmitted", task.attempt),
            TaskEndReason::Failed(failure) => write!(out, "* {} ends: {}", task.attempt, Failure(failure)),
        },
        ListenerEvent::SpeculativeTaskSubmitted { set, partition, .. } => {
            write!(out, "* {set} {partition} speculatable")
        }
        ListenerEvent::ExecutorAdded { executor, host, .. } => write!(out, "* {executor} added on {host}"),
        ListenerEvent::ExecutorRemoved { executor, reason, .. } => {
            write!(out, "* {executor} removed: {reason}")
        }
        ListenerEvent::ExecutorExcluded { executor, scope, failures, .. } => {
            write!(out, "* {executor} excluded for {} after {failures}", Scope(scope))
        }
        ListenerEvent::ExecutorUnexcluded { executor, .. } => write!(out, "* {executor} unexcluded"),
        ListenerEvent::NodeExcluded { host, scope, failures, .. } => {
            write!(out, "* {host} excluded for {} after {failures}", Scope(scope))
        }
        ListenerEvent::NodeUnexcluded { host, .. } => write!(out, "* {host} unexcluded"),
        ListenerEvent::UnschedulableTaskSetAdded { set } => write!(out, "* {set} unschedulable"),
        ListenerEvent::UnschedulableTaskSetRemoved { set } => write!(out, "* {set} schedulable again"),
    }
}

struct Failure<'a>(&'a TaskFailure);

impl fmt::Display for Failure<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            TaskFailure::FetchFailed(_) => out.write_str("fetch failed"),
            TaskFailure::ExecutorLost { caused_by_app: true, .. } => out.write_str("executor lost"),
            TaskFailure::ExecutorLost { caused_by_app: false, .. } => {
                out.write_str("executor lost, not by app")
            }
            other => write!(out, "{other}"),
        }
    }
}

struct Scope<'a>(&'a ExclusionScope);

impl fmt::Display for Scope<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ExclusionScope::Application => out.write_str("the application"),
            ExclusionScope::Stage(set) => write!(out, "{set}"),
        }
    }
}
