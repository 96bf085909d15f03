//! The adaptor of `zip_partitions`.

use std::sync::Arc;

use firesteel_types::{PartitionId, PreferredLocations};

use super::Rows;
use crate::{
    data::Data,
    rdd::{HandleBuilder, Parent, Rdd, RddHandle},
    ship::{Func, Ship},
    task::TaskContext,
};

/// An [`Rdd`] that applies a function to the rows of the same partition of two RDDs. Made by
/// [`zip_partitions`](crate::Transform::zip_partitions).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
pub struct ZipPartitions<A, B, E, F> {
    pub(super) left: A,
    pub(super) right: B,
    pub(super) handle: RddHandle,
    pub(super) function: Func<E, F>,
}

crate::rdd::debug_as_handle!(impl[A, B, E, F] ZipPartitions<A, B, E, F>);

crate::ship!(impl[A: Ship, B: Ship, E: Data, F: 'static] ZipPartitions<A, B, E, F> { left, right, handle, function });

impl<A: Clone, B: Clone, E, F> Clone for ZipPartitions<A, B, E, F> {
    fn clone(&self) -> Self {
        Self {
            left: self.left.clone(),
            right: self.right.clone(),
            handle: self.handle.clone(),
            function: self.function.clone(),
        }
    }
}

impl<A, B, E, F, U> Rdd for ZipPartitions<A, B, E, F>
where
    A: Rdd,
    B: Rdd,
    E: Data,
    U: Data,
    F: for<'r> Fn(&'r E, Rows<'r, A::Item>, Rows<'r, B::Item>) -> Rows<'r, U> + Copy + Send + Sync + 'static,
{
    type Item = U;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> impl Iterator<Item = U> + 'a {
        let (f, env) = (self.function.function(), self.function.env());
        let left = Rows::new(self.left.compute(partition, task));
        let right = Rows::new(self.right.compute(partition, task));
        let rows = self.function.blame().on(|| f(env, left, right));
        rows.watched(task, self.handle.id())
    }
}

/// An RDD that reads the same partition of two others, near to both if that can be.
#[track_caller]
pub(super) fn zipped(operator: &'static str, left: &RddHandle, right: &RddHandle) -> HandleBuilder {
    let (n, m) = (left.partitions(), right.partitions());
    let parents = vec![Parent::one_to_one(left), Parent::one_to_one(right)];
    let handle = left.derive_into(operator, n.min(m)).parents(parents);
    if n != m {
        let why =
            format!("only RDDs with the same number of partitions can be zipped, and these have {n} and {m}");
        return handle.invalid(why);
    }
    if !left.is_located() && !right.is_located() {
        return handle;
    }
    let near = |partition| {
        let (mut one, other) = (left.preferred_places(partition), right.preferred_places(partition));
        if one.iter().any(|place| other.contains(place)) {
            one.retain(|place| other.contains(place));
        } else {
            one.extend(other);
        }
        one
    };
    handle
        .preferred(PreferredLocations::PerPartition((0..n).map(PartitionId).map(near).collect::<Arc<[_]>>()))
}
