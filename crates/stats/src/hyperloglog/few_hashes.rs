//! A set of hashes while they are few: exact, and smaller than the registers would be.

use serde::{Deserialize, Serialize};

/// The mark of an empty slot, which no hash in the set has.
const EMPTY: u64 = 0;

/// Slots of the first table.
const SLOTS_MIN: usize = 4;

/// An open-addressing set of hashes: a slot is the hash itself, and a hash's place comes from its low bits.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct FewHashes {
    slots: Vec<u64>,
    len: usize,
}

/// The set would need a larger table than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl FewHashes {
    /// How many different hashes are in the set.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Puts a hash other than 0 into the set, unless that takes a table of more than `slots_max`.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64, slots_max: usize) -> Result<(), Full> {
        debug_assert_ne!(hash, EMPTY);
        if self.slots.is_empty() {
            self.grow(SLOTS_MIN, slots_max)?;
        }
        let mut place = self.place(hash);
        if self.slots[place] == hash {
            return Ok(());
        }
        // Three quarters full at most: then a probe is short.
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            self.grow(self.slots.len() * 2, slots_max)?;
            place = self.place(hash);
        }
        self.slots[place] = hash;
        self.len += 1;
        Ok(())
    }

    /// The hashes in the set.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.slots.iter().copied().filter(|&hash| hash != EMPTY)
    }

    /// The slot that holds the hash, or the empty one where it belongs.
    #[inline]
    fn place(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        while self.slots[place] != EMPTY && self.slots[place] != hash {
            place = (place + 1) & mask;
        }
        place
    }

    #[cold]
    fn grow(&mut self, slots: usize, slots_max: usize) -> Result<(), Full> {
        if slots > slots_max {
            return Err(Full);
        }
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; slots]);
        for hash in old.into_iter().filter(|&hash| hash != EMPTY) {
            let place = self.place(hash);
            self.slots[place] = hash;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_set_that_may_not_grow_is_full_at_three_quarters_and_still_knows_its_hashes() {
        let mut set = FewHashes::default();

        let outcomes: Vec<_> = (1..=5).map(|hash| set.insert(hash, 4)).collect();

        assert_eq!(outcomes, [Ok(()), Ok(()), Ok(()), Err(Full), Err(Full)]);
        assert_eq!((set.insert(2, 4), set.len()), (Ok(()), 3));
        assert_eq!(FewHashes::default().insert(1, 2), Err(Full), "not even a first table");
    }

    proptest! {
        #[test]
        fn the_set_holds_what_was_put_into_it(hashes in prop::collection::vec(1..60_u64, 0..300)) {
            let mut set = FewHashes::default();
            for &hash in &hashes {
                // Multiples of 64 collide in small tables.
                prop_assert_eq!(set.insert(hash * 64, 1 << 10), Ok(()));
            }

            let model: BTreeSet<u64> = hashes.iter().map(|hash| hash * 64).collect();
            prop_assert_eq!(set.len(), model.len());
            prop_assert_eq!(set.iter().collect::<BTreeSet<_>>(), model);
        }
    }
}
