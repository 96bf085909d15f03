//! A block that has arrived: [`FetchedBlock`].

use std::{fmt, io::Read, sync::Arc};

use super::fetcher::Shared;
use crate::{
    block::BlockId,
    transfer::{Payload, PeerAddr},
};

/// A block and its bytes, in memory or in a file that goes away with it.
///
/// It counts as in flight until it is dropped: a reader that keeps blocks holds up those that still have to come.
pub struct FetchedBlock {
    /// Which block it is.
    pub id: BlockId,
    /// Whose it was.
    pub peer: PeerAddr,
    /// Its bytes.
    pub data: Payload,
    /// Gives the bytes in flight back. Local blocks hold none.
    pub(super) held: Option<Held>,
}

impl FetchedBlock {
    /// A reader over its bytes.
    pub fn reader(&self) -> impl Read + use<> {
        self.data.reader()
    }

    /// Whether it came over the network.
    pub fn is_remote(&self) -> bool {
        self.held.is_some()
    }
}

impl fmt::Debug for FetchedBlock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("FetchedBlock")
            .field("id", &self.id)
            .field("peer", &self.peer)
            .field("data", &self.data)
            .finish_non_exhaustive()
    }
}

/// Bytes in flight that are given back when this is dropped.
pub(super) struct Held {
    pub(super) shared: Arc<Shared>,
    pub(super) bytes: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shared.release(self.bytes);
    }
}
