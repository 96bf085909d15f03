//! Memory for blocks, by the byte: the budget ([`StorageMemory`]), a part of it ([`Reservation`]) and a part that grows
//! while rows come in ([`Unroll`]).
//!
//! How the budget is divided is not decided here.

use std::{fmt, mem, sync::Arc};

use firesteel_types::RddId;

/// The budget that blocks in memory are charged to.
///
/// Where it is short, `acquire` asks the [`MemoryStore`](super::MemoryStore) to
/// [evict](super::MemoryStore::evict), which calls `release` for each block that goes; so it must not call the store with
/// a lock that `release` needs.
pub trait StorageMemory: Send + Sync {
    /// Takes all of `bytes` or nothing, for a block of `for_rdd` if it belongs to one; returns whether it did.
    fn acquire(&self, bytes: u64, for_rdd: Option<RddId>) -> bool;

    /// Gives `bytes` back.
    fn release(&self, bytes: u64);
}

/// Memory that was acquired and belongs to no block yet. Given back when dropped.
pub struct Reservation {
    memory: Arc<dyn StorageMemory>,
    bytes: u64,
}

impl Reservation {
    /// Acquires `bytes`, or nothing.
    pub fn acquire(memory: &Arc<dyn StorageMemory>, bytes: u64, for_rdd: Option<RddId>) -> Option<Self> {
        memory.acquire(bytes, for_rdd).then(|| Self { memory: memory.clone(), bytes })
    }

    /// How many bytes it holds.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Leaves the memory to its new owner, who gives it back.
    pub(super) fn hand_over(mut self) -> u64 {
        mem::take(&mut self.bytes)
    }

    /// Makes it hold exactly `bytes`, if the budget allows.
    fn resize(&mut self, bytes: u64, for_rdd: Option<RddId>) -> bool {
        if bytes > self.bytes {
            if !self.memory.acquire(bytes - self.bytes, for_rdd) {
                return false;
            }
        } else {
            self.memory.release(self.bytes - bytes);
        }
        self.bytes = bytes;
        true
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.memory.release(self.bytes);
        }
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Reservation").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// Memory for a block whose size is known only when all its rows are there.
///
/// The collector of the rows reports after each how large they are by now, and stops keeping them when told that they
/// do not fit. Dropped, it gives everything back.
#[derive(Debug)]
pub struct Unroll {
    reserved: Reservation,
    for_rdd: Option<RddId>,
}

impl Unroll {
    /// What is reserved before the first row.
    pub const INITIAL_BYTES: u64 = 1024 * 1024;
    /// After how many rows the size is looked at.
    pub const ROWS_PER_CHECK: u64 = 16;

    /// Reserves memory for the first rows; `None` if not even that is there.
    pub fn start(memory: &Arc<dyn StorageMemory>, for_rdd: Option<RddId>) -> Option<Self> {
        Self::start_with(memory, Self::INITIAL_BYTES, for_rdd)
    }

    /// The same for rows of which it is known that they take so much at least.
    pub fn start_with(memory: &Arc<dyn StorageMemory>, bytes: u64, for_rdd: Option<RddId>) -> Option<Self> {
        let reserved = Reservation::acquire(memory, bytes, for_rdd)?;
        Some(Self { reserved, for_rdd })
    }

    /// Whether `bytes_so_far` fit; grows to half as much again when they have outgrown what is reserved.
    pub fn check(&mut self, bytes_so_far: u64) -> bool {
        bytes_so_far < self.reserved.bytes
            || self.reserved.resize(bytes_so_far.saturating_add(bytes_so_far / 2), self.for_rdd)
    }

    /// Ends with a block of exactly `bytes`. If it does not fit, what is reserved comes back: the rows may still be there.
    pub fn finish(mut self, bytes: u64) -> Result<Reservation, Self> {
        if self.reserved.resize(bytes, self.for_rdd) { Ok(self.reserved) } else { Err(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::testing::Budget;

    const MIB: u64 = 1024 * 1024;

    fn memory(bytes: u64) -> (Arc<Budget>, Arc<dyn StorageMemory>) {
        let budget = Arc::new(Budget::new(bytes));
        (budget.clone(), budget)
    }

    /// Behaviours: BLK-008.
    #[test]
    fn unrolling_starts_with_a_mebibyte_and_grows_by_half() {
        let (budget, memory) = memory(10 * MIB);
        let mut unroll = Unroll::start(&memory, None).unwrap();
        assert_eq!(budget.used(), MIB);

        for rows in [16, 32, 48] {
            assert!(unroll.check(rows * 60_000));
        }

        assert_eq!(budget.used(), 48 * 60_000 * 3 / 2, "half as much again as there was at the look");
    }

    /// Behaviours: BLK-008.
    #[test]
    fn what_does_not_fit_is_refused_and_all_memory_comes_back() {
        let (budget, memory) = memory(4 * MIB);
        let mut unroll = Unroll::start(&memory, None).unwrap();

        assert!(unroll.check(2 * MIB));
        assert!(!unroll.check(3 * MIB), "4.5 MiB are not there");
        assert_eq!(budget.used(), 3 * MIB, "a refusal costs nothing");
        drop(unroll);

        assert_eq!(budget.used(), 0);
    }

    /// Behaviours: BLK-008.
    #[test]
    fn the_end_keeps_what_the_block_takes_and_returns_the_rest() {
        let (budget, memory) = memory(4 * MIB);
        let fits = Unroll::start(&memory, None).unwrap().finish(100).unwrap();
        assert_eq!((fits.bytes(), budget.used()), (100, 100));
        let grows = Unroll::start(&memory, None).unwrap().finish(2 * MIB).unwrap();
        assert_eq!(budget.used(), 2 * MIB + 100);
        let too_large = Unroll::start(&memory, None).unwrap().finish(3 * MIB).unwrap_err();
        assert_eq!(budget.used(), 3 * MIB + 100, "what is reserved stays so");
        drop(too_large);
        assert_eq!(budget.used(), 2 * MIB + 100);

        drop((fits, grows));

        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn without_a_mebibyte_nothing_is_unrolled() {
        let (budget, memory) = memory(MIB - 1);

        assert!(Unroll::start(&memory, None).is_none());
        assert_eq!(budget.used(), 0);
    }
}
