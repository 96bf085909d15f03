//! Blocks between the processes of an application: those that others ask for, and those of others: [`OwnBlocks`] and [`OtherExecutors`].

use std::{
    fs::File,
    io::{self, Read, Seek},
    sync::{Arc, OnceLock, Weak},
};

use bytes::Bytes;
use firesteel_net::Address;
use firesteel_storage::{
    block::{BlockId, Body, MapOutputId, PeerError, PeerId, Peers, Served, Wait},
    disk::open_regular,
    transfer::{BlockClient, BlockSource, Destination, Incoming, Payload, PeerAddr, Sink, TransferError},
};
use firesteel_types::{AppId, ExecutorId, StorageLevel};

use super::Environment;
use crate::error::with_causes;

/// The blocks of this process, for peers that prove to be of the same application.
pub(crate) struct OwnBlocks {
    pub(crate) executor: ExecutorId,
    /// Set when the stores are there.
    pub(crate) environment: OnceLock<Weak<Environment>>,
}

impl OwnBlocks {
    fn environment(&self, of: ExecutorId) -> Result<Arc<Environment>, String> {
        if of != self.executor {
            return Err(format!("{of} is not here any more: {} is", self.executor));
        }
        self.environment.get().and_then(Weak::upgrade).ok_or_else(|| format!("{of} is not ready"))
    }
}

impl BlockSource for OwnBlocks {
    fn open(&self, _app: &AppId, of: ExecutorId, id: &BlockId) -> Result<Payload, String> {
        let environment = self.environment(of)?;
        if let BlockId::Shuffle { shuffle, map, reduce } = *id {
            let file = environment.shuffles.file(shuffle, map);
            let file = file.ok_or_else(|| format!("the output of map {map} of {shuffle} is not here"))?;
            return Ok(match file.block(reduce) {
                Some(range) => {
                    Payload::File { file: range.file().clone(), offset: range.offset(), len: range.len() }
                }
                None => Payload::from(Bytes::new()),
            });
        }
        let served = environment.blocks.manager().serve(*id, Wait::FOREVER);
        match served.map_err(|error| with_causes(&error))? {
            Some(Served { body, .. }) => body_payload(body).map_err(|error| error.to_string()),
            None => Err(format!("{id} is not here")),
        }
    }

    fn store(
        &self,
        _app: &AppId,
        of: ExecutorId,
        id: &BlockId,
        level: StorageLevel,
        len: u64,
        body: &mut dyn Read,
    ) -> Result<(), String> {
        let environment = self.environment(of)?;
        let received = environment.blocks.manager().receive(*id, level, len, body);
        received.map(drop).map_err(|error| with_causes(&error))
    }
}

fn body_payload(body: Body) -> io::Result<Payload> {
    Ok(match body {
        Body::Bytes(bytes) => Payload::Bytes(bytes),
        Body::File { path, len } => Payload::File { file: Arc::new(open_regular(&path)?), offset: 0, len },
    })
}

/// Finds out where an executor serves its blocks.
pub(crate) trait AddressBook: Send + Sync {
    fn block_address(&self, executor: ExecutorId) -> Option<Address>;
}

/// The block managers of the application's other processes.
pub(crate) struct OtherExecutors {
    pub(crate) client: Arc<LateClient>,
    pub(crate) book: Arc<dyn AddressBook>,
}

/// The client of an application's blocks, there as soon as the application has its id.
pub(crate) type LateClient = OnceLock<BlockClient>;

impl OtherExecutors {
    fn find(&self, peer: &PeerId) -> Result<(&BlockClient, PeerAddr), PeerError> {
        let unknown = || broken(peer, "its address is unknown");
        let (PeerId::Executor(executor), Some(client)) = (peer, self.client.get()) else {
            return Err(unknown());
        };
        let Address { host, port } = self.book.block_address(*executor).ok_or_else(unknown)?;
        Ok((client, PeerAddr::new(*executor, host, port)))
    }

    fn failed(peer: &PeerId, error: &TransferError) -> PeerError {
        match error {
            TransferError::Missing { .. } => PeerError::Absent { peer: peer.clone() },
            other => broken(peer, other.to_string()),
        }
    }
}

fn broken(peer: &PeerId, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> PeerError {
    PeerError::Broken { peer: peer.clone(), source: io::Error::other(why) }
}

impl Peers for OtherExecutors {
    fn fetch(&self, from: &PeerId, id: BlockId) -> Result<Bytes, PeerError> {
        let (client, peer) = self.find(from)?;
        fetch_one(client, &peer, id).map_err(|error| Self::failed(from, &error))
    }

    fn fetch_to_file(&self, from: &PeerId, id: BlockId, file: &mut File) -> Result<u64, PeerError> {
        let (client, peer) = self.find(from)?;
        let mut sink = ToFile { file, outcome: None };
        client.fetch(&peer, &[id], &mut sink);
        match sink.outcome {
            Some(Ok(len)) => Ok(len),
            Some(Err(error)) => Err(Self::failed(from, &error)),
            None => Err(broken(from, "it said nothing")),
        }
    }

    fn upload(&self, to: &PeerId, id: BlockId, level: StorageLevel, body: Body) -> Result<(), PeerError> {
        let (client, peer) = self.find(to)?;
        let payload = body_payload(body).map_err(|error| broken(to, error))?;
        client.upload(&peer, id, level, &payload).map_err(|error| Self::failed(to, &error))
    }

    fn upload_map_output(
        &self,
        to: &PeerId,
        _output: MapOutputId,
        _index: Bytes,
        _data: Body,
    ) -> Result<(), PeerError> {
        Err(broken(to, "map outputs are served by workers and do not move"))
    }
}

/// Fetches one block into memory.
pub(crate) fn fetch_one(client: &BlockClient, from: &PeerAddr, id: BlockId) -> Result<Bytes, TransferError> {
    let mut fetched = Err(TransferError::Cancelled);
    client.fetch_bytes(from, &[id], u64::MAX, &mut |_, block| fetched = block);
    fetched
}

/// Takes one block into a file.
struct ToFile<'a> {
    file: &'a File,
    outcome: Option<Result<u64, TransferError>>,
}

impl Sink for ToFile<'_> {
    /// From the first byte again if the block comes again.
    fn place(&mut self, _id: &BlockId, _len: u64) -> io::Result<Destination> {
        let mut file = self.file.try_clone()?;
        file.set_len(0)?;
        file.rewind()?;
        Ok(Destination::Writer(Box::new(file)))
    }

    fn deliver(&mut self, _id: BlockId, result: Result<Incoming, TransferError>) {
        self.outcome = Some(result.map(|incoming| match incoming {
            Incoming::Bytes(bytes) => bytes.len() as u64,
            Incoming::Written { len } => len,
        }));
    }
}
