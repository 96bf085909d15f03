//! Random pairs, and what can be seen of an RDD from outside.

use std::{collections::BTreeMap, fmt::Debug};

use firesteel::{Parent, RddHandle, prelude::*};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use crate::support::each_backend;

/// Pairs and the numbers of partitions that they are put into and brought to.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) pairs: Vec<(u32, i64)>,
    pub(crate) inputs: u32,
    pub(crate) outputs: u32,
}

impl Case {
    pub(crate) fn rdd(&self, ctx: &Context) -> impl Rdd<Item = (u32, i64)> {
        ctx.parallelize_into(self.pairs.clone(), self.inputs)
    }

    /// The values of each key, in their order.
    pub(crate) fn groups(&self) -> BTreeMap<u32, Vec<i64>> {
        let mut groups = BTreeMap::<u32, Vec<i64>>::new();
        self.pairs.iter().for_each(|&(key, value)| groups.entry(key).or_default().push(value));
        groups
    }

    pub(crate) fn sums(&self) -> BTreeMap<u32, i64> {
        self.groups().into_iter().map(|(key, values)| (key, values.iter().sum())).collect()
    }
}

/// Runs `test` on each backend with no row, one row, and some random cases: few keys, many keys, and one that most rows
/// have.
pub(crate) fn for_cases(test: impl Fn(&Context, Case)) {
    let key = prop_oneof![3 => Just(7_u32), 2 => 0..5_u32, 2 => 0..1000_u32];
    let pairs = prop::collection::vec((key, -100..100_i64), 0..60);
    let cases =
        (pairs, 1..6_u32, 1..9_u32).prop_map(|(pairs, inputs, outputs)| Case { pairs, inputs, outputs });
    each_backend(|ctx| {
        for pairs in [vec![], vec![(3, 4)]] {
            test(ctx, Case { pairs, inputs: 3, outputs: 2 });
        }
        let config = Config { cases: 8, failure_persistence: None, ..Config::default() };
        let run = TestRunner::new(config).run(&cases, |case| {
            test(ctx, case);
            Ok(())
        });
        run.unwrap_or_else(|error| panic!("{error}"));
    });
}

/// All rows in the order of a sort.
pub(crate) fn sorted<T: Data + Ord>(rdd: &impl Rdd<Item = T>) -> Vec<T> {
    let mut rows = rdd.collect().unwrap();
    rows.sort();
    rows
}

/// The rows of each partition.
pub(crate) fn partitions<T: Data>(rdd: &impl Rdd<Item = T>) -> Vec<Vec<T>> {
    let tagged = rdd.map(|row| (TaskContext::current().map_or(0, |task| task.partition().0), row));
    let mut partitions: Vec<Vec<T>> = (0..rdd.num_partitions()).map(|_| Vec::new()).collect();
    for (partition, row) in tagged.collect().unwrap() {
        partitions[partition as usize].push(row);
    }
    partitions
}

/// How many shuffles are in the lineage.
pub(crate) fn shuffles(rdd: &impl Rdd) -> usize {
    fn behind(handle: &RddHandle) -> usize {
        let of =
            |parent: &Parent| behind(parent.handle()) + usize::from(matches!(parent, Parent::Shuffle(_)));
        handle.parents().iter().map(of).sum()
    }
    behind(rdd.handle())
}

/// Whether two RDDs are dealt by the same rule.
pub(crate) fn same_partitioner(one: &impl Rdd, two: &impl Rdd) -> bool {
    one.handle().partitioner().is_some() && one.handle().partitioner() == two.handle().partitioner()
}

/// Asserts that every key is in the partition where the partitioner of the RDD wants it.
pub(crate) fn assert_in_place<K: Data + std::hash::Hash + Debug, V: Data>(rdd: &impl Rdd<Item = (K, V)>) {
    let partitioner = rdd.handle().partitioner().and_then(firesteel::AnyPartitioner::for_keys::<K>).unwrap();
    assert_eq!(partitioner.num_partitions(), rdd.num_partitions());
    for (rows, partition) in partitions(rdd).iter().zip(0..) {
        for (key, _) in rows {
            assert_eq!(partitioner.partition(key), partition, "{key:?}");
        }
    }
}
