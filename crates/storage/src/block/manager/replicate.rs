//! Copies of blocks on other executors.

use firesteel_types::{StorageLevel, Timestamp};

use super::BlockManager;
use crate::block::{BlockId, LockOwner, Peer, PeerId, Replicate, Wait};

/// Whether a list of peers that was heard a while ago will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Freshness {
    Recent,
    Now,
}

impl BlockManager {
    /// Carries out an order to make new copies for those that were lost, and returns how many it made.
    pub fn replicate(&self, order: &Replicate) -> usize {
        let Ok(Some(lock)) = self.read_lock(order.id, LockOwner::unique(), Wait::FOREVER) else { return 0 };
        // An executor was lost, and may be on the list of peers that was cached before: a dead peer is tried for long.
        *self.known_peers.lock() = None;
        let wanted = u8::try_from(order.wanted).unwrap_or(StorageLevel::MAX_REPLICATION);
        self.make_copies(order.id, lock.level().replicated(wanted), &order.holders)
    }

    /// Makes as many copies of a local block, which the caller has locked, as its level wants beside those of `holders`
    /// and the own one. Returns how many.
    pub(super) fn make_copies(&self, id: BlockId, level: StorageLevel, holders: &[Peer]) -> usize {
        let others = holders.iter().filter(|peer| **peer != self.peer).count();
        let missing = usize::from(level.replication).saturating_sub(others + 1);
        if missing == 0 {
            return 0;
        }
        let made = self.spread(id, level, holders, missing);
        if made < missing {
            tracing::warn!(block = %id, wanted = missing, made, "a block has fewer copies than it should");
        }
        made
    }

    /// Uploads a block to `count` peers that do not hold it, and returns to how many it succeeded.
    pub(super) fn spread(&self, id: BlockId, level: StorageLevel, holders: &[Peer], count: usize) -> usize {
        let body = match self.body(id) {
            Ok(Some(body)) => body,
            Ok(None) => return 0,
            Err(error) => {
                tracing::warn!(block = %id, %error, "a block cannot be copied");
                return 0;
            }
        };
        let (mut holders, mut made, mut failed) = (holders.to_vec(), 0, Vec::new());
        let mut candidates = self.candidates(Freshness::Recent, &failed);
        while made < count && failed.len() <= self.options.max_replication_failures as usize {
            let next = self.options.replication.choose(id, &self.peer, &candidates, &holders, 1);
            let Some(peer) = next.into_iter().next() else { break };
            match self.peers.upload(&peer.id, id, level, body.clone()) {
                Ok(()) => {
                    made += 1;
                    holders.push(peer);
                }
                Err(error) => {
                    tracing::warn!(block = %id, peer = %peer.id, %error, "cannot copy a block to a peer");
                    failed.push(peer);
                    candidates = self.candidates(Freshness::Now, &failed);
                }
            }
        }
        made
    }

    /// The peers that may get copies, without those that failed.
    fn candidates(&self, freshness: Freshness, failed: &[Peer]) -> Vec<Peer> {
        let now = (self.clock)();
        let mut known = self.known_peers.lock();
        let is_fresh = |at: &Timestamp| now.since(*at) <= self.options.peers_max_age;
        let peers = match &*known {
            Some((at, peers)) if freshness == Freshness::Recent && is_fresh(at) => peers.clone(),
            _ => {
                let peers = self.directory.peers(self.executor);
                *known = Some((now, peers.clone()));
                peers
            }
        };
        drop(known);
        let is_own = |peer: &Peer| peer.id == PeerId::Executor(self.executor);
        peers.into_iter().filter(|peer| !failed.contains(peer) && !is_own(peer)).collect()
    }
}
