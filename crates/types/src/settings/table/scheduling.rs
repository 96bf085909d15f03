//! The order of jobs, and how long a task waits for a better place.

use std::time::Duration;

use crate::settings::{
    SchedulerMode,
    amounts::{Permille, TimeUnit},
    kind::Kind,
    registry::Preset::{Is, SameAs, Unset},
};

section! { "Scheduling":
    /// Whether older jobs go first (`FIFO`) or jobs share the executors (`FAIR`).
    SCHEDULER_MODE: SchedulerMode = "firesteel.scheduler.mode", SchedulerMode::KIND, Is("FIFO"), "0.1.0";

    /// The XML file that describes the pools of `FAIR` scheduling, in the form of Spark's `fairscheduler.xml`.
    SCHEDULER_ALLOCATION_FILE: Option<String> = "firesteel.scheduler.allocation.file",
        Kind::Text, Unset, "0.1.0";

    /// The seed of the scheduler's random choices.
    SCHEDULER_SEED: u32 = "firesteel.scheduler.seed", Kind::COUNT, Is("0"), "0.1.0";

    /// How often everything free is offered to waiting tasks.
    SCHEDULER_REVIVE_INTERVAL: Duration = "firesteel.scheduler.revive.interval",
        Kind::period(TimeUnit::Millis), Is("1s"), "0.1.0";

    /// How many tasks an executor is sent at most for each slot before the slot is free, while a stage's tasks are short;
    /// 0 sends each task when a slot is free, as in local mode.
    SCHEDULER_KEEP_AHEAD_MAX_PER_SLOT: u32 = "firesteel.scheduler.keepAhead.maxPerSlot",
        Kind::COUNT, Is("32"), "0.1.0";

    /// Up to which average run time the tasks of a stage are sent before a slot is free.
    SCHEDULER_KEEP_AHEAD_LONGEST_TASK: Duration = "firesteel.scheduler.keepAhead.longestTask",
        Kind::wait(TimeUnit::Millis), Is("4ms"), "0.1.0";

    /// How often the user is told that no task could be launched yet.
    STARVATION_TIMEOUT: Duration = "firesteel.starvation.timeout",
        Kind::period(TimeUnit::Millis), Is("15s"), "0.1.0";

    /// Which share of the wanted cores must have registered before the first job starts.
    SCHEDULER_MIN_REGISTERED_RESOURCES_RATIO: Permille = "firesteel.scheduler.minRegisteredResourcesRatio",
        Kind::Fraction { min: Permille::ZERO, max: Permille::ONE }, Is("0"), "0.1.0";

    /// How long the first job waits at most for the cores that must have registered.
    SCHEDULER_MAX_REGISTERED_RESOURCES_WAITING_TIME: Duration =
        "firesteel.scheduler.maxRegisteredResourcesWaitingTime",
        Kind::wait(TimeUnit::Millis), Is("30s"), "0.1.0";

    /// Whether resource profiles that meet in one stage are merged, each amount the larger one, and not refused.
    SCHEDULER_RESOURCE_PROFILE_MERGE_CONFLICTS: bool = "firesteel.scheduler.resource.profileMergeConflicts",
        Kind::Bool, Is("false"), "0.1.0";

    /// How many cancelled job groups are remembered, so that jobs submitted to them later are cancelled too.
    SCHEDULER_NUM_CANCELLED_JOB_GROUPS_TO_TRACK: u32 = "firesteel.scheduler.numCancelledJobGroupsToTrack",
        Kind::POSITIVE, Is("1000"), "0.1.0";

    /// How long a task waits for a place nearer to its data before it takes the next level.
    LOCALITY_WAIT: Duration = "firesteel.locality.wait", Kind::wait(TimeUnit::Millis), Is("3s"), "0.1.0";

    /// How long a task waits for the executor that holds its data.
    LOCALITY_WAIT_PROCESS: Duration = "firesteel.locality.wait.process",
        Kind::wait(TimeUnit::Millis), SameAs(LOCALITY_WAIT.key()), "0.1.0";

    /// How long a task waits for the host that holds its data.
    LOCALITY_WAIT_NODE: Duration = "firesteel.locality.wait.node",
        Kind::wait(TimeUnit::Millis), SameAs(LOCALITY_WAIT.key()), "0.1.0";

    /// How long a task waits for the rack that holds its data.
    LOCALITY_WAIT_RACK: Duration = "firesteel.locality.wait.rack",
        Kind::wait(TimeUnit::Millis), SameAs(LOCALITY_WAIT.key()), "0.1.0";
}
