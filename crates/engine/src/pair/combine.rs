//! Combining the values of a key, on either side of a shuffle.

use std::{hash::Hash, marker::PhantomData, mem};

use foldhash::fast::FixedState;
use hashbrown::{HashMap, hash_map::Entry};

use crate::{
    data::Data,
    executor::TaskContext,
    partitioner::KeyPartitioner,
    ship::{Frozen, Func, Ship, ShipError, Thawing},
    shuffle::{Buckets, MapSide},
};

/// How the values of one key become one combined value.
pub trait Combiner<V>: Ship + Clone + Send + Sync + 'static {
    /// The combined value.
    type Combined: Data;

    /// From the first value.
    fn create(&self, value: V) -> Self::Combined;
    /// With one more value.
    fn add(&self, combined: Self::Combined, value: V) -> Self::Combined;
    /// With the combined value of another map task.
    fn merge(&self, one: Self::Combined, two: Self::Combined) -> Self::Combined;
}

/// Values of the same type, combined two by two.
pub(crate) struct Reduce<E, F>(pub(crate) Func<E, F>);

impl<E, F> Clone for Reduce<E, F> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<E: Data, F: 'static> Ship for Reduce<E, F> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.0.freeze(out)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Func::thaw(input).map(Self)
    }
}

impl<V: Data, E: Data, F: Fn(&E, V, V) -> V + Copy + Send + Sync + 'static> Combiner<V> for Reduce<E, F> {
    type Combined = V;

    #[inline]
    fn create(&self, value: V) -> V {
        value
    }

    #[inline]
    fn add(&self, combined: V, value: V) -> V {
        self.0.blame().on(|| self.0.function()(self.0.env(), combined, value))
    }

    #[inline]
    fn merge(&self, one: V, two: V) -> V {
        self.add(one, two)
    }
}

/// The combined value of each key seen so far.
pub(crate) struct Combine<K, C>(HashMap<K, C, FixedState>);

impl<K: Hash + Eq, C: Clone> Combine<K, C> {
    pub(crate) fn with_capacity(keys: usize) -> Self {
        Self(HashMap::with_capacity_and_hasher(keys, FixedState::default()))
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
        match self.0.entry(key) {
            Entry::Vacant(entry) => drop(entry.insert(create(value))),
            Entry::Occupied(mut entry) => {
                if mem::needs_drop::<C>() {
                    // Moved out and in again, since a clone could be expensive; safe if `add` panics.
                    entry.replace_entry_with(|_, combined| Some(add(combined, value)));
                } else {
                    // Nothing to drop means nothing owned, so a clone is a copy of a few bytes.
                    let combined = entry.get().clone();
                    *entry.get_mut() = add(combined, value);
                }
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn into_rows(self) -> impl Iterator<Item = (K, C)> {
        self.0.into_iter()
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
        combined.into_rows().for_each(|row| buckets.push(self.partitioner.partition(&row.0), row));
        buckets
    }
}
