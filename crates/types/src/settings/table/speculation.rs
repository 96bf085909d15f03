//! Second copies of slow tasks.

use std::time::Duration;

use crate::settings::{
    amounts::{Permille, TimeUnit},
    kind::Kind,
    registry::Preset::{Is, Unset},
};

section! { "Speculation":
    /// Whether slow tasks get a second copy; never in local mode.
    SPECULATION: bool = "firesteel.speculation", Kind::Bool, Is("false"), "0.1.0";

    /// How often running tasks are looked at.
    SPECULATION_INTERVAL: Duration = "firesteel.speculation.interval",
        Kind::period(TimeUnit::Millis), Is("100ms"), "0.1.0";

    /// How many times the median run time makes a task slow.
    SPECULATION_MULTIPLIER: Permille = "firesteel.speculation.multiplier",
        Kind::Fraction { min: Permille::ZERO, max: Permille::THOUSAND }, Is("3"), "0.1.0";

    /// Which share of a stage's tasks must have succeeded before any is called slow.
    SPECULATION_QUANTILE: Permille = "firesteel.speculation.quantile",
        Kind::Fraction { min: Permille::ZERO, max: Permille::ONE }, Is("0.9"), "0.1.0";

    /// How long a task must have run before it can be called slow.
    SPECULATION_MIN_TASK_RUNTIME: Duration = "firesteel.speculation.minTaskRuntime",
        Kind::wait(TimeUnit::Millis), Is("100ms"), "0.1.0";

    /// After which run time a task of a set that fits on one executor counts as slow; never for that reason alone
    /// when unset.
    SPECULATION_TASK_DURATION_THRESHOLD: Option<Duration> = "firesteel.speculation.task.duration.threshold",
        Kind::wait(TimeUnit::Millis), Unset, "0.1.0";

    /// Whether slow tasks that process their records fast enough are spared.
    SPECULATION_EFFICIENCY_ENABLED: bool = "firesteel.speculation.efficiency.enabled",
        Kind::Bool, Is("true"), "0.1.0";

    /// Below which share of the average rate of records a task is inefficient.
    SPECULATION_EFFICIENCY_PROCESS_RATE_MULTIPLIER: Permille =
        "firesteel.speculation.efficiency.processRateMultiplier",
        Kind::Fraction { min: Permille::LEAST, max: Permille::ONE }, Is("0.75"), "0.1.0";

    /// How many times over the limit a task gets a copy whatever its rate.
    SPECULATION_EFFICIENCY_LONG_RUN_TASK_FACTOR: Permille =
        "firesteel.speculation.efficiency.longRunTaskFactor",
        Kind::Fraction { min: Permille::ONE, max: Permille::THOUSAND }, Is("2"), "0.1.0";
}
