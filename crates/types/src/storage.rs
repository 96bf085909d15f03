//! Where blocks are kept: the storage levels.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// How the partitions of a persisted RDD are stored, and any other block.
///
/// The named levels are Spark's. Its off-heap level is missing: there is only one kind of memory here.
///
/// ```
/// # use firesteel_types::StorageLevel;
/// let level: StorageLevel = "MEMORY_AND_DISK_2".parse()?;
/// assert_eq!(level, StorageLevel::MEMORY_AND_DISK_2);
/// assert_eq!(level.to_string(), "Disk Memory Deserialized 2x Replicated");
/// # Ok::<(), firesteel_types::UnknownStorageLevel>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StorageLevel {
    /// Kept in memory.
    pub memory: bool,
    /// Kept on disk.
    pub disk: bool,
    /// Kept as values rather than as serialized bytes (memory only).
    pub deserialized: bool,
    /// How many executors hold a copy.
    pub replication: u8,
}

/// The form of a block in memory.
#[derive(Clone, Copy)]
enum Form {
    Values,
    Bytes,
}

impl StorageLevel {
    /// Not persisted.
    pub const NONE: Self = Self { memory: false, disk: false, deserialized: false, replication: 1 };
    /// In files only.
    pub const DISK_ONLY: Self = Self { memory: false, disk: true, deserialized: false, replication: 1 };
    /// In files only, on two executors.
    pub const DISK_ONLY_2: Self = Self::DISK_ONLY.replicated(2);
    /// In files only, on three executors.
    pub const DISK_ONLY_3: Self = Self::DISK_ONLY.replicated(3);
    /// As values in memory; what does not fit is computed again when needed.
    pub const MEMORY_ONLY: Self = Self::in_memory(Form::Values);
    /// As values in memory, on two executors.
    pub const MEMORY_ONLY_2: Self = Self::MEMORY_ONLY.replicated(2);
    /// As serialized bytes in memory: smaller, and slower to read.
    pub const MEMORY_ONLY_SER: Self = Self::in_memory(Form::Bytes);
    /// As serialized bytes in memory, on two executors.
    pub const MEMORY_ONLY_SER_2: Self = Self::MEMORY_ONLY_SER.replicated(2);
    /// As values in memory; what does not fit goes to disk.
    pub const MEMORY_AND_DISK: Self = Self::MEMORY_ONLY.and_disk();
    /// As values in memory, else on disk, on two executors.
    pub const MEMORY_AND_DISK_2: Self = Self::MEMORY_AND_DISK.replicated(2);
    /// As serialized bytes in memory; what does not fit goes to disk.
    pub const MEMORY_AND_DISK_SER: Self = Self::MEMORY_ONLY_SER.and_disk();
    /// As serialized bytes in memory, else on disk, on two executors.
    pub const MEMORY_AND_DISK_SER_2: Self = Self::MEMORY_AND_DISK_SER.replicated(2);

    /// The levels that have a name.
    pub const NAMED: [(&'static str, Self); 12] = [
        ("NONE", Self::NONE),
        ("DISK_ONLY", Self::DISK_ONLY),
        ("DISK_ONLY_2", Self::DISK_ONLY_2),
        ("DISK_ONLY_3", Self::DISK_ONLY_3),
        ("MEMORY_ONLY", Self::MEMORY_ONLY),
        ("MEMORY_ONLY_2", Self::MEMORY_ONLY_2),
        ("MEMORY_ONLY_SER", Self::MEMORY_ONLY_SER),
        ("MEMORY_ONLY_SER_2", Self::MEMORY_ONLY_SER_2),
        ("MEMORY_AND_DISK", Self::MEMORY_AND_DISK),
        ("MEMORY_AND_DISK_2", Self::MEMORY_AND_DISK_2),
        ("MEMORY_AND_DISK_SER", Self::MEMORY_AND_DISK_SER),
        ("MEMORY_AND_DISK_SER_2", Self::MEMORY_AND_DISK_SER_2),
    ];

    /// As many copies as a block can have.
    pub const MAX_REPLICATION: u8 = 39;

    const fn in_memory(form: Form) -> Self {
        Self { memory: true, disk: false, deserialized: matches!(form, Form::Values), replication: 1 }
    }

    const fn and_disk(self) -> Self {
        Self { disk: true, ..self }
    }

    /// This level with `copies` copies of each block.
    #[must_use]
    pub const fn replicated(self, copies: u8) -> Self {
        Self { replication: copies, ..self }
    }

    /// Whether anything is stored at all.
    pub const fn is_persisted(self) -> bool {
        self.memory || self.disk
    }

    /// Whether a block can be stored so: in memory or on disk, with 1 to 39 copies.
    ///
    /// ```
    /// # use firesteel_types::StorageLevel;
    /// assert!(StorageLevel::DISK_ONLY.is_valid());
    /// assert!(!StorageLevel::NONE.is_valid());
    /// assert!(!StorageLevel::DISK_ONLY.replicated(0).is_valid());
    /// ```
    pub const fn is_valid(self) -> bool {
        self.is_persisted() && self.replication >= 1 && self.replication <= Self::MAX_REPLICATION
    }

    /// The name, if the level has one.
    pub fn name(self) -> Option<&'static str> {
        Self::NAMED.iter().find(|(_, level)| *level == self).map(|(name, _)| *name)
    }
}

