//! Which peers get the copies of a block: [`ReplicationPolicy`].

use firesteel_types::Rng;
use serde::{Deserialize, Serialize};

use super::{BlockId, Peer};

/// How the holders of copies are chosen.
///
/// Both ways are random, so that copies spread, and reproducible: the same block and the same peers give the same choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplicationPolicy {
    /// Any peers.
    #[default]
    Random,
    /// The first copy on another host of the own rack, the next in another rack, the others anywhere. Where racks are not
    /// known, all hosts count as one rack.
    RackAware,
}

impl ReplicationPolicy {
    /// The best `count` of `candidates` for further copies of a block of `own`, best first.
    ///
    /// `holders` have a copy already and are among the candidates no more.
    pub fn choose(
        self,
        id: BlockId,
        own: &Peer,
        candidates: &[Peer],
        holders: &[Peer],
        count: usize,
    ) -> Vec<Peer> {
        let mut order: Vec<&Peer> = candidates.iter().filter(|peer| !holders.contains(peer)).collect();
        order.sort_unstable();
        order.dedup();
        let mut rng = Rng::new(id.seed());
        shuffle(&mut order, &mut rng);
        if self == Self::RackAware {
            spread_over_racks(&mut order, own, holders);
        }
        order.into_iter().take(count).cloned().collect()
    }
}

/// Puts first what is missing most: a copy on another host of the own rack, and one in another rack.
fn spread_over_racks(order: &mut Vec<&Peer>, own: &Peer, holders: &[Peer]) {
    let is_near = |peer: &Peer| peer.host != own.host && peer.rack == own.rack;
    let is_far = |peer: &Peer| peer.rack != own.rack;
    let mut front = 0;
    for wanted in [&is_near as &dyn Fn(&Peer) -> bool, &is_far] {
        if !holders.iter().any(wanted)
            && let Some(found) = order[front..].iter().position(|peer| wanted(peer))
        {
            let peer = order.remove(front + found);
            order.insert(front, peer);
            front += 1;
        }
    }
    // A copy on the own host is lost with it, so those hosts come last.
    order[front..].sort_by_key(|peer| peer.host == own.host);
}

/// Brings the items in a random order.
pub(crate) fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use firesteel_types::{ExecutorId, PartitionId, RddId};

    use super::*;

    fn id(partition: u32) -> BlockId {
        BlockId::Rdd { rdd: RddId(0), partition: PartitionId(partition), generation: 0 }
    }

    fn peer(number: u32, host: &str, rack: &str) -> Peer {
        Peer::executor(ExecutorId(number), host).in_rack(rack)
    }

    fn peers() -> Vec<Peer> {
        vec![
            peer(1, "a", "r1"),
            peer(2, "b", "r1"),
            peer(3, "c", "r2"),
            peer(4, "d", "r2"),
            peer(5, "e", "r3"),
        ]
    }

    /// Behaviours: BLK-014.
    #[test]
    fn a_choice_is_random_over_blocks_and_the_same_for_the_same_block() {
        let (own, mut peers) = (peer(0, "a", "r1"), peers());
        let choose =
            |peers: &[Peer], partition| ReplicationPolicy::Random.choose(id(partition), &own, peers, &[], 2);
        let first: Vec<_> = (0..50).map(|partition| choose(&peers, partition)).collect();

        peers.reverse();
        let second: Vec<_> = (0..50).map(|partition| choose(&peers, partition)).collect();

        assert_eq!(first, second, "the order of the peers does not matter");
        let chosen: BTreeSet<_> = first.iter().flatten().collect();
        assert_eq!(chosen.len(), 5, "all peers get some copies");
        assert!(first.iter().all(|chosen| chosen.len() == 2 && chosen[0] != chosen[1]));
    }

    #[test]
    fn holders_get_no_second_copy_and_too_few_peers_give_what_there_is() {
        let (own, peers) = (peer(0, "a", "r1"), peers());

        let chosen = ReplicationPolicy::Random.choose(id(0), &own, &peers, &peers[1..], 3);

        assert_eq!(chosen, peers[..1]);
    }

    /// Behaviours: BLK-014.
    #[test]
    fn rack_aware_copies_go_to_the_own_rack_and_then_to_another() {
        let (own, peers) = (peer(0, "a", "r1"), peers());
        for partition in 0..50 {
            let chosen = ReplicationPolicy::RackAware.choose(id(partition), &own, &peers, &[], 3);

            assert_eq!(chosen[0].host, "b".into(), "the only other host of the rack");
            assert_ne!(chosen[1].rack, own.rack);
            assert_ne!(chosen[2].host, own.host);
        }
    }

    #[test]
    fn a_copy_that_is_there_already_counts_for_its_rack() {
        let (own, peers) = (peer(0, "a", "r1"), peers());

        let chosen = ReplicationPolicy::RackAware.choose(id(0), &own, &peers, &peers[1..2], 1);

        assert_ne!(chosen[0].rack, own.rack);
    }

    #[test]
    fn without_racks_another_host_is_preferred() {
        let own = Peer::executor(ExecutorId(0), "a");
        let peers = [Peer::executor(ExecutorId(1), "a"), Peer::executor(ExecutorId(2), "b")];
        for partition in 0..20 {
            let chosen = ReplicationPolicy::RackAware.choose(id(partition), &own, &peers, &[], 2);

            assert_eq!(chosen, [peers[1].clone(), peers[0].clone()]);
        }
    }
}
