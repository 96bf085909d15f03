//! Tasks and stages: what a task takes, and how often one is tried.

use std::time::Duration;

use crate::{
    Cpus,
    settings::{
        amounts::{ByteUnit, TimeUnit},
        kind::Kind,
        registry::Preset::{Is, Unset},
    },
};

section! { "Tasks and stages":
    /// How many cpus a task takes.
    TASK_CPUS: Cpus = "firesteel.task.cpus", Kind::Cpus, Is("1"), "0.1.0";

    /// How many failures of one task abort its job; in local mode it is part of the master, `local[N,attempts]`.
    TASK_MAX_FAILURES: u32 = "firesteel.task.maxFailures", Kind::POSITIVE, Is("4"), "0.1.0";

    /// How many failed attempts in a row abort a stage.
    STAGE_MAX_CONSECUTIVE_ATTEMPTS: u32 = "firesteel.stage.maxConsecutiveAttempts",
        Kind::POSITIVE, Is("4"), "0.1.0";

    /// How many attempts in all abort a stage; no limit when unset.
    STAGE_MAX_ATTEMPTS: Option<u32> = "firesteel.stage.maxAttempts", Kind::POSITIVE, Unset, "0.1.0";

    /// Whether fetch failures against a decommissioned executor leave the stage's failures uncounted.
    STAGE_IGNORE_DECOMMISSION_FETCH_FAILURE: bool = "firesteel.stage.ignoreDecommissionFetchFailure",
        Kind::Bool, Is("true"), "0.1.0";

    /// How large a message between driver and executors may be; a task or a table of map outputs that does not
    /// fit cannot be sent.
    RPC_MESSAGE_MAX_SIZE: u64 = "firesteel.rpc.message.maxSize",
        Kind::Bytes { unit: ByteUnit::Mebibytes, min: 1 }, Is("128m"), "0.1.0";

    /// Whether an executor watches tasks that were told to end until they have.
    TASK_REAPER_ENABLED: bool = "firesteel.task.reaper.enabled", Kind::Bool, Is("false"), "0.1.0";

    /// How often a task that was told to end is looked after.
    TASK_REAPER_POLLING_INTERVAL: Duration = "firesteel.task.reaper.pollingInterval",
        Kind::period(TimeUnit::Millis), Is("10s"), "0.1.0";

    /// How long a watched task may take to end before its executor ends with it; for ever when unset.
    TASK_REAPER_KILL_TIMEOUT: Option<Duration> = "firesteel.task.reaper.killTimeout",
        Kind::period(TimeUnit::Millis), Unset, "0.1.0";
}
