//! The ways a task and an executor can end, as data.

use serde::{Deserialize, Serialize};

use crate::{AttemptId, ExecutorId, Host, PartitionId, ShuffleId};

/// Why an attempt did not give a result.
///
/// Not an error type: a failed task is an ordinary event that the scheduler reacts to, one way for each
/// variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskFailure {
    /// The task's own code failed: a panic, a bad file, too little memory.
    Panicked {
        /// What it said.
        message: String,
        /// The source line of the operator, if known.
        location: Option<String>,
    },
    /// A map output could not be had. Not the task's fault: the output must be made again.
    FetchFailed(FetchFailure),
    /// The task finished, but its result was gone before the driver fetched it.
    ResultLost,
    /// The result cannot be sent, so trying again is of no use.
    ResultNotSerializable {
        /// What the serializer said.
        message: String,
    },
    /// The output file exists, so trying again is of no use.
    OutputExists {
        /// The file.
        path: String,
    },
    /// Another attempt holds the right to commit this partition's output.
    CommitDenied,
    /// Ended on purpose.
    Killed {
        /// Why.
        reason: String,
    },
    /// Its executor went away.
    ExecutorLost {
        /// The executor.
        executor: ExecutorId,
        /// Whether the application is to blame, so that the loss counts against the task.
        caused_by_app: bool,
        /// What is known of the cause.
        reason: String,
    },
    /// The executor was shutting down when the task arrived.
    ExecutorShuttingDown,
    /// The report of the failure could not be read.
    Unknown,
}

impl TaskFailure {
    /// The task's own code failed, saying `message`.
    pub fn panicked(message: impl Into<String>) -> Self {
        Self::Panicked { message: message.into(), location: None }
    }

    /// Ended on purpose for `reason`.
    pub fn killed(reason: impl Into<String>) -> Self {
        Self::Killed { reason: reason.into() }
    }

    /// Whether it is charged to the task, and so brings its task set nearer to the retry limit.
    pub const fn counts_towards_limit(&self) -> bool {
        match self {
            Self::Panicked { .. }
            | Self::ResultLost
            | Self::ResultNotSerializable { .. }
            | Self::OutputExists { .. }
            | Self::Unknown => true,
            Self::ExecutorLost { caused_by_app, .. } => *caused_by_app,
            Self::FetchFailed(_) | Self::CommitDenied | Self::Killed { .. } | Self::ExecutorShuttingDown => {
                false
            }
        }
    }

    /// Whether another attempt could not end otherwise.
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::ResultNotSerializable { .. } | Self::OutputExists { .. })
    }
}

impl std::fmt::Display for TaskFailure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // The first line is for people; a backtrace may follow.
            Self::Panicked { message, location: Some(location) } => match message.split_once('\n') {
                Some((first, rest)) => write!(out, "{first} (in {location})\n{rest}"),
                None => write!(out, "{message} (in {location})"),
            },
            Self::Panicked { message, location: None } => out.write_str(message),
            Self::FetchFailed(fetch) => fetch.fmt(out),
            Self::ResultLost => out.write_str("the result was lost before the driver fetched it"),
            Self::ResultNotSerializable { message } => {
                write!(out, "the result cannot be serialized: {message}")
            }
            Self::OutputExists { path } => write!(out, "the output {path} exists already"),
            Self::CommitDenied => out.write_str("another attempt may commit this output"),
            Self::Killed { reason } => write!(out, "killed: {reason}"),
            Self::ExecutorLost { executor, reason, .. } => write!(out, "{executor} lost: {reason}"),
            Self::ExecutorShuttingDown => out.write_str("the executor was shutting down"),
            Self::Unknown => out.write_str("unknown reason: the report could not be read"),
        }
    }
}

/// Which map output a reducer could not get, and from where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchFailure {
    /// The shuffle.
    pub shuffle: ShuffleId,
    /// The executor that should have served the block and its host; none when the location itself was missing.
    pub location: Option<(ExecutorId, Host)>,
    /// The map partition whose output it was; none when the whole table of locations was missing.
    pub map_partition: Option<PartitionId>,
    /// The attempt that wrote the output, where known.
    pub map_attempt: Option<AttemptId>,
    /// The reduce partition that wanted it.
    pub reduce_partition: PartitionId,
    /// What the fetcher saw.
    pub message: String,
}

impl std::fmt::Display for FetchFailure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "cannot fetch {} for {}", self.shuffle, self.reduce_partition)?;
        if let Some(map) = self.map_partition {
            write!(out, ", map {map}")?;
        }
        if let Some((executor, host)) = &self.location {
            write!(out, ", from {executor} on {host}")?;
        }
        write!(out, ": {}", self.message)
    }
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskEndReason {
    /// With a result.
    Success,
    /// With a result, which was lost again with its executor; the task runs once more.
    Resubmitted,
    /// Without one.
    Failed(TaskFailure),
}

