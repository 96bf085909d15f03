//! The master of a cluster: where it listens, how it places work, and what survives it.

use std::time::Duration;

use crate::settings::{
    amounts::{ByteUnit, TimeUnit},
    choice::{RecoveryMode, StoreCodec, WorkerSelectionPolicy},
    kind::Kind,
    registry::Preset::{Is, Unset},
};

section! { "Master":
    /// Where the master listens; when unset, at this machine only, or at every address if the cluster has a secret.
    MASTER_HOST: Option<String> = "firesteel.master.host", Kind::Text, Unset, "0.1.0";

    /// The port on which the master listens; any free one when 0.
    MASTER_PORT: u32 = "firesteel.master.port", Kind::PORT, Is("7077"), "0.1.0";

    /// The port of the master's pages; any free one when 0.
    MASTER_UI_PORT: u32 = "firesteel.master.ui.port", Kind::PORT, Is("8080"), "0.1.0";

    /// Whether the master takes drivers over HTTP.
    MASTER_REST_ENABLED: bool = "firesteel.master.rest.enabled", Kind::Bool, Is("false"), "0.1.0";

    /// The port at which the master takes drivers over HTTP; any free one when 0.
    MASTER_REST_PORT: u32 = "firesteel.master.rest.port", Kind::PORT, Is("6066"), "0.1.0";

    /// The name by which others reach this machine; its own name or the address listened at when unset.
    DEPLOY_PUBLIC_HOST: Option<String> = "firesteel.deploy.publicHost", Kind::Text, Unset, "0.1.0";

    /// How ids of applications are made, from the time and a number.
    DEPLOY_APP_ID_PATTERN: String = "firesteel.deploy.appIdPattern", Kind::Text, Is("app-%s-%04d"), "0.1.0";

    /// At which number of applications counting starts again from 0; never when unset.
    DEPLOY_APP_NUMBER_MODULO: Option<u32> = "firesteel.deploy.appNumberModulo", Kind::POSITIVE, Unset, "0.1.0";

    /// How ids of drivers are made, from the time and a number.
    DEPLOY_DRIVER_ID_PATTERN: String = "firesteel.deploy.driverIdPattern",
        Kind::Text, Is("driver-%s-%04d"), "0.1.0";

    /// How long a worker may be silent before it is lost; workers send a sign of life four times as often.
    WORKER_TIMEOUT: Duration = "firesteel.worker.timeout", Kind::period(TimeUnit::Seconds), Is("60s"), "0.1.0";

    /// For how many further time-outs a lost worker stays listed.
    DEAD_WORKER_PERSISTENCE: u32 = "firesteel.dead.worker.persistence", Kind::COUNT, Is("15"), "0.1.0";

    /// How many drivers the cluster runs at once; any number when unset.
    DEPLOY_MAX_DRIVERS: Option<u32> = "firesteel.deploy.maxDrivers", Kind::POSITIVE, Unset, "0.1.0";

    /// After how many failed executors in a row an application is removed; 0 is never.
    DEPLOY_MAX_EXECUTOR_RETRIES: u32 = "firesteel.deploy.maxExecutorRetries", Kind::COUNT, Is("10"), "0.1.0";

    /// How many ended applications the master remembers.
    DEPLOY_RETAINED_APPLICATIONS: u32 = "firesteel.deploy.retainedApplications",
        Kind::COUNT, Is("200"), "0.1.0";

    /// How many ended drivers the master remembers.
    DEPLOY_RETAINED_DRIVERS: u32 = "firesteel.deploy.retainedDrivers", Kind::COUNT, Is("200"), "0.1.0";

    /// Whether the executors of an application are spread over many workers rather than packed on few.
    DEPLOY_SPREAD_OUT_APPS: bool = "firesteel.deploy.spreadOutApps", Kind::Bool, Is("true"), "0.1.0";

    /// Whether drivers are spread over many workers rather than packed on few.
    DEPLOY_SPREAD_OUT_DRIVERS: bool = "firesteel.deploy.spreadOutDrivers", Kind::Bool, Is("true"), "0.1.0";

    /// Which workers are asked first for executors.
    DEPLOY_WORKER_SELECTION_POLICY: WorkerSelectionPolicy = "firesteel.deploy.workerSelectionPolicy",
        WorkerSelectionPolicy::KIND, Is("CORES_FREE_DESC"), "0.1.0";

    /// How many cores an application gets that does not say; any number when unset.
    DEPLOY_DEFAULT_CORES: Option<u32> = "firesteel.deploy.defaultCores", Kind::POSITIVE, Unset, "0.1.0";

    /// Whether a master that starts again goes on where it was.
    DEPLOY_RECOVERY_MODE: RecoveryMode = "firesteel.deploy.recoveryMode",
        RecoveryMode::KIND, Is("NONE"), "0.1.0";

    /// Where the master stores what it needs for that.
    DEPLOY_RECOVERY_DIRECTORY: Option<String> = "firesteel.deploy.recoveryDirectory", Kind::Text, Unset, "0.1.0";

    /// How what is stored is compressed.
    DEPLOY_RECOVERY_COMPRESSION_CODEC: StoreCodec = "firesteel.deploy.recoveryCompressionCodec",
        StoreCodec::KIND, Is("none"), "0.1.0";

    /// How long a master waits for the workers and applications that were stored; as `firesteel.worker.timeout` when
    /// unset.
    DEPLOY_RECOVERY_TIMEOUT: Option<Duration> = "firesteel.deploy.recoveryTimeout",
        Kind::wait(TimeUnit::Seconds), Unset, "0.1.0";

    /// How many cores a driver has that the cluster runs.
    DRIVER_CORES: u32 = "firesteel.driver.cores", Kind::POSITIVE, Is("1"), "0.1.0";

    /// How much memory a driver has that the cluster runs.
    DRIVER_MEMORY: u64 = "firesteel.driver.memory",
        Kind::Bytes { unit: ByteUnit::Mebibytes, min: 1 << 20 }, Is("1g"), "0.1.0";

    /// Whether a driver that the cluster runs is started again when it fails.
    DRIVER_SUPERVISE: bool = "firesteel.driver.supervise", Kind::Bool, Is("false"), "0.1.0";

    /// How long `firesteel submit` waits before it first asks after a driver that it gave to the cluster.
    SUBMIT_FIRST_LOOK: Duration = "firesteel.submit.firstLook", Kind::wait(TimeUnit::Seconds), Is("5s"), "0.1.0";

    /// How often `firesteel submit` asks after a driver from then on.
    SUBMIT_LOOK_EVERY: Duration = "firesteel.submit.lookEvery",
        Kind::period(TimeUnit::Seconds), Is("10s"), "0.1.0";
}
