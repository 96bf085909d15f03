//! Who holds which block, on the driver: [`BlockRegistry`].

use std::sync::{Arc, OnceLock, Weak};

use firesteel_net::Address;
use firesteel_scheduler::{BlockUpdate as PartitionUpdate, Event};
use firesteel_storage::block::{
    Answer, BlockId, BlockManagerMaster, BlockUpdate, Directory, DriverCopy, Locations, Peer, PeerId,
    Registered, Registration, Replicate,
};
use firesteel_types::ExecutorId;
use parking_lot::Mutex;

use super::links::Links;
use crate::{
    driver::{Driver, Incoming},
    protocol::{Addresses, Stored},
    task::AddressBook,
};

/// The block managers of all executors and of the driver.
pub(super) struct BlockRegistry {
    master: Mutex<BlockManagerMaster>,
    links: Arc<Links>,
    driver: OnceLock<Weak<Driver>>,
}

impl BlockRegistry {
    pub(super) fn new(links: Arc<Links>) -> Self {
        Self { master: Mutex::new(BlockManagerMaster::new()), links, driver: OnceLock::new() }
    }

    pub(super) fn set_driver(&self, driver: &Arc<Driver>) {
        self.driver.get_or_init(|| Arc::downgrade(driver));
    }

    /// What the scheduler hears of blocks that appeared or went.
    pub(super) fn noted(&self, from: ExecutorId, updates: &[BlockUpdate]) -> Option<Incoming> {
        let mut master = self.master.lock();
        for update in updates {
            master.update(from, *update);
        }
        drop(master);
        let of_partition = |update: &BlockUpdate| match update.id {
            BlockId::Rdd { rdd, partition, generation } => {
                Some(PartitionUpdate { rdd, partition, generation, present: update.level.is_persisted() })
            }
            _ => None,
        };
        let blocks: Vec<_> = updates.iter().filter_map(of_partition).collect();
        (!blocks.is_empty()).then(|| Incoming::event(Event::BlocksUpdated { executor: from, blocks }))
    }

    /// Whether the blocks of an executor are known here.
    pub(super) fn knows(&self, executor: ExecutorId) -> bool {
        self.master.lock().heartbeat(executor) == Answer::Noted
    }

    /// What an executor has last said of a block.
    pub(super) fn stored_at(&self, executor: ExecutorId, id: BlockId) -> Option<BlockUpdate> {
        self.master.lock().status(executor, id)
    }

    /// An executor is gone: gives the copies that are to be made of what it held.
    pub(super) fn executor_lost(&self, executor: ExecutorId) -> Vec<Replicate> {
        self.master.lock().executor_lost(executor)
    }

    pub(super) fn decommission(&self, executor: ExecutorId) {
        self.master.lock().decommission(executor);
    }

    /// Something is removed everywhere.
    pub(super) fn remove(&self, what: Stored) {
        let mut master = self.master.lock();
        match what {
            Stored::Rdd(rdd) => drop(master.remove_rdd(rdd)),
            Stored::Stale { rdd, generation } => drop(master.remove_stale(rdd, generation)),
            Stored::Shuffle(shuffle) => drop(master.remove_shuffle(shuffle)),
            Stored::Broadcast { id, destroyed } => {
                let driver = if destroyed { DriverCopy::Remove } else { DriverCopy::Keep };
                drop(master.remove_broadcast(firesteel_storage::block::BroadcastId(id), driver));
            }
            Stored::Result(_) => (),
        }
    }

    pub(super) fn locate(&self, id: BlockId) -> (Locations, Addresses) {
        let locations = self.master.lock().locations(&[id]).pop().unwrap_or_default();
        let addresses = self.addresses(&locations.holders);
        (locations, addresses)
    }

    pub(super) fn peers_of(&self, executor: ExecutorId) -> (Vec<Peer>, Addresses) {
        let peers = self.master.lock().peers(executor);
        let addresses = self.addresses(&peers);
        (peers, addresses)
    }

    fn addresses(&self, peers: &[Peer]) -> Addresses {
        let executors = peers.iter().filter_map(|peer| match peer.id {
            PeerId::Executor(executor) => Some(executor),
            PeerId::Service(_) => None,
        });
        self.links.block_addresses(executors)
    }
}

/// The way of the driver's own block manager.
impl Directory for BlockRegistry {
    fn register(&self, registration: &Registration) -> Registered {
        self.master.lock().register(registration.clone())
    }

    fn report(&self, from: ExecutorId, updates: &[BlockUpdate]) -> Answer {
        if let (Some(incoming), Some(driver)) =
            (self.noted(from, updates), self.driver.get().and_then(Weak::upgrade))
        {
            driver.note(incoming);
        }
        Answer::Noted
    }

    fn locations(&self, id: BlockId) -> Locations {
        self.locate(id).0
    }

    fn peers(&self, of: ExecutorId) -> Vec<Peer> {
        self.peers_of(of).0
    }
}

impl AddressBook for Links {
    fn block_address(&self, executor: ExecutorId) -> Option<Address> {
        Self::block_address(self, executor)
    }
}
