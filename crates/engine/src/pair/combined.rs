//! The adaptor of everything that combines the values of each key.

use std::{hash::Hash, marker::PhantomData};

use firesteel_types::PartitionId;

use super::{Combiner, Input, MapSideCombine};
use crate::{
    data::Data,
    partitioner::KeyPartitioner,
    rdd::{HandleBuilder, Rdd, RddHandle},
    shuffle::Batch,
    spill::{Fold, SpillTable},
    task::TaskContext,
};

/// An [`Rdd`] with one combined value for each key. Made by [`reduce_by_key`](crate::PairRdd::reduce_by_key) and its
/// relatives.
///
/// Values are combined in the map tasks, shuffled, and combined again; or combined in place, without a shuffle, when
/// the parent is partitioned by key already.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
pub struct Combined<K: Data, V: Data, A: Combiner<V>> {
    handle: RddHandle,
    input: Input<(K, V), (K, A::Combined)>,
    combiner: A,
}

crate::rdd::debug_as_handle!(impl[K: Data, V: Data, A: Combiner<V>] Combined<K, V, A>);

crate::ship!(impl[K: Data, V: Data, A: Combiner<V>] Combined<K, V, A> { handle, input, combiner });

impl<K: Data, V: Data, A: Combiner<V>> Clone for Combined<K, V, A> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), input: self.input.clone(), combiner: self.combiner.clone() }
    }
}

impl<K: Data + Hash + Eq, V: Data, A: Combiner<V>> Combined<K, V, A> {
    /// Combines the values of `parent`; `combiner` gets the id of the new RDD, whose operator its functions are.
    #[track_caller]
    pub(crate) fn new<R: Rdd<Item = (K, V)>>(
        parent: &R,
        operator: &'static str,
        partitioner: &KeyPartitioner<K>,
        combiner: impl FnOnce(firesteel_types::RddId) -> A,
    ) -> Self {
        let builder = parent.handle().derive_into(operator, partitioner.num_partitions());
        let builder = builder.partitioner(Some(partitioner.erased()));
        let combiner = combiner(builder.id());
        let input = Input::new(parent, partitioner, false, || MapSideCombine {
            combiner: combiner.clone(),
            partitioner: partitioner.clone(),
            value: PhantomData,
        });
        Self::reading(builder, input, combiner)
    }

    /// Combines what `input` brings.
    pub(super) fn reading(
        builder: HandleBuilder,
        input: Input<(K, V), (K, A::Combined)>,
        combiner: A,
    ) -> Self {
        Self { handle: builder.parents(vec![input.parent()]).build(), input, combiner }
    }
}

impl<K: Data + Hash + Eq, V: Data, A: Combiner<V>> Rdd for Combined<K, V, A> {
    type Item = (K, A::Combined);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = Self::Item> + 'a {
        let how = &self.combiner;
        let fold = Merging(how, PhantomData);
        let combined = match &self.input {
            Input::Narrow(parent) => {
                let mut combined = SpillTable::new(fold, 0, "combining by key", task);
                let (create, add) = (|value| how.create(value), |one, value| how.add(one, value));
                parent
                    .compute(partition, task)
                    .for_each(|(key, value)| combined.bring(key, value, create, add));
                combined
            }
            Input::Shuffle(read) => {
                let blocks = read.blocks(partition, task);
                // At least as many keys as the largest block has: each block has every key once.
                let mut combined = SpillTable::new(fold, blocks.most_rows(task), "combining by key", task);
                let merge = |one, two| how.merge(one, two);
                blocks.for_each(task, |batch| match batch {
                    Batch::Lent(rows) => {
                        for (key, value) in rows {
                            combined.bring_borrowed(key, value.clone(), |value| value, merge);
                        }
                    }
                    Batch::Owned(rows) => {
                        for (key, value) in rows {
                            combined.bring(key, value, |value| value, merge);
                        }
                    }
                });
                combined
            }
        };
        combined.into_rows()
    }
}

/// Merges combined values that were spilled.
struct Merging<'a, V, A>(&'a A, PhantomData<fn() -> V>);

impl<V, A> Clone for Merging<'_, V, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V, A> Copy for Merging<'_, V, A> {}

impl<V, A: Combiner<V>> Fold for Merging<'_, V, A> {
    type Row = A::Combined;
    type State = A::Combined;

    #[inline]
    fn start(&self, row: A::Combined) -> A::Combined {
        row
    }

    #[inline]
    fn add(&self, one: A::Combined, two: A::Combined) -> A::Combined {
        self.0.merge(one, two)
    }

    fn unload(&self, combined: A::Combined, mut each: impl FnMut(A::Combined)) {
        each(combined);
    }
}
