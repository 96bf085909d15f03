//! Where map outputs are, and who serves them.

use crate::settings::{amounts::ByteUnit, kind::Kind, registry::Preset::Is};

section! { "Shuffle":
    /// Whether workers serve the shuffle files of their executors, so that they outlive them; not in local mode.
    SHUFFLE_SERVICE_ENABLED: bool = "firesteel.shuffle.service.enabled", Kind::Bool, Is("true"), "0.1.0";

    /// Whether reduce tasks prefer the hosts that hold much of their input.
    SHUFFLE_REDUCE_LOCALITY_ENABLED: bool = "firesteel.shuffle.reduceLocality.enabled",
        Kind::Bool, Is("true"), "0.1.0";

    /// From which size on a table of map outputs is broadcast; not above `firesteel.rpc.message.maxSize`.
    SHUFFLE_MAP_OUTPUT_MIN_SIZE_FOR_BROADCAST: u64 = "firesteel.shuffle.mapOutput.minSizeForBroadcast",
        Kind::Bytes { unit: ByteUnit::Bytes, min: 0 }, Is("512k"), "0.1.0";

    /// From how many blocks on the sizes of a shuffle are summed by several threads.
    SHUFFLE_MAP_OUTPUT_PARALLEL_AGGREGATION_THRESHOLD: u32 =
        "firesteel.shuffle.mapOutput.parallelAggregationThreshold", Kind::POSITIVE, Is("10000000"), "0.1.0";

    /// Whether a fetch failure discards every map output of the host it concerns, where the host may be lost.
    FILES_FETCH_FAILURE_UNREGISTER_OUTPUT_ON_HOST: bool =
        "firesteel.files.fetchFailure.unRegisterOutputOnHost", Kind::Bool, Is("false"), "0.1.0";

    /// Whether the files that map tasks leave for reduce tasks are compressed.
    SHUFFLE_COMPRESS: bool = "firesteel.shuffle.compress", Kind::Bool, Is("true"), "0.1.0";

    /// Whether rows that do not fit in memory are compressed when they are spilled.
    SHUFFLE_SPILL_COMPRESS: bool = "firesteel.shuffle.spill.compress", Kind::Bool, Is("true"), "0.1.0";

    /// Whether map tasks sum up their rows in any order, so that a run that gives other rows than the one before is
    /// noticed.
    SHUFFLE_ORDER_INDEPENDENT_CHECKSUM_ENABLED: bool =
        "firesteel.shuffle.orderIndependentChecksum.enabled", Kind::Bool, Is("false"), "0.1.0";

    /// Whether such a run discards what was computed from the rows before it, and no other run of a stage whose rows have
    /// no certain order does; turns the sums on.
    SHUFFLE_ORDER_INDEPENDENT_CHECKSUM_FULL_RETRY: bool =
        "firesteel.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch", Kind::Bool, Is("false"), "0.1.0";
}
