//! Signs of life from executors, and executors that leave in order.

use std::time::Duration;

use crate::settings::{
    amounts::{ByteUnit, TimeUnit},
    kind::Kind,
    registry::Preset::{Is, Unset},
};

section! { "Executors":
    /// How many cores an executor has on a cluster; all that its worker offers when unset.
    EXECUTOR_CORES: Option<u32> = "firesteel.executor.cores", Kind::POSITIVE, Unset, "0.1.0";

    /// How much memory an executor has on a cluster.
    EXECUTOR_MEMORY: u64 = "firesteel.executor.memory",
        Kind::Bytes { unit: ByteUnit::Mebibytes, min: 1 << 20 }, Is("1g"), "0.1.0";

    /// How often an executor reports to the driver.
    EXECUTOR_HEARTBEAT_INTERVAL: Duration = "firesteel.executor.heartbeatInterval",
        Kind::period(TimeUnit::Millis), Is("10s"), "0.1.0";

    /// After how many failed reports in a row an executor gives up.
    EXECUTOR_HEARTBEAT_MAX_FAILURES: u32 = "firesteel.executor.heartbeat.maxFailures",
        Kind::POSITIVE, Is("60"), "0.1.0";

    /// How long anything on the network may be silent.
    NETWORK_TIMEOUT: Duration = "firesteel.network.timeout",
        Kind::period(TimeUnit::Seconds), Is("120s"), "0.1.0";

    /// How often the driver looks for silent executors.
    NETWORK_TIMEOUT_INTERVAL: Duration = "firesteel.network.timeoutInterval",
        Kind::period(TimeUnit::Millis), Is("60s"), "0.1.0";

    /// How long an executor may be silent before it is given up; as long as `firesteel.network.timeout` when unset.
    STORAGE_BLOCK_MANAGER_HEARTBEAT_TIMEOUT: Option<Duration> =
        "firesteel.storage.blockManagerHeartbeatTimeoutMs", Kind::period(TimeUnit::Millis), Unset, "0.1.0";

    /// How long a decommissioned executor may finish its tasks before it is killed; for ever when unset.
    EXECUTOR_DECOMMISSION_FORCE_KILL_TIMEOUT: Option<Duration> =
        "firesteel.executor.decommission.forceKillTimeout",
        Kind::period(TimeUnit::Seconds), Unset, "0.1.0";

    /// How many removed decommissioned executors are remembered, so that late fetch failures
    /// are put down to their leaving.
    MAX_RETAINED_REMOVED_DECOMMISSION_EXECUTORS: u32 =
        "firesteel.scheduler.maxRetainedRemovedDecommissionExecutors", Kind::COUNT, Is("0"), "0.1.0";

    /// How many requests to decommission executors that have not registered yet are remembered.
    MAX_RETAINED_UNKNOWN_DECOMMISSION_EXECUTORS: u32 =
        "firesteel.scheduler.maxRetainedUnknownDecommissionExecutors", Kind::COUNT, Is("0"), "0.1.0";
}
