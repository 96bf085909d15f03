//! How near a task runs to its data, and where its data is.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ExecutorId, Host};

/// How near to its data a task runs, best first.
///
/// `NoPref` stands between node and rack because that is when tasks without any preference are handed out:
/// after those that are local to the node, before those that would cross to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Locality {
    /// In the executor that holds the data.
    Process,
    /// On the host that holds the data.
    Node,
    /// The task has no preference.
    NoPref,
    /// In the rack that holds the data.
    Rack,
    /// Anywhere.
    Any,
}

impl Locality {
    /// Every level, best first.
    pub const ALL: [Self; 5] = [Self::Process, Self::Node, Self::NoPref, Self::Rack, Self::Any];
}

/// A place where a task would rather run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TaskLocation {
    /// The executor that has the partition in its memory, on its host.
    Executor {
        /// Where the executor runs.
        host: Host,
        /// The executor.
        executor: ExecutorId,
    },
    /// A host whose file system caches the data: as good as process-local on every executor there.
    HostCache(Host),
    /// A host that has the data on disk.
    Host(Host),
}

impl TaskLocation {
    /// The host of the place.
    pub fn host(&self) -> &Host {
        match self {
            Self::Executor { host, .. } | Self::HostCache(host) | Self::Host(host) => host,
        }
    }
}

impl From<&str> for TaskLocation {
    /// Reads Spark's notation: `executor_<host>_<id>`, `hdfs_cache_<host>`, or a plain host name.
    ///
    /// A text that only looks like the first form is taken as a host name, since any text may be one.
    fn from(text: &str) -> Self {
        if let Some(host) = text.strip_prefix("hdfs_cache_") {
            return Self::HostCache(host.into());
        }
        let executor = text.strip_prefix("executor_").and_then(|rest| rest.rsplit_once('_'));
        match executor.map(|(host, id)| (host, id.parse::<u32>())) {
            Some((host, Ok(id))) => Self::Executor { host: host.into(), executor: ExecutorId(id) },
            Some((_, Err(_))) | None => Self::Host(text.into()),
        }
    }
}

impl fmt::Debug for TaskLocation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Executor { host, executor } => write!(out, "{executor}@{host}"),
            Self::HostCache(host) => write!(out, "cache@{host}"),
            Self::Host(host) => write!(out, "{host}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_read_from_sparks_notation() {
        let executor = TaskLocation::Executor { host: "rack_1_h2".into(), executor: ExecutorId(12) };

        assert_eq!(TaskLocation::from("executor_rack_1_h2_12"), executor);
        assert_eq!(TaskLocation::from("hdfs_cache_h1"), TaskLocation::HostCache("h1".into()));
        assert_eq!(TaskLocation::from("h1"), TaskLocation::Host("h1".into()));
        assert_eq!(TaskLocation::from("executor_h1"), TaskLocation::Host("executor_h1".into()));
    }
}