/// Why an executor went away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutorLossReason {
    /// Its process ended with a code.
    Exited {
        /// The exit code.
        code: i32,
        /// Whether a task is to blame.
        caused_by_app: bool,
        /// What is known of the cause.
        message: String,
    },
    /// The driver ordered its end.
    Killed,
    /// It was told to drain and leave.
    Decommissioned {
        /// The host that goes with it, when the whole worker leaves.
        worker_host: Option<Host>,
    },
    /// It went away with an unknown exit code.
    ProcessLost {
        /// What is known of the cause.
        message: String,
        /// The host that went with it, when the whole worker was lost.
        worker_host: Option<Host>,
        /// Whether a task is to blame.
        caused_by_app: bool,
    },
}

impl ExecutorLossReason {
    /// An executor could not make a directory for its blocks and ended with this code.
    pub const EXIT_NO_LOCAL_DIRECTORY: i32 = 53;
    /// An executor could not reach the driver for too long and ended with this code.
    pub const EXIT_HEARTBEATS_FAILED: i32 = 56;
    /// An executor could not register its block manager again and ended with this code.
    pub const EXIT_BLOCK_MANAGER_REFUSED: i32 = 58;
    const BLAMELESS_EXITS: [i32; 3] =
        [Self::EXIT_NO_LOCAL_DIRECTORY, Self::EXIT_HEARTBEATS_FAILED, Self::EXIT_BLOCK_MANAGER_REFUSED];

    /// The process went away without a word.
    pub fn process_lost(message: impl Into<String>) -> Self {
        Self::ProcessLost { message: message.into(), worker_host: None, caused_by_app: true }
    }

    /// An executor's process ended, as its worker reports: with an exit code, or without one and perhaps together
    /// with its host.
    ///
    /// Exit codes that only our own executor uses are not the application's fault. Any other code, 0 included, was
    /// chosen by a task: an executor does not end by itself.
    pub fn from_exit(code: Option<i32>, message: impl Into<String>, worker_host: Option<Host>) -> Self {
        let message = message.into();
        match code {
            Some(code) => {
                let caused_by_app = !Self::BLAMELESS_EXITS.contains(&code);
                Self::Exited { code, caused_by_app, message }
            }
            None => {
                let caused_by_app = worker_host.is_none();
                Self::ProcessLost { message, worker_host, caused_by_app }
            }
        }
    }

    /// The host that was lost together with the executor, if it was.
    pub const fn worker_host(&self) -> Option<&Host> {
        match self {
            Self::Decommissioned { worker_host } | Self::ProcessLost { worker_host, .. } => {
                worker_host.as_ref()
            }
            Self::Exited { .. } | Self::Killed => None,
        }
    }

    /// Whether the loss counts against the tasks that were running there.
    pub const fn is_caused_by_app(&self) -> bool {
        match self {
            Self::Exited { caused_by_app, .. } | Self::ProcessLost { caused_by_app, .. } => *caused_by_app,
            Self::Killed | Self::Decommissioned { .. } => false,
        }
    }
}

impl std::fmt::Display for ExecutorLossReason {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited { code, message, .. } => write!(out, "exited with code {code}: {message}"),
            Self::Killed => out.write_str("killed by the driver"),
            Self::Decommissioned { .. } => out.write_str("decommissioned"),
            Self::ProcessLost { message, .. } => out.write_str(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behaviours: BACK-009.
    #[test]
    fn only_the_executors_own_exit_codes_are_not_the_applications_fault() {
        let blamed = |code| ExecutorLossReason::from_exit(Some(code), "gone", None).is_caused_by_app();

        assert_eq!([53, 56, 58].map(blamed), [false; 3]);
        assert_eq!([-1, 0, 1, 52, 54, 55, 57, 137].map(blamed), [true; 8]);
        assert_eq!(
            ExecutorLossReason::from_exit(Some(0), "gone", Some("h1".into())),
            ExecutorLossReason::Exited { code: 0, caused_by_app: true, message: "gone".to_owned() },
            "with a code the host does not matter"
        );
    }

    /// Behaviours: BACK-009.
    #[test]
    fn without_an_exit_code_the_application_is_blamed_unless_the_host_is_lost() {
        let lost = |host: Option<&str>| ExecutorLossReason::from_exit(None, "gone", host.map(Host::from));
        let expected = |host: Option<&str>, caused_by_app| ExecutorLossReason::ProcessLost {
            message: "gone".to_owned(),
            worker_host: host.map(Host::from),
            caused_by_app,
        };

        assert_eq!(lost(None), expected(None, true));
        assert_eq!(lost(Some("h1")), expected(Some("h1"), false));
    }
}
