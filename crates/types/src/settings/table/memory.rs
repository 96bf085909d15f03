//! How much memory tasks and stored blocks may use.

use crate::settings::{
    amounts::{ByteUnit, Permille},
    kind::Kind,
    registry::Preset::{Is, Unset},
};

section! { "Memory":
    /// How much memory a local application may use; what the machine or its container has when unset.
    MEMORY_LIMIT: Option<u64> = "firesteel.memory.limit",
        Kind::Bytes { unit: ByteUnit::Mebibytes, min: 1 << 20 }, Unset, "0.1.0";

    /// The part of the memory beyond the first 300 MiB that tasks and stored blocks share.
    MEMORY_FRACTION: Permille = "firesteel.memory.fraction",
        Kind::Fraction { min: Permille::LEAST, max: Permille::ONE }, Is("0.6"), "0.1.0";

    /// The part of the shared memory in which stored blocks are safe from running tasks.
    MEMORY_STORAGE_FRACTION: Permille = "firesteel.memory.storageFraction",
        Kind::Fraction { min: Permille::ZERO, max: Permille::ONE }, Is("0.5"), "0.1.0";

    /// How much memory tasks and stored blocks share, instead of what the other settings give; for tests and tight places.
    MEMORY_BUDGET: Option<u64> = "firesteel.memory.budget",
        Kind::Bytes { unit: ByteUnit::Mebibytes, min: 1 << 16 }, Unset, "0.1.0";

    /// The folders for spilled rows, shuffle files and blocks, separated by commas; the system's temporary folder
    /// when unset.
    LOCAL_DIR: Option<String> = "firesteel.local.dir", Kind::Text, Unset, "0.1.0";
}