/// In Spark's words, as its listings of RDDs show them.
impl fmt::Display for StorageLevel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let disk = if self.disk { "Disk " } else { "" };
        let memory = if self.memory { "Memory " } else { "" };
        let form = if self.deserialized { "Deserialized" } else { "Serialized" };
        write!(out, "{disk}{memory}{form} {}x Replicated", self.replication)
    }
}

/// A text that is not the name of a storage level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a storage level: use one of {}", names())]
pub struct UnknownStorageLevel {
    /// The text.
    pub text: String,
}

fn names() -> String {
    StorageLevel::NAMED.map(|(name, _)| name).join(", ")
}

impl FromStr for StorageLevel {
    type Err = UnknownStorageLevel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = Self::NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        named.map(|(_, level)| *level).ok_or_else(|| UnknownStorageLevel { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behaviours: BLK-001.
    #[test]
    fn a_level_is_valid_with_a_place_and_one_to_thirty_nine_copies() {
        let valid: Vec<_> =
            StorageLevel::NAMED.iter().filter(|(_, level)| level.is_valid()).map(|(name, _)| *name).collect();
        let copies =
            [0, 1, 39, 40, 255].map(|copies| StorageLevel::MEMORY_ONLY.replicated(copies).is_valid());

        assert_eq!(valid.len(), StorageLevel::NAMED.len() - 1);
        assert!(!valid.contains(&"NONE"));
        assert_eq!(copies, [false, true, true, false, false]);
    }

    #[test]
    fn the_names_say_what_the_levels_do() {
        for (name, level) in StorageLevel::NAMED {
            assert_eq!(level.memory, name.contains("MEMORY"), "{name}");
            assert_eq!(level.disk, name.contains("DISK"), "{name}");
            assert_eq!(level.deserialized, level.memory && !name.contains("SER"), "{name}");
            let copies = name.rsplit('_').next().and_then(|last| last.parse().ok()).unwrap_or(1);
            assert_eq!(level.replication, copies, "{name}");
        }
    }

    #[test]
    fn a_level_is_read_by_its_name_and_knows_it() {
        for (name, level) in StorageLevel::NAMED {
            assert_eq!(name.parse(), Ok(level));
            assert_eq!(level.name(), Some(name));
        }
        assert_eq!(StorageLevel::DISK_ONLY.replicated(7).name(), None);
        assert_eq!("disk_only".parse(), Ok(StorageLevel::DISK_ONLY));
        let error = "DISC".parse::<StorageLevel>().unwrap_err().to_string();
        assert!(error.starts_with("`DISC` is not a storage level: use one of NONE, DISK_ONLY,"), "{error}");
    }

    #[test]
    fn a_level_reads_as_in_spark() {
        let texts = ["MEMORY_AND_DISK", "DISK_ONLY_3", "MEMORY_ONLY_SER", "NONE"]
            .map(|name| name.parse::<StorageLevel>().unwrap().to_string());

        assert_eq!(
            texts,
            [
                "Disk Memory Deserialized 1x Replicated",
                "Disk Serialized 3x Replicated",
                "Memory Serialized 1x Replicated",
                "Serialized 1x Replicated",
            ]
        );
    }
}
