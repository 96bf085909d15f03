//! The application as a whole.

use crate::{
    MasterUrl,
    settings::{
        amounts::ByteUnit,
        kind::Kind,
        registry::Preset::{Is, Unset},
    },
};

section! { "Application":
    /// Where the application runs.
    MASTER: MasterUrl = "firesteel.master", Kind::Master, Is("local[*]"), "0.1.0";

    /// The application's name, for people; the name of its executable when unset.
    APP_NAME: Option<String> = "firesteel.app.name", Kind::Text, Unset, "0.1.0";

    /// How many partitions an RDD gets when neither the caller nor a parent gives a number; all cores of the application
    /// when unset.
    DEFAULT_PARALLELISM: Option<u32> = "firesteel.default.parallelism", Kind::POSITIVE, Unset, "0.1.0";

    /// How many cores of the cluster the application takes at most; what the master allows when unset.
    CORES_MAX: Option<u32> = "firesteel.cores.max", Kind::POSITIVE, Unset, "0.1.0";

    /// How large the results of one task set may be in all before its job is aborted; 0 is no limit.
    DRIVER_MAX_RESULT_SIZE: u64 = "firesteel.driver.maxResultSize",
        Kind::Bytes { unit: ByteUnit::Bytes, min: 0 }, Is("1g"), "0.1.0";

    /// Whether local tasks run from their shipped, serialized form, as on a cluster.
    LOCAL_SHIP: bool = "firesteel.local.ship", Kind::Bool, Is("false"), "0.1.0";

    /// Whether the driver serves pages about its application.
    UI_ENABLED: bool = "firesteel.ui.enabled", Kind::Bool, Is("true"), "0.1.0";

    /// The port of the driver's pages, or one of those above it; any free one when 0.
    UI_PORT: u32 = "firesteel.ui.port", Kind::PORT, Is("4040"), "0.1.0";

    /// Where the driver's pages are served; where it waits for executors when unset, and at this machine only in
    /// local mode.
    UI_HOST: Option<String> = "firesteel.ui.host", Kind::Text, Unset, "0.1.0";

    /// Files to send along to every executor, separated by commas.
    FILES: Option<String> = "firesteel.files", Kind::Text, Unset, "0.1.0";

    /// Whether a terminal shows the progress of running stages.
    UI_SHOW_CONSOLE_PROGRESS: bool = "firesteel.ui.showConsoleProgress", Kind::Bool, Is("true"), "0.1.0";
}
