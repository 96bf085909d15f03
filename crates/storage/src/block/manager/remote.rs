//! Getting blocks from other processes.

use firesteel_types::Rng;

use super::{BlockManager, BlockRead};
use crate::block::{BlockData, BlockFile, BlockId, Locations, Peer, PeerError, PeerId, replication::shuffle};

impl BlockManager {
    /// A block from another process; `None` if no process has it or none answers.
    ///
    /// Near holders are asked first. A holder that fails is passed over; after several the master is asked again, since
    /// its list may be out of date; after as many as there were at first, the block counts as not found.
    pub fn get_remote(&self, id: BlockId) -> Option<BlockRead> {
        if !id.is_tracked() {
            return None;
        }
        let mut locations = self.locations(id);
        let max_failures = locations.holders.len();
        let (mut failures, mut failures_in_row) = (0, 0);
        let mut holders = locations.holders.into_iter();
        while let Some(holder) = holders.next() {
            let error = match self.fetch_from(&holder, id, locations.size) {
                Ok(read) => return Some(read),
                Err(error) => error,
            };
            failures += 1;
            failures_in_row += 1;
            tracing::warn!(block = %id, peer = %holder.id, %error, failures, "cannot fetch a block");
            if failures >= max_failures {
                return None;
            }
            if failures_in_row >= self.options.failures_before_refresh {
                locations = self.locations(id);
                holders = locations.holders.into_iter();
                failures_in_row = 0;
            }
        }
        None
    }

    /// Who else holds a block, in the order to ask them.
    fn locations(&self, id: BlockId) -> Locations {
        let mut locations = self.directory.locations(id);
        locations.holders.retain(|holder| holder.id != PeerId::Executor(self.executor));
        by_distance(&mut locations.holders, &self.peer, &mut self.rng.lock());
        locations
    }

    /// Fetches from one holder a block that takes about `size` bytes there.
    fn fetch_from(&self, holder: &Peer, id: BlockId, size: u64) -> Result<BlockRead, PeerError> {
        if holder.host == self.peer.host
            && let Some(file) = self.file_of_neighbour(holder, id)
        {
            let len = file.len();
            return Ok(BlockRead::remote(id, BlockData::File(file), len, holder.id.clone()));
        }
        let peer = holder.id.clone();
        let empty = |peer| PeerError::Broken {
            peer,
            source: std::io::Error::other("the answer for a block that is not empty has no bytes"),
        };
        if size <= self.options.max_remote_in_memory {
            let bytes = self.peers.fetch(&peer, id)?;
            let len = bytes.len() as u64;
            if len == 0 && size > 0 {
                return Err(empty(peer));
            }
            return Ok(BlockRead::remote(id, BlockData::Bytes(bytes), len, peer));
        }
        let broken = |source| PeerError::Broken { peer: holder.id.clone(), source };
        let (mut out, temporary) = self.disk.temporary().map_err(broken)?;
        let len = self.peers.fetch_to_file(&peer, id, &mut out)?;
        let file = BlockFile::open_temporary(temporary).map_err(broken)?;
        if len == 0 {
            return Err(empty(peer));
        }
        Ok(BlockRead::remote(id, BlockData::File(file), len, peer))
    }

    /// The file of a block that another process of this host has on disk, if it is there and complete.
    fn file_of_neighbour(&self, holder: &Peer, id: BlockId) -> Option<BlockFile> {
        let (path, len) = self.peers.file_on_this_host(&holder.id, id)?;
        BlockFile::open(&path).ok().filter(|file| file.len() == len)
    }
}

/// Orders holders: the same host, then the same rack, then the others; random in each, executors before services.
fn by_distance(holders: &mut [Peer], own: &Peer, rng: &mut Rng) {
    // The order they came in must not matter: only the generator decides.
    holders.sort_unstable();
    shuffle(holders, rng);
    let distance = |holder: &Peer| match (holder.host == own.host, holder.shares_rack_with(own)) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    };
    holders.sort_by_key(|holder| (distance(holder), matches!(holder.id, PeerId::Service(_))));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use firesteel_types::ExecutorId;

    use super::*;

    /// Behaviours: BLK-011.
    #[test]
    fn near_holders_come_first_and_executors_before_services_at_random_within() {
        let peer =
            |number: u32, host: &str, rack: &str| Peer::executor(ExecutorId(number), host).in_rack(rack);
        let service =
            |host: &str, rack: &str| Peer { id: PeerId::Service(host.into()), ..peer(0, host, rack) };
        let own = peer(0, "a", "r1");
        let groups = [
            vec![peer(1, "a", "r1"), peer(2, "a", "r1")],
            vec![service("a", "r1")],
            vec![peer(3, "b", "r1"), peer(4, "c", "r1")],
            vec![service("b", "r1")],
            vec![peer(5, "d", "r2"), peer(6, "e", "r3"), Peer::executor(ExecutorId(7), "f")],
        ];
        let mut orders = BTreeSet::new();
        for seed in 0..200 {
            let mut holders = groups.concat();
            holders.reverse();

            by_distance(&mut holders, &own, &mut Rng::new(seed));

            let mut rest = holders.as_slice();
            for group in &groups {
                let (head, tail) = rest.split_at(group.len());
                let (found, expected): (BTreeSet<_>, BTreeSet<_>) =
                    (head.iter().collect(), group.iter().collect());
                assert_eq!(found, expected);
                rest = tail;
            }
            orders.insert(holders);
        }
        assert_eq!(orders.len(), 2 * 2 * 6, "each order within the groups occurs");
    }

    #[test]
    fn without_racks_only_the_host_counts() {
        let own = Peer::executor(ExecutorId(0), "a");
        let near = Peer::executor(ExecutorId(9), "a");
        let far = Peer::executor(ExecutorId(1), "b");
        for seed in 0..20 {
            let mut holders = [far.clone(), near.clone()];

            by_distance(&mut holders, &own, &mut Rng::new(seed));

            assert_eq!(holders, [near.clone(), far.clone()]);
        }
    }
}
