//! A key that a table of keys is asked for: [`Sought`], at hand or where it lies.

use std::{borrow::Borrow, hash::Hash};

use crate::partitioner::hash_of;

/// A key that a table is asked for.
pub(super) trait Sought<K> {
    /// The same as that of the key in the table.
    fn hash(&self) -> u64;
    fn is(&self, key: &K) -> bool;
    /// The key for the table, which does not have it yet.
    fn into_key(self) -> K;
}

/// A key at hand.
pub(super) struct Owned<K>(pub(super) K);

impl<K: Hash + Eq> Sought<K> for Owned<K> {
    #[inline]
    fn hash(&self) -> u64 {
        hash_of(&self.0)
    }

    #[inline]
    fn is(&self, key: &K) -> bool {
        self.0 == *key
    }

    #[inline]
    fn into_key(self) -> K {
        self.0
    }
}

/// A key that lies elsewhere, in a row; copied only for a table that does not have it.
pub(super) struct Borrowed<'row, Q: ?Sized>(pub(super) &'row Q);

impl<Q: ?Sized> Clone for Borrowed<'_, Q> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q: ?Sized> Copy for Borrowed<'_, Q> {}

impl<K: Borrow<Q>, Q: ToOwned<Owned = K> + Hash + Eq + ?Sized> Sought<K> for Borrowed<'_, Q> {
    #[inline]
    fn hash(&self) -> u64 {
        hash_of(self.0)
    }

    #[inline]
    fn is(&self, key: &K) -> bool {
        *self.0 == *key.borrow()
    }

    #[inline]
    fn into_key(self) -> K {
        self.0.to_owned()
    }
}
