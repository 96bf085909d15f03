//! The names a worker deals in: applications, drivers, executors, masters and its own processes.
//!
//! Plain values. How the worker's own id is made is in `worker_id`.

use std::{fmt, sync::Arc};

use firesteel_types::ExecutorId;
use serde::{Deserialize, Serialize};

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                Self(Arc::from(name))
            }
        }

        impl From<String> for $name {
            fn from(name: String) -> Self {
                Self(Arc::from(name))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }
    )*};
}

names! {
    /// An application, named by the master.
    AppId;
    /// A driver that runs on the cluster, named by the master.
    DriverId;
    /// A worker, named by itself when it starts.
    WorkerId;
    /// Where a master can be reached. The worker only compares addresses and never looks inside one.
    MasterAddress;
}

impl AppId {
    /// Whether the id can be the name of a directory, so that removing that directory removes nothing else.
    pub(super) fn is_plain_name(&self) -> bool {
        is_plain_name(self.as_str())
    }
}

impl DriverId {
    /// Whether the id can be the name of a directory.
    pub(super) fn is_plain_name(&self) -> bool {
        is_plain_name(self.as_str())
    }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0'])
}

/// One executor of one application: executor numbers are only unique inside their application.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExecutorKey {
    /// The application.
    pub app: AppId,
    /// The executor's number in it.
    pub executor: ExecutorId,
}

impl ExecutorKey {
    /// The executor `executor` of `app`.
    pub fn new(app: impl Into<AppId>, executor: u32) -> Self {
        Self { app: app.into(), executor: ExecutorId(executor) }
    }
}

impl fmt::Display for ExecutorKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.app, self.executor.0)
    }
}

impl fmt::Debug for ExecutorKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// One start of a process by this worker. Never used twice, so news of an earlier start cannot be mistaken.
///
/// Not the operating system's number, which is known only afterwards and is used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessId(pub u64);

impl fmt::Display for ProcessId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "process-{}", self.0)
    }
}

impl fmt::Debug for ProcessId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// What a process was started for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ProcessOwner {
    /// It is an executor.
    Executor(ExecutorKey),
    /// It is a driver, or one more run of a supervised one.
    Driver(DriverId),
}
