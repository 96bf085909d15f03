//! A key that a table of keys is asked for: [`Lookup`], at hand or where it lies.

use std::{borrow::Borrow, hash::Hash};

use crate::partitioner::hash_of;

/// A key that a table is asked for.
pub(crate) trait Lookup<K> {
    /// The same as that of the key in the table.
    fn hash(&self) -> u64;
    fn is(&self, key: &K) -> bool;
    /// The key for the table, which does not have it yet.
    fn into_key(self) -> K;
}

/// A key at hand.
pub(crate) struct Owned<K>(pub(crate) K);

impl<K: Hash + Eq> Lookup<K> for Owned<K> {
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
pub(crate) struct Borrowed<'row, Q: ?Sized>(pub(crate) &'row Q);

impl<Q: ?Sized> Clone for Borrowed<'_, Q> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q: ?Sized> Copy for Borrowed<'_, Q> {}

impl<K: Borrow<Q>, Q: ToOwned<Owned = K> + Hash + Eq + ?Sized> Lookup<K> for Borrowed<'_, Q> {
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
