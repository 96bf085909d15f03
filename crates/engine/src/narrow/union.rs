//! The adaptors of `union`.

use std::sync::Arc;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use firesteel_types::{NarrowMap, PartitionId, PreferredLocations, TaskLocation};

use super::BoxRdd;
use crate::{
    Context,
    data::Data,
    rdd::{HandleBuilder, Parent, Rdd, RddHandle},
    ship::Ship,
    task::TaskContext,
};

/// An [`Rdd`] of the rows of two RDDs. Made by [`union`](crate::Transform::union).
///
/// A narrow dependency: the partitions of both, one after the other; or, if both are partitioned alike, partition *i* of
/// both together, and the partitioner is kept.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Union<A, B> {
    left: A,
    right: B,
    handle: RddHandle,
    layout: Layout,
}

crate::rdd::debug_as_handle!(impl[A, B] Union<A, B>);

crate::ship!(impl[A: Ship, B: Ship] Union<A, B> { left, right, handle; values layout });

impl<A: Rdd, B: Rdd<Item = A::Item>> Union<A, B> {
    #[track_caller]
    pub(super) fn new(left: &A, right: &B) -> Self {
        let (handle, layout) =
            arrange(left.handle().derive_into("union", 0), &[left.handle(), right.handle()]);
        Self { left: left.clone(), right: right.clone(), handle, layout }
    }
}

impl<A: Rdd, B: Rdd<Item = A::Item>> Rdd for Union<A, B> {
    type Item = A::Item;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = A::Item> + 'a {
        let left = self.layout.find(0, self.left.num_partitions(), partition);
        let right = self.layout.find(1, self.right.num_partitions(), partition);
        let left = left.into_iter().flat_map(move |partition| self.left.compute(partition, task));
        left.chain(right.into_iter().flat_map(move |partition| self.right.compute(partition, task)))
    }
}

/// An [`Rdd`] of the rows of any number of RDDs. Made by [`Context::union`].
///
/// As [`Union`], for RDDs whose number is not known when the program is compiled.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct UnionMany<T: Data> {
    inputs: Vec<BoxRdd<T>>,
    handle: RddHandle,
    layout: Layout,
}

crate::rdd::debug_as_handle!(impl[T: Data] UnionMany<T>);

crate::ship!(impl[T: Data] UnionMany<T> { inputs, handle; values layout });

impl Context {
    /// All rows of several RDDs. See [`Transform::union`](crate::Transform::union).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let days = (0..3).map(|day| ctx.range(day * 10..day * 10 + 2).boxed()).collect();
    /// assert_eq!(ctx.union(days).collect()?, [0, 1, 10, 11, 20, 21]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn union<T: Data>(&self, rdds: Vec<BoxRdd<T>>) -> UnionMany<T> {
        let handles: Vec<_> = rdds.iter().map(Rdd::handle).collect();
        let (handle, layout) = arrange(RddHandle::builder(self.driver(), "union", 0), &handles);
        UnionMany { inputs: rdds, handle, layout }
    }
}

impl<T: Data> Rdd for UnionMany<T> {
    type Item = T;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = T> + 'a {
        let inputs = self.inputs.iter().enumerate();
        inputs.flat_map(move |(index, input)| {
            let partition = self.layout.find(index, input.num_partitions(), partition);
            partition.into_iter().flat_map(move |partition| input.rows(partition, task))
        })
    }
}

/// How the partitions of a union come from those of its inputs.
#[derive(Clone, Serialize, Deserialize)]
enum Layout {
    /// Partition *i* is every partition *i*.
    Aligned,
    /// The partitions of each input begin here.
    Concatenated(Vec<u32>),
}

impl Layout {
    /// The partition of an input, which has `partitions`, that is part of a partition of the union.
    fn find(&self, input: usize, partitions: u32, partition: PartitionId) -> Option<PartitionId> {
        let start = match self {
            Self::Aligned => 0,
            Self::Concatenated(starts) => starts[input],
        };
        partition.0.checked_sub(start).filter(|index| *index < partitions).map(PartitionId)
    }
}

/// Lays out the partitions of a union. Inputs without partitions have no influence.
fn arrange(builder: HandleBuilder, inputs: &[&RddHandle]) -> (RddHandle, Layout) {
    let filled: Vec<&RddHandle> = inputs.iter().copied().filter(|input| input.partitions() > 0).collect();
    if let Some((first, others)) = filled.split_first()
        && inputs.iter().all(|input| input.invalid().is_none())
        && let Some(shared) = first.partitioner()
        && others
            .iter()
            .all(|other| other.partitioner() == Some(shared) && other.partitions() == first.partitions())
    {
        let parents = filled.iter().map(|input| Parent::one_to_one(input)).collect();
        let builder = builder.partitions(first.partitions()).parents(parents);
        let builder = builder.partitioner(Some(shared.clone())).preferred(nearest_to_most(&filled));
        return (builder.build(), Layout::Aligned);
    }
    let (mut parents, mut starts, mut end) = (Vec::new(), Vec::new(), 0_u64);
    for input in inputs {
        let start = u32::try_from(end).unwrap_or(u32::MAX);
        let len = input.partitions();
        starts.push(start);
        end += u64::from(len);
        // An input that was asked for wrongly has no partitions, but still explains itself.
        if len > 0 || input.invalid().is_some() {
            let map = NarrowMap::Range { parent_start: 0, child_start: start, len };
            parents.push(Parent::Narrow((*input).clone(), map));
        }
    }
    let builder = builder.parents(parents);
    let builder = match u32::try_from(end) {
        Ok(partitions) => builder.partitions(partitions),
        Err(_) => {
            builder.invalid(format!("{end} partitions are more than {}: coalesce the inputs first", u32::MAX))
        }
    };
    (builder.build(), Layout::Concatenated(starts))
}

/// For each partition the place that most inputs prefer, the first of them if several do.
fn nearest_to_most(inputs: &[&RddHandle]) -> PreferredLocations {
    if !inputs.iter().any(|input| input.is_located()) {
        return PreferredLocations::None;
    }
    let nearest = |partition: u32| {
        let places = inputs.iter().flat_map(|input| input.preferred_places(PartitionId(partition)));
        let mut votes: HashMap<TaskLocation, (usize, usize)> = HashMap::new();
        for (order, place) in places.enumerate() {
            votes.entry(place).or_insert((0, order)).0 += 1;
        }
        let best = votes.into_iter().max_by_key(|(_, (votes, order))| (*votes, usize::MAX - order));
        best.map(|(place, _)| place).into_iter().collect::<Vec<_>>()
    };
    PreferredLocations::PerPartition((0..inputs[0].partitions()).map(nearest).collect::<Arc<[_]>>())
}
