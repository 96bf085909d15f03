//! Which request may go next: [`Window`].
//!
//! Plain accounting without threads or time. The fetcher asks for the next request, and tells of what arrived and of
//! what the reader gave back.

use std::collections::VecDeque;

use hashbrown::HashMap;

use super::plan::{FetchLimits, Request};
use crate::transfer::PeerAddr;

/// The requests that wait, and what is on the way.
#[derive(Debug)]
pub(super) struct Window {
    limits: FetchLimits,
    waiting: VecDeque<Request>,
    /// Bytes of blocks that are asked for, or have arrived and are not released.
    bytes: u64,
    requests: usize,
    /// Blocks asked of each peer that have not arrived.
    blocks: HashMap<PeerAddr, usize>,
}

impl Window {
    pub(super) fn new(waiting: VecDeque<Request>, limits: FetchLimits) -> Self {
        Self { limits, waiting, bytes: 0, requests: 0, blocks: HashMap::new() }
    }

    /// Whether no request waits.
    pub(super) fn is_drained(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The next request that may go, which is then on the way.
    ///
    /// One that is too large for the limits goes alone. A `starved` reader waits with nothing to read: then one
    /// request goes regardless of what the reader still holds, or a reader that releases nothing would wait for ever.
    pub(super) fn next(&mut self, starved: bool) -> Option<Request> {
        // A peer that has its fill is passed over; too few free bytes stop all requests, or a large one would wait
        // until all the small ones have gone.
        let at = self.waiting.iter().position(|request| self.has_room_at(request))?;
        let bytes = self.waiting[at].bytes();
        let alone = self.requests == 0 && (self.bytes == 0 || starved);
        let fits = self.requests < self.limits.max_requests_in_flight
            && self.bytes.saturating_add(bytes) <= self.limits.max_bytes_in_flight;
        if !alone && !fits {
            return None;
        }
        let request = self.waiting.remove(at)?;
        self.bytes += bytes;
        self.requests += 1;
        *self.blocks.entry_ref(&request.peer).or_default() += request.blocks.len();
        Some(request)
    }

    fn has_room_at(&self, request: &Request) -> bool {
        let on_the_way = self.blocks.get(&request.peer).copied().unwrap_or(0);
        on_the_way == 0
            || on_the_way.saturating_add(request.blocks.len()) <= self.limits.max_blocks_per_address
    }

    /// A block arrived, or never will.
    pub(super) fn block_done(&mut self, peer: &PeerAddr) {
        if let Some(blocks) = self.blocks.get_mut(peer) {
            *blocks -= 1;
            if *blocks == 0 {
                self.blocks.remove(peer);
            }
        }
    }

    /// A request was answered in full, or given up.
    pub(super) fn request_done(&mut self) {
        self.requests -= 1;
    }

    /// The bytes of a block are no longer held.
    pub(super) fn release(&mut self, bytes: u64) {
        self.bytes -= bytes;
    }

    /// Puts a request in front of the others.
    pub(super) fn again(&mut self, request: Request) {
        self.waiting.push_front(request);
    }

    /// Nothing more goes.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use firesteel_types::{AttemptId, ExecutorId};
    use proptest::prelude::*;

    use super::*;
    use crate::{block::BlockId, shuffle::fetch::plan::Wanted};

    fn peer(number: u32) -> PeerAddr {
        PeerAddr::new(ExecutorId(number), "host", 1)
    }

    fn request(from: u32, sizes: &[u64]) -> Request {
        let block = |&size| Wanted { id: BlockId::TaskResult(AttemptId(0)), size, seen_corrupt: None };
        Request { peer: peer(from), blocks: sizes.iter().map(block).collect() }
    }

    fn window(requests: &[Request], bytes: u64, in_flight: usize, per_address: usize) -> Window {
        let limits = FetchLimits {
            max_bytes_in_flight: bytes,
            max_requests_in_flight: in_flight,
            max_blocks_per_address: per_address,
            ..FetchLimits::default()
        };
        Window::new(requests.to_vec().into(), limits)
    }

    /// Behaviours: SHUF-008.
    #[test]
    fn no_more_bytes_go_than_allowed_until_the_reader_releases_some() {
        let mut window = window(&[request(1, &[6]), request(2, &[4]), request(3, &[4])], 10, 99, 99);
        assert_eq!(window.next(false), Some(request(1, &[6])));
        assert_eq!(window.next(false), Some(request(2, &[4])));
        assert_eq!(window.next(false), None);

        window.block_done(&peer(2));
        window.request_done();
        assert_eq!(window.next(false), None, "arrived, but the reader still holds it");

        window.release(4);
        assert_eq!(window.next(false), Some(request(3, &[4])));
    }

    /// Behaviours: SHUF-008.
    #[test]
    fn a_block_above_the_limit_goes_alone() {
        let mut window = window(&[request(1, &[2]), request(2, &[50]), request(3, &[1])], 10, 99, 99);
        assert_eq!(window.next(false), Some(request(1, &[2])));
        assert_eq!(window.next(false), None, "and is not overtaken");

        window.block_done(&peer(1));
        window.request_done();
        window.release(2);
        assert_eq!(window.next(false), Some(request(2, &[50])));
        assert_eq!(window.next(false), None);
    }

    /// Behaviours: SHUF-008.
    #[test]
    fn requests_and_blocks_of_one_peer_in_flight_are_limited() {
        let mut window =
            window(&[request(1, &[1, 1]), request(1, &[1]), request(2, &[1]), request(3, &[1])], 99, 2, 2);
        assert_eq!(window.next(false), Some(request(1, &[1, 1])));
        assert_eq!(window.next(false), Some(request(2, &[1])), "the first peer has its fill");
        assert_eq!(window.next(false), None, "two requests are on the way");

        window.block_done(&peer(2));
        window.request_done();
        assert_eq!(window.next(false), Some(request(3, &[1])));
        window.block_done(&peer(3));
        window.request_done();
        window.block_done(&peer(1));
        assert_eq!(window.next(false), Some(request(1, &[1])));
    }

    #[test]
    fn a_starved_reader_that_holds_everything_gets_one_request_at_a_time() {
        let mut window = window(&[request(1, &[10]), request(2, &[10]), request(3, &[10])], 10, 99, 99);
        window.next(false);
        assert_eq!(window.next(true), None, "something is on the way");
        window.block_done(&peer(1));
        window.request_done();

        assert_eq!(window.next(false), None);
        assert_eq!(window.next(true), Some(request(2, &[10])));
        assert_eq!(window.next(true), None);
    }

    proptest! {
        #[test]
        fn whatever_the_limits_every_request_goes_in_the_end_and_no_limit_is_broken(
            sizes in prop::collection::vec((0_u32..4, prop::collection::vec(1_u64..30, 1..5)), 1..30),
            bytes in 0_u64..60,
            in_flight in 0_usize..4,
            per_address in 0_usize..6,
        ) {
            let all: Vec<_> = sizes.iter().map(|(from, sizes)| request(*from, sizes)).collect();
            let mut window = window(&all, bytes, in_flight, per_address);
            let mut on_the_way: VecDeque<Request> = VecDeque::new();
            let mut gone = 0;
            while !window.is_drained() || !on_the_way.is_empty() {
                while let Some(request) = window.next(false) {
                    gone += 1;
                    on_the_way.push_back(request);
                    let held: u64 = on_the_way.iter().map(Request::bytes).sum();
                    prop_assert!(on_the_way.len() == 1 || (held <= bytes && on_the_way.len() <= in_flight));
                }
                let done = on_the_way.pop_front().expect("with nothing on the way something may go");
                for block in &done.blocks {
                    window.block_done(&done.peer);
                    window.release(block.size);
                }
                window.request_done();
            }
            prop_assert_eq!(gone, all.len());
            prop_assert_eq!((window.bytes, window.requests, window.blocks.len()), (0, 0, 0));
        }
    }
}
