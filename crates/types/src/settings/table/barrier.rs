//! Stages whose tasks run all at once.

use std::time::Duration;

use crate::settings::{amounts::TimeUnit, kind::Kind, registry::Preset::Is};

section! { "Barrier stages":
    /// How often a barrier stage that needs more slots than there are is checked again.
    BARRIER_CHECK_INTERVAL: Duration = "firesteel.scheduler.barrier.maxConcurrentTasksCheck.interval",
        Kind::period(TimeUnit::Seconds), Is("15s"), "0.1.0";

    /// How many checks for the slots of a barrier stage may fail before its job is refused.
    BARRIER_CHECK_MAX_FAILURES: u32 = "firesteel.scheduler.barrier.maxConcurrentTasksCheck.maxFailures",
        Kind::POSITIVE, Is("40"), "0.1.0";

    /// How long the tasks of a barrier stage wait for each other in one call.
    BARRIER_SYNC_TIMEOUT: Duration = "firesteel.barrier.sync.timeout",
        Kind::period(TimeUnit::Seconds), Is("365d"), "0.1.0";
}
