//! Combining the values of a key, on either side of a shuffle.

use std::{hash::Hash, marker::PhantomData, mem};

use hashbrown::{HashTable, hash_table::Entry};

use super::Combiner;
use crate::{
    data::Data,
    executor::TaskContext,
    partitioner::{KeyPartitioner, hash_of},
    ship::{Frozen, Ship, ShipError, Thawing},
    shuffle::{Buckets, MapSide},
};

/// The combined value of each key seen so far.
pub(crate) struct Combine<K, C>(HashTable<(K, C)>);

impl<K: Hash + Eq, C: Clone> Combine<K, C> {
    pub(crate) fn with_capacity(keys: usize) -> Self {
        Self(HashTable::with_capacity(keys))
    }

    /// Brings `value` in: `create` makes the first combined value of a key, `add` the next ones.
    #[inline]
    pub(crate) fn bring<V>(
        &mut self,
        key: K,
        value: V,
        create: impl FnOnce(V) -> C,
        add: impl FnOnce(C, V) -> C,
    ) {
        match self.entry(&key) {
            Entry::Vacant(entry) => drop(entry.insert((key, create(value)))),
            Entry::Occupied(entry) => replace(entry, |combined| add(combined, value)),
        }
    }

    /// The same with a borrowed key, which is cloned only when it is new.
    #[inline]
    pub(crate) fn bring_borrowed<V>(
        &mut self,
        key: &K,
        value: V,
        create: impl FnOnce(V) -> C,
        add: impl FnOnce(C, V) -> C,
    ) where
        K: Clone,
    {
        match self.entry(key) {
            Entry::Vacant(entry) => drop(entry.insert((key.clone(), create(value)))),
            Entry::Occupied(entry) => replace(entry, |combined| add(combined, value)),
        }
    }

    #[inline]
    fn entry(&mut self, key: &K) -> Entry<'_, (K, C)> {
        self.0.entry(hash_of(key), |row| row.0 == *key, |row| hash_of(&row.0))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn into_rows(self) -> impl Iterator<Item = (K, C)> {
        self.0.into_iter()
    }
}

/// Puts what `change` makes of the combined value in its place.
#[inline]
fn replace<K, C: Clone>(
    mut entry: hashbrown::hash_table::OccupiedEntry<'_, (K, C)>,
    change: impl FnOnce(C) -> C,
) {
    if mem::needs_drop::<C>() {
        // Moved out and in again, since a clone could be expensive; safe if `change` panics.
        entry.replace_entry_with(|(key, combined)| Some((key, change(combined))));
    } else {
        // Nothing to drop means nothing owned, so a clone is a copy of a few bytes.
        let combined = &mut entry.get_mut().1;
        *combined = change(combined.clone());
    }
}

/// The map side of a shuffle whose values are combined before they are dealt.
pub(crate) struct MapSideCombine<K, V, A> {
    pub(crate) combiner: A,
    pub(crate) partitioner: KeyPartitioner<K>,
    pub(crate) value: PhantomData<fn() -> V>,
}

impl<K: 'static, V: 'static, A: Ship> Ship for MapSideCombine<K, V, A> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.combiner.freeze(out)?;
        self.partitioner.freeze(out)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let (combiner, partitioner) = (A::thaw(input)?, KeyPartitioner::thaw(input)?);
        Ok(Self { combiner, partitioner, value: PhantomData })
    }
}

impl<K: Data + Hash + Eq, V: Data, A: Combiner<V>> MapSide<(K, V)> for MapSideCombine<K, V, A> {
    type Row = (K, A::Combined);

    fn deal(&self, rows: impl Iterator<Item = (K, V)>, _task: &TaskContext) -> Buckets<Self::Row> {
        let mut combined = Combine::with_capacity(0);
        let (create, add) = (|value| self.combiner.create(value), |one, value| self.combiner.add(one, value));
        rows.for_each(|(key, value)| combined.bring(key, value, create, add));
        let mut buckets = Buckets::new(self.partitioner.num_partitions());
        buckets.reserve(combined.len());
        combined.into_rows().for_each(|row| buckets.push(self.partitioner.partition_inline(&row.0), row));
        buckets
    }
}
