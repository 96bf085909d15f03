//! The workers of a cluster: what they offer, where their processes run, and what is kept of them.

use std::time::Duration;

use crate::settings::{
    amounts::{ByteUnit, TimeUnit},
    kind::Kind,
    registry::Preset::{Is, Unset},
};

section! { "Workers":
    /// Where a worker listens; when unset, at this machine only, or at every address if the cluster has a secret.
    WORKER_HOST: Option<String> = "firesteel.worker.host", Kind::Text, Unset, "0.1.0";

    /// The port on which a worker listens; any free one when 0.
    WORKER_PORT: u32 = "firesteel.worker.port", Kind::PORT, Is("0"), "0.1.0";

    /// The port of a worker's pages; any free one when 0.
    WORKER_UI_PORT: u32 = "firesteel.worker.ui.port", Kind::PORT, Is("8081"), "0.1.0";

    /// How many cores a worker offers; all of its machine when unset.
    WORKER_CORES: Option<u32> = "firesteel.worker.cores", Kind::POSITIVE, Unset, "0.1.0";

    /// How much memory a worker offers; all of its machine but one gibibyte when unset.
    WORKER_MEMORY: Option<u64> = "firesteel.worker.memory",
        Kind::Bytes { unit: ByteUnit::Mebibytes, min: 1 << 20 }, Unset, "0.1.0";

    /// Where executors and drivers run, and their logs are kept.
    WORKER_DIR: String = "firesteel.worker.dir", Kind::Text, Is("work"), "0.1.0";

    /// How ids of workers are made, from the time, the host and the port.
    WORKER_ID_PATTERN: String = "firesteel.worker.idPattern", Kind::Text, Is("worker-%s-%s-%d"), "0.1.0";

    /// The file that lists the custom resources of a worker.
    WORKER_RESOURCES_FILE: Option<String> = "firesteel.worker.resourcesFile", Kind::Text, Unset, "0.1.0";

    /// How often a worker looks for a master at short intervals.
    WORKER_INITIAL_REGISTRATION_RETRIES: u32 = "firesteel.worker.initialRegistrationRetries",
        Kind::COUNT, Is("6"), "0.1.0";

    /// How often a worker looks for a master in all before it gives up.
    WORKER_MAX_REGISTRATION_RETRIES: u32 = "firesteel.worker.maxRegistrationRetries",
        Kind::COUNT, Is("16"), "0.1.0";

    /// Whether a worker looks for a lost master where it was set, not at the address that the master announces.
    WORKER_PREFER_CONFIGURED_MASTER_ADDRESS: bool = "firesteel.worker.preferConfiguredMasterAddress",
        Kind::Bool, Is("false"), "0.1.0";

    /// How often a worker tells a master of an executor's end before it gives up.
    WORKER_EXECUTOR_STATE_SYNC_MAX_ATTEMPTS: u32 = "firesteel.worker.executorStateSync.maxAttempts",
        Kind::POSITIVE, Is("5"), "0.1.0";

    /// Whether old folders of applications are removed.
    WORKER_CLEANUP_ENABLED: bool = "firesteel.worker.cleanup.enabled", Kind::Bool, Is("true"), "0.1.0";

    /// How often they are looked for.
    WORKER_CLEANUP_INTERVAL: Duration = "firesteel.worker.cleanup.interval",
        Kind::period(TimeUnit::Seconds), Is("30min"), "0.1.0";

    /// How long nothing in such a folder may have changed before it is removed.
    WORKER_CLEANUP_APP_DATA_TTL: Duration = "firesteel.worker.cleanup.appDataTtl",
        Kind::wait(TimeUnit::Seconds), Is("7d"), "0.1.0";

    /// How many ended executors a worker remembers.
    WORKER_UI_RETAINED_EXECUTORS: u32 = "firesteel.worker.ui.retainedExecutors",
        Kind::COUNT, Is("1000"), "0.1.0";

    /// How many ended drivers a worker remembers.
    WORKER_UI_RETAINED_DRIVERS: u32 = "firesteel.worker.ui.retainedDrivers", Kind::COUNT, Is("1000"), "0.1.0";

    /// How long a process may take to end before it is forced to.
    WORKER_DRIVER_TERMINATE_TIMEOUT: Duration = "firesteel.worker.driverTerminateTimeout",
        Kind::wait(TimeUnit::Millis), Is("10s"), "0.1.0";

    /// Whether workers and executors can be told to finish what they have and leave.
    DECOMMISSION_ENABLED: bool = "firesteel.decommission.enabled", Kind::Bool, Is("false"), "0.1.0";

    /// How long a log of a process may be before the next file is begun; any length when unset.
    EXECUTOR_LOGS_ROLLING_MAX_SIZE: Option<u64> = "firesteel.executor.logs.rolling.maxSize",
        Kind::Bytes { unit: ByteUnit::Bytes, min: 1 }, Unset, "0.1.0";

    /// How many full files of a log are kept; all when unset.
    EXECUTOR_LOGS_ROLLING_MAX_RETAINED_FILES: Option<u32> = "firesteel.executor.logs.rolling.maxRetainedFiles",
        Kind::COUNT, Unset, "0.1.0";
}
