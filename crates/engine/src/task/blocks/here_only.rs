//! The surroundings of the only block manager of an application: [`ToDriver`] and [`NoPeers`].

use std::{fs::File, io, sync::Arc};

use bytes::Bytes;
use firesteel_scheduler::BlockUpdate as PartitionUpdate;
use firesteel_storage::block::{
    Answer, BlockId, BlockUpdate, Body, Directory, Locations, MapOutputId, Peer, PeerError, PeerId, Peers,
    Registered, Registration,
};
use firesteel_types::{ExecutorId, StorageLevel};

use crate::task::DriverLine;

/// Tells the scheduler which partitions are kept. No other process has any.
pub(crate) struct ToDriver(pub(crate) Arc<dyn DriverLine>);

impl Directory for ToDriver {
    fn register(&self, _registration: &Registration) -> Registered {
        Registered::Accepted
    }

    fn report(&self, from: ExecutorId, updates: &[BlockUpdate]) -> Answer {
        let of_partition = |update: &BlockUpdate| match update.id {
            BlockId::Rdd { rdd, partition, generation } => {
                Some(PartitionUpdate { rdd, partition, generation, present: update.level.is_persisted() })
            }
            _ => None,
        };
        self.0.blocks_changed(from, updates.iter().filter_map(of_partition).collect());
        Answer::Noted
    }

    fn locations(&self, _id: BlockId) -> Locations {
        Locations::default()
    }

    fn peers(&self, _of: ExecutorId) -> Vec<Peer> {
        Vec::new()
    }
}

/// The other processes of an application that is one process.
pub(crate) struct NoPeers;

fn unreachable_peer(peer: &PeerId) -> PeerError {
    PeerError::Broken { peer: peer.clone(), source: io::ErrorKind::NotConnected.into() }
}

impl Peers for NoPeers {
    fn fetch(&self, from: &PeerId, _id: BlockId) -> Result<Bytes, PeerError> {
        Err(unreachable_peer(from))
    }

    fn fetch_to_file(&self, from: &PeerId, _id: BlockId, _file: &mut File) -> Result<u64, PeerError> {
        Err(unreachable_peer(from))
    }

    fn upload(&self, to: &PeerId, _id: BlockId, _level: StorageLevel, _body: Body) -> Result<(), PeerError> {
        Err(unreachable_peer(to))
    }

    fn upload_map_output(
        &self,
        to: &PeerId,
        _output: MapOutputId,
        _index: Bytes,
        _data: Body,
    ) -> Result<(), PeerError> {
        Err(unreachable_peer(to))
    }
}
