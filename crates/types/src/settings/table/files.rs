//! Files, blocks and checkpoints.

use crate::settings::{
    Codec,
    amounts::ByteUnit,
    kind::Kind,
    registry::Preset::{Is, Unset},
};

section! { "Files and blocks":
    /// How many bytes of files one partition reads at most.
    FILES_MAX_PARTITION_BYTES: u64 = "firesteel.files.maxPartitionBytes",
        Kind::Bytes { unit: ByteUnit::Bytes, min: 1 }, Is("128m"), "0.1.0";

    /// How many bytes could be read in the time it takes to open a file: small files are packed by it.
    FILES_OPEN_COST: u64 = "firesteel.files.openCostInBytes",
        Kind::Bytes { unit: ByteUnit::Bytes, min: 0 }, Is("4m"), "0.1.0";

    /// Whether a folder given as input stands for all files below it; if not, a folder inside of it is an error.
    FILES_RECURSIVE: bool = "firesteel.files.recursive", Kind::Bool, Is("false"), "0.1.0";

    /// Whether the unreadable rest of a corrupt file is passed over and does not fail the task.
    FILES_IGNORE_CORRUPT: bool = "firesteel.files.ignoreCorruptFiles", Kind::Bool, Is("false"), "0.1.0";

    /// Whether files that are gone when a task opens them are passed over and do not fail the task.
    FILES_IGNORE_MISSING: bool = "firesteel.files.ignoreMissingFiles", Kind::Bool, Is("false"), "0.1.0";

    /// Whether saving to a directory that exists already is refused.
    OUTPUT_VALIDATE: bool = "firesteel.output.validate", Kind::Bool, Is("true"), "0.1.0";

    /// How blocks and checkpoints are compressed.
    IO_COMPRESSION_CODEC: Codec = "firesteel.io.compression.codec", Codec::KIND, Is("lz4"), "0.1.0";

    /// The level of `zstd` where it is chosen: higher is smaller and slower.
    IO_COMPRESSION_ZSTD_LEVEL: u32 = "firesteel.io.compression.zstd.level",
        Kind::Integer { min: 1, max: 22 }, Is("1"), "0.1.0";

    /// Whether cached partitions in serialized form are compressed.
    RDD_COMPRESS: bool = "firesteel.rdd.compress", Kind::Bool, Is("true"), "0.1.0";

    /// How many partitions `take` and its like try first.
    RDD_LIMIT_INITIAL_NUM_PARTITIONS: u32 = "firesteel.rdd.limit.initialNumPartitions",
        Kind::POSITIVE, Is("1"), "0.1.0";

    /// How many times as many partitions `take` and its like try next when the first were not enough.
    RDD_LIMIT_SCALE_UP_FACTOR: u32 = "firesteel.rdd.limit.scaleUpFactor",
        Kind::Integer { min: 2, max: u32::MAX as u64 }, Is("4"), "0.1.0";

    /// The directory of checkpoints; none are made when unset and the program names none.
    CHECKPOINT_DIR: Option<String> = "firesteel.checkpoint.dir", Kind::Text, Unset, "0.1.0";

    /// Whether checkpoints are compressed.
    CHECKPOINT_COMPRESS: bool = "firesteel.checkpoint.compress", Kind::Bool, Is("true"), "0.1.0";
}
