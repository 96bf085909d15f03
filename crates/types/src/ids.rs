//! Typed ids: two numbers that mean different things never have the same type.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($inner:ty) shown as $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub $inner);

        impl $name {
            /// The id as an index into a dense table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, out)
            }
        }
    )*};
}

ids! {
    /// One action of the application. Lower ids are older and go first in FIFO order.
    JobId(u32) shown as "job-";
    /// One stage; a parent's id is always smaller than its child's.
    StageId(u32) shown as "stage-";
    /// One node of a lineage.
    RddId(u32) shown as "rdd-";
    /// One shuffle dependency.
    ShuffleId(u32) shown as "shuffle-";
    /// One partition of an RDD.
    PartitionId(u32) shown as "partition-";
    /// A task's place in its task set. Not its partition: a set may hold only some partitions of a stage.
    TaskIndex(u32) shown as "task-";
    /// One launch of a task, unique in the application (Spark's `tid`).
    AttemptId(u64) shown as "attempt-";
    /// How many launches of the same index came before this one, counted from 0 in each task set.
    AttemptNumber(u32) shown as "try-";
    /// One accumulator of the application.
    AccumulatorId(u64) shown as "accumulator-";
    /// One resource profile. 0 is the default profile.
    ProfileId(u32) shown as "profile-";
}

impl ProfileId {
    /// The profile made from the application's settings.
    pub const DEFAULT: Self = Self(0);
}

/// One executor process of an application, numbered by the cluster manager or backend that starts it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExecutorId(pub u32);

impl ExecutorId {
    /// The executor inside the driver process, which runs everything in local mode.
    pub const DRIVER: Self = Self(u32::MAX);
}

impl fmt::Display for ExecutorId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::DRIVER => out.write_str("driver"),
            Self(id) => write!(out, "executor-{id}"),
        }
    }
}

impl fmt::Debug for ExecutorId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// One submission of a stage: the identity of a task set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StageAttemptId {
    /// The stage.
    pub stage: StageId,
    /// Its submission, counted from 0.
    pub attempt: u32,
}

impl StageAttemptId {
    /// The `attempt`-th submission of `stage`.
    pub const fn new(stage: StageId, attempt: u32) -> Self {
        Self { stage, attempt }
    }
}

impl fmt::Display for StageAttemptId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.stage, self.attempt)
    }
}

impl fmt::Debug for StageAttemptId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_as_kind_and_number() {
        assert_eq!(StageAttemptId::new(StageId(3), 1).to_string(), "stage-3.1");
        assert_eq!(ExecutorId::DRIVER.to_string(), "driver");
        assert_eq!(format!("{:?}", JobId(7)), "job-7");
    }
}
