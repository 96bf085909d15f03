//! What a finished map task reports about its output.

use serde::{Deserialize, Serialize};

use firesteel_types::{AttemptId, ExecutorId, Host};

use super::BlockSizes;

/// One map output: where it is and how large its blocks are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapStatus {
    /// The executor that holds the output.
    pub executor: ExecutorId,
    /// The host of that executor.
    pub host: Host,
    /// The attempt that wrote it, by which the files are named.
    pub attempt: AttemptId,
    /// The sizes of its blocks, one for each reducer.
    pub sizes: BlockSizes,
    /// A checksum of its content, where one was computed.
    pub checksum: Option<u64>,
}

impl MapStatus {
    /// Where the output is.
    pub fn location(&self) -> OutputLocation {
        OutputLocation { executor: self.executor, host: self.host.clone() }
    }
}

/// A place that holds map outputs: an executor and its host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OutputLocation {
    /// The executor.
    pub executor: ExecutorId,
    /// Its host.
    pub host: Host,
}
