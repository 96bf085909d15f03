//! Executors and nodes that fail too often get no tasks. All of it is without effect in local mode.

use std::time::Duration;

use crate::settings::{
    amounts::TimeUnit,
    kind::Kind,
    registry::Preset::{Is, SameAs},
};

section! { "Exclusion of failing executors":
    /// Whether executors and nodes on which tasks fail are avoided; never in local mode, which has but one.
    EXCLUDE_ON_FAILURE_ENABLED: bool = "firesteel.excludeOnFailure.enabled", Kind::Bool, Is("false"), "0.1.0";

    /// Whether tasks and stages avoid places where they failed themselves.
    EXCLUDE_ON_FAILURE_TASK_AND_STAGE_ENABLED: bool = "firesteel.excludeOnFailure.taskAndStage.enabled",
        Kind::Bool, SameAs(EXCLUDE_ON_FAILURE_ENABLED.key()), "0.1.0";

    /// Whether the whole application avoids places where any of its tasks failed.
    EXCLUDE_ON_FAILURE_APPLICATION_ENABLED: bool = "firesteel.excludeOnFailure.application.enabled",
        Kind::Bool, SameAs(EXCLUDE_ON_FAILURE_ENABLED.key()), "0.1.0";

    /// After how many failed attempts on one executor a task avoids it.
    EXCLUDE_ON_FAILURE_TASK_MAX_ATTEMPTS_PER_EXECUTOR: u32 =
        "firesteel.excludeOnFailure.task.maxTaskAttemptsPerExecutor", Kind::POSITIVE, Is("1"), "0.1.0";

    /// After how many failed attempts on one node a task avoids it; less than `firesteel.task.maxFailures`.
    EXCLUDE_ON_FAILURE_TASK_MAX_ATTEMPTS_PER_NODE: u32 =
        "firesteel.excludeOnFailure.task.maxTaskAttemptsPerNode", Kind::POSITIVE, Is("2"), "0.1.0";

    /// After how many different failed tasks on one executor a stage avoids it.
    EXCLUDE_ON_FAILURE_STAGE_MAX_FAILED_TASKS_PER_EXECUTOR: u32 =
        "firesteel.excludeOnFailure.stage.maxFailedTasksPerExecutor", Kind::POSITIVE, Is("2"), "0.1.0";

    /// After how many avoided executors of one node a stage avoids the node.
    EXCLUDE_ON_FAILURE_STAGE_MAX_FAILED_EXECUTORS_PER_NODE: u32 =
        "firesteel.excludeOnFailure.stage.maxFailedExecutorsPerNode", Kind::POSITIVE, Is("2"), "0.1.0";

    /// After how many failed tasks on one executor the application avoids it.
    EXCLUDE_ON_FAILURE_APPLICATION_MAX_FAILED_TASKS_PER_EXECUTOR: u32 =
        "firesteel.excludeOnFailure.application.maxFailedTasksPerExecutor", Kind::POSITIVE, Is("2"), "0.1.0";

    /// After how many avoided executors of one node the application avoids the node.
    EXCLUDE_ON_FAILURE_APPLICATION_MAX_FAILED_EXECUTORS_PER_NODE: u32 =
        "firesteel.excludeOnFailure.application.maxFailedExecutorsPerNode", Kind::POSITIVE, Is("2"), "0.1.0";

    /// How long a failure counts, and how long the application avoids an executor or a node.
    EXCLUDE_ON_FAILURE_TIMEOUT: Duration = "firesteel.excludeOnFailure.timeout",
        Kind::period(TimeUnit::Millis), Is("1h"), "0.1.0";

    /// Whether executors that the application avoids are killed.
    EXCLUDE_ON_FAILURE_KILL: bool = "firesteel.excludeOnFailure.killExcludedExecutors",
        Kind::Bool, Is("false"), "0.1.0";

    /// Whether executors that would be killed because the application avoids them are decommissioned instead.
    EXCLUDE_ON_FAILURE_KILL_DECOMMISSION: bool =
        "firesteel.excludeOnFailure.killExcludedExecutors.decommission", Kind::Bool, Is("false"), "0.1.0";

    /// Whether a single fetch failure makes the application avoid who should have served it.
    EXCLUDE_ON_FAILURE_APPLICATION_FETCH_FAILURE_ENABLED: bool =
        "firesteel.excludeOnFailure.application.fetchFailure.enabled", Kind::Bool, Is("false"), "0.1.0";

    /// How long a task that is excluded everywhere waits for a new executor before its job is aborted.
    EXCLUDE_ON_FAILURE_UNSCHEDULABLE_TIMEOUT: Duration =
        "firesteel.scheduler.excludeOnFailure.unschedulableTaskSetTimeout",
        Kind::wait(TimeUnit::Seconds), Is("120s"), "0.1.0";
}
