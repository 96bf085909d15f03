//! What is to be fetched and how it is cut into requests: [`PeerBlocks`], [`FetchLimits`].

use std::collections::VecDeque;

use firesteel_types::Rng;

use crate::{block::BlockId, transfer::PeerAddr};

/// The blocks that one peer has for this reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerBlocks {
    /// Whose they are and who serves them.
    pub peer: PeerAddr,
    /// Each block with its size, which may be an estimate but is zero only for a block that is empty.
    pub blocks: Vec<(BlockId, u64)>,
}

/// How much may be on the way at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchLimits {
    /// Bytes asked for or arrived and not yet released by the reader.
    pub max_bytes_in_flight: u64,
    /// Requests that are not answered in full.
    pub max_requests_in_flight: usize,
    /// Blocks asked of one peer that have not arrived; also the most blocks in one request.
    pub max_blocks_per_address: usize,
    /// A larger block goes to a file.
    pub max_block_in_memory: u64,
}

impl FetchLimits {
    /// The size at which a request is full: a fifth of what may be in flight, so that five peers serve at once.
    pub fn target_request_bytes(&self) -> u64 {
        (self.max_bytes_in_flight / 5).max(1)
    }
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            max_bytes_in_flight: 48 << 20,
            max_requests_in_flight: usize::MAX,
            max_blocks_per_address: usize::MAX,
            max_block_in_memory: 200_000_000,
        }
    }
}

/// Blocks that are asked of one peer together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) peer: PeerAddr,
    pub(super) blocks: Vec<Wanted>,
}

/// One block of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) id: BlockId,
    pub(super) size: u64,
    /// Set when the first copy was not intact, to its fingerprint if it had one.
    pub(super) seen_corrupt: Option<Option<u64>>,
}

impl Request {
    pub(super) fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.size).sum()
    }
}

/// Cuts a plan into requests, in random order: readers that start together do not all begin with the same peer.
///
/// Empty blocks are left out.
pub(super) fn requests(plan: Vec<PeerBlocks>, limits: &FetchLimits, rng: &mut Rng) -> VecDeque<Request> {
    let mut requests = Vec::new();
    for PeerBlocks { peer, blocks } in plan {
        let mut full = true;
        let mut bytes = 0;
        for (id, size) in blocks.into_iter().filter(|(_, size)| *size > 0) {
            if full {
                requests.push(Request { peer: peer.clone(), blocks: Vec::new() });
                bytes = 0;
            }
            let Some(request) = requests.last_mut() else { continue };
            request.blocks.push(Wanted { id, size, seen_corrupt: None });
            bytes += size;
            full = bytes >= limits.target_request_bytes()
                || request.blocks.len() >= limits.max_blocks_per_address.max(1);
        }
    }
    for end in (1..requests.len()).rev() {
        requests.swap(end, rng.below(end + 1));
    }
    requests.into()
}

#[cfg(test)]
mod tests {
    use firesteel_types::{ExecutorId, PartitionId, ShuffleId};

    use super::*;

    fn peer(number: u32, sizes: &[u64]) -> PeerBlocks {
        let block = |(map, size): (usize, &u64)| {
            let (shuffle, map) = (ShuffleId(0), PartitionId(map as u32));
            (BlockId::Shuffle { shuffle, map, reduce: PartitionId(number) }, *size)
        };
        let peer = PeerAddr::new(ExecutorId(number), "host", 1);
        PeerBlocks { peer, blocks: sizes.iter().enumerate().map(block).collect() }
    }

    fn limits(max_bytes_in_flight: u64, max_blocks_per_address: usize) -> FetchLimits {
        FetchLimits { max_bytes_in_flight, max_blocks_per_address, ..FetchLimits::default() }
    }

    fn sizes(requests: &VecDeque<Request>) -> Vec<Vec<u64>> {
        let mut sizes: Vec<Vec<u64>> =
            requests.iter().map(|request| request.blocks.iter().map(|block| block.size).collect()).collect();
        sizes.sort();
        sizes
    }

    /// Behaviours: SHUF-008.
    #[test]
    fn a_request_is_full_at_a_fifth_of_the_bytes_in_flight() {
        let plan = vec![peer(1, &[4, 6, 3, 3, 3, 3, 50, 1])];

        let cut = requests(plan, &limits(50, usize::MAX), &mut Rng::new(1));

        assert_eq!(sizes(&cut), [vec![1], vec![3, 3, 3, 3], vec![4, 6], vec![50]]);
        assert_eq!(FetchLimits::default().target_request_bytes(), (48 << 20) / 5);
    }

    /// Behaviours: SHUF-008.
    #[test]
    fn a_request_has_no_more_blocks_than_one_address_may_have() {
        let cut = requests(vec![peer(1, &[1; 5])], &limits(50_000, 2), &mut Rng::new(1));

        assert_eq!(sizes(&cut), [vec![1], vec![1, 1], vec![1, 1]]);
    }

    /// Behaviours: SHUF-013.
    #[test]
    fn empty_blocks_are_in_no_request() {
        let plan = vec![peer(1, &[0, 0]), peer(2, &[0, 7, 0]), peer(3, &[])];

        assert_eq!(sizes(&requests(plan, &limits(50_000, 10), &mut Rng::new(1))), [[7]]);
    }

    #[test]
    fn readers_begin_with_different_peers() {
        let plan: Vec<_> = (0..20).map(|number| peer(number, &[1])).collect();
        let first = |seed| requests(plan.clone(), &limits(50, 1), &mut Rng::new(seed))[0].peer.executor;

        assert!((1..5).any(|seed| first(seed) != first(0)));
    }
}
