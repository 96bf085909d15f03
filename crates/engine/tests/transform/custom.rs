//! RDDs that the engine does not know.

use firesteel::{NarrowMap, Parent, PartitionId, RddHandle, Ship, prelude::*, ship};

use crate::support::each_backend;

/// Counts down to zero in every partition.
#[derive(Clone)]
pub(crate) struct Countdown {
    pub(crate) handle: RddHandle,
    pub(crate) from: u32,
}

ship!(impl[] Countdown { handle; values from });

impl Rdd for Countdown {
    type Item = u32;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, _: PartitionId, _: &'a TaskContext) -> impl Iterator<Item = u32> + 'a {
        (0..=self.from).rev()
    }
}

/// The partitions of its parent, the last one first.
#[derive(Clone)]
struct Reversed<R> {
    parent: R,
    handle: RddHandle,
}

ship!(impl[R: Ship] Reversed<R> { parent, handle });

impl<R: Rdd> Reversed<R> {
    fn new(parent: R, map: NarrowMap) -> Self {
        let before = parent.handle();
        let parents = vec![Parent::Narrow(before.clone(), map)];
        let handle = before.derive_into("reversed", before.partitions()).parents(parents).build();
        Self { parent, handle }
    }
}

impl<R: Rdd> Rdd for Reversed<R> {
    type Item = R::Item;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        split: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = R::Item> + 'a {
        self.parent.compute(PartitionId(self.num_partitions() - 1 - split.0), task)
    }
}

#[test]
fn a_source_of_the_users_own_runs_like_any_other() {
    each_backend(|ctx| {
        let source = Countdown { handle: ctx.new_rdd("countdown", 2).build(), from: 2 };

        assert_eq!(source.map(|x| x * 2).collect().unwrap(), [4, 2, 0, 4, 2, 0]);
        assert!(
            source.name().starts_with("countdown at ") && source.name().contains("custom.rs"),
            "{}",
            source.name()
        );
        let sums = source.map(|x| (x, 1)).reduce_by_key(|a, b| a + b).filter(|(_, n)| *n == 2);
        assert_eq!(sums.count().unwrap(), 3);
    });
}

#[test]
fn an_operator_of_the_users_own_reads_the_partitions_that_it_names() {
    each_backend(|ctx| {
        let rows = ctx.parallelize_into((0..6).collect(), 3);
        let map = NarrowMap::Listed((0..3).rev().map(|partition| vec![partition]).collect());

        assert_eq!(Reversed::new(rows, map).collect().unwrap(), [4, 5, 2, 3, 0, 1]);
    });
}

/// Behaviours: RDD-024.
#[test]
fn an_operator_that_names_a_partition_which_is_not_there_is_refused() {
    each_backend(|ctx| {
        let rows = ctx.parallelize_into((0..6).collect::<Vec<u32>>(), 3);
        let map = NarrowMap::Listed((1..4).rev().map(|partition| vec![partition]).collect());

        let error = Reversed::new(rows, map).collect().unwrap_err().to_string();
        assert!(error.contains("reversed at ") && error.contains("partition 0 reads one"), "{error}");
    });
}
