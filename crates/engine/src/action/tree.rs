//! Aggregation in a tree: results of partitions are merged on executors, level by level, before the driver gets them.

use std::sync::Arc;

use firesteel_types::PartitionId;
use serde::{Deserialize, Serialize};

use super::collect::Collect;
use crate::{
    Result,
    data::Data,
    job::{Call, JobFunction, JobHandle},
    narrow::{BoxRdd, Transform},
    pair::{Combined, Reduce},
    partitioner::{KeyPartitioner, Partitioner},
    rdd::{Rdd, RddHandle},
    ship::{Func, Ship},
    task::TaskContext,
};
use firesteel_stats::{TreeDepthError, tree_levels};

/// An [`Rdd`] with one row for each partition of its parent: what a job function makes of it, with its index as key.
pub(super) struct PerPartition<R, J> {
    parent: R,
    handle: RddHandle,
    function: J,
}

crate::ship!(impl[R: Ship, J: Ship] PerPartition<R, J> { parent, handle, function });

impl<R: Clone, J: Clone> Clone for PerPartition<R, J> {
    fn clone(&self) -> Self {
        Self { parent: self.parent.clone(), handle: self.handle.clone(), function: self.function.clone() }
    }
}

impl<R, J, U> Rdd for PerPartition<R, J>
where
    R: Rdd,
    U: Data,
    J: JobFunction<R::Item, Output = U> + Clone,
{
    type Item = (u32, U);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = (u32, U)> + 'a {
        let rows = self.parent.compute(partition, task);
        std::iter::once((partition.0, self.function.run(rows, task)))
    }
}

/// Deals keys that are the indices of partitions.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct ByIndex(u32);

impl Partitioner<u32> for ByIndex {
    fn num_partitions(&self) -> u32 {
        self.0
    }

    fn partition(&self, key: &u32) -> u32 {
        *key
    }
}

/// The shape of a tree.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// About how many levels it has.
    pub(super) depth: u32,
    /// Where its root is.
    pub(super) last: LastStep,
}

/// Where the last results are merged.
#[derive(Clone, Copy)]
pub(super) enum LastStep {
    OnDriver,
    /// In one more task, so that the driver gets one result only.
    OnExecutor,
}

impl Shape {
    /// Into how many partitions each level merges.
    fn levels(self, partitions: u32) -> std::result::Result<Vec<u32>, TreeDepthError> {
        let mut levels = tree_levels(partitions, self.depth)?;
        match self.last {
            LastStep::OnExecutor if *levels.last().unwrap_or(&partitions) > 1 => levels.push(1),
            LastStep::OnExecutor | LastStep::OnDriver => (),
        }
        Ok(levels)
    }
}

impl Call {
    /// Runs `function` on every partition and merges the results with `merge` in a tree of this shape; the last
    /// results go to `finish`.
    #[track_caller]
    pub(super) fn tree<R, J, U, E, F, T>(
        self,
        rdd: &R,
        (function, merge, env): (J, F, Arc<E>),
        shape: Shape,
        finish: impl FnOnce(Vec<U>) -> Result<T> + Send + 'static,
    ) -> JobHandle<T>
    where
        R: Rdd,
        U: Data,
        E: Data,
        T: Send + 'static,
        J: JobFunction<R::Item, Output = U> + Clone,
        F: Fn(&E, U, U) -> U + Copy + Send + Sync + 'static,
    {
        let levels = match shape.levels(rdd.num_partitions()) {
            Ok(levels) => levels,
            Err(error) => return self.refuse(error),
        };
        if levels.is_empty() {
            return self.run(rdd, function, finish);
        }
        let handle = rdd.handle().derive(self.action).build();
        let mut merged: BoxRdd<(u32, U)> =
            BoxRdd::new(PerPartition { parent: rdd.clone(), handle, function });
        for partitions in levels {
            let dealt = merged.with(partitions).map(|partitions, (index, value)| (index % partitions, value));
            let partitioner = KeyPartitioner::custom(ByIndex(partitions));
            let reduced = Combined::new(&dealt, self.action, &partitioner, |id| Reduce {
                function: Func::new(env.clone(), merge, id),
            });
            merged = BoxRdd::new(reduced);
        }
        self.run(&merged, Collect, |parts| {
            finish(parts.into_iter().flatten().map(|(_, value)| value).collect())
        })
    }
}
