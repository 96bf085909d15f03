//! Settings whose value is one of a few names.

use super::{
    kind::{Kind, Value},
    setting::{SettingType, Shape},
};

/// Declares an enum whose variants are the values of a setting.
macro_rules! choice {
    ($(#[$about:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$doc])* $variant,)+ }

        impl $type {
            /// Every value, in the order in which they are listed for users.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            pub(super) const KIND: Kind = Kind::Choice(&[$($name),+]);

            /// The name by which a user chooses it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl SettingType for $type {
            const SHAPE: Shape = Shape::Choice;

            fn from_value(value: Option<Value>) -> Option<Self> {
                let Some(Value::Choice(name)) = value else { return None };
                Self::ALL.iter().copied().find(|choice| choice.name() == name)
            }
        }
    };
}

choice! {
    /// The order between the jobs of an application.
    SchedulerMode {
        /// Older jobs first.
        Fifo = "FIFO",
        /// In turns, by pools.
        Fair = "FAIR",
    }
}

choice! {
    /// Whether a master that starts again goes on where it was.
    RecoveryMode {
        /// It begins with an empty cluster.
        None = "NONE",
        /// It reads what it stored in files.
        Filesystem = "FILESYSTEM",
    }
}

choice! {
    /// How what a master stores is compressed.
    StoreCodec {
        /// Not at all.
        None = "none",
        /// Zstandard.
        Zstd = "zstd",
    }
}

choice! {
    /// Which workers are asked first for executors.
    WorkerSelectionPolicy {
        /// Fewest free cores first.
        CoresFreeAsc = "CORES_FREE_ASC",
        /// Most free cores first.
        CoresFreeDesc = "CORES_FREE_DESC",
        /// Least free memory first.
        MemoryFreeAsc = "MEMORY_FREE_ASC",
        /// Most free memory first.
        MemoryFreeDesc = "MEMORY_FREE_DESC",
        /// In order of the ids.
        WorkerId = "WORKER_ID",
    }
}

choice! {
    /// How blocks are compressed.
    Codec {
        /// LZ4: fast.
        Lz4 = "lz4",
        /// Zstandard: small.
        Zstd = "zstd",
    }
}
