//! Which partition a key is in.

use firesteel::{HashPartitioner, Order, Partitioner, RangePartitioner, prelude::*};
use serde::{Deserialize, Serialize};

use crate::{
    harness::{assert_in_place, for_cases, partitions, same_partitioner, shuffles, sorted},
    support::each_backend,
};

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Modulo(u32);

impl Partitioner<u32> for Modulo {
    fn num_partitions(&self) -> u32 {
        self.0
    }

    fn partition(&self, key: &u32) -> u32 {
        key % self.0
    }
}

/// Behaviours: RDD-001.
#[test]
fn hash_partitioners_are_equal_if_their_counts_are() {
    each_backend(|ctx| {
        let pairs = ctx.range(0..50).map(|x| (x, x));

        assert!(same_partitioner(&pairs.partition_by(3), &pairs.partition_by(HashPartitioner::new(3))));
        assert!(!same_partitioner(&pairs.partition_by(3), &pairs.partition_by(4)));
        assert!((0..1000).all(|key| HashPartitioner::new(7).partition_of(&key) < 7));
    });
}

/// Behaviours: RDD-001.
#[test]
fn pairs_are_dealt_by_hash() {
    for_cases(|ctx, case| {
        let dealt = case.rdd(ctx).partition_by(case.outputs);

        assert_eq!(dealt.num_partitions(), case.outputs);
        assert_in_place(&dealt);
        let mut pairs = case.pairs.clone();
        pairs.sort_unstable();
        assert_eq!(sorted(&dealt), pairs);
    });
}

#[test]
fn pairs_are_dealt_by_a_rule_of_the_users_own() {
    each_backend(|ctx| {
        let pairs = ctx.range(0..10_u32).map(|x| (x, ()));
        let by = |n| KeyPartitioner::custom(Modulo(n));

        let dealt = pairs.partition_by(by(3));

        assert_eq!(partitions(&dealt.keys()), [vec![0, 3, 6, 9], vec![1, 4, 7], vec![2, 5, 8]]);
        assert!(same_partitioner(&dealt, &pairs.partition_by(by(3))));
        assert!(!same_partitioner(&dealt, &pairs.partition_by(by(2))));
        let counts = dealt.map_values(|()| 1).reduce_by_key(|a, b| a + b);
        assert_eq!((shuffles(&counts), counts.count().unwrap()), (1, 10), "the rule is taken over");
        assert_eq!(partitions(&counts.keys())[1].len(), 3);
    });
}

/// Behaviours: RDD-002.
#[test]
fn ranges_from_a_sample_have_about_as_many_rows_each() {
    each_backend(|ctx| {
        // The last partition has nearly all rows and is sampled a second time.
        let rows: Vec<_> = (0..60).chain(60..20_060).map(|x| (x, ())).collect();
        let skewed = ctx.parallelize_into(rows, 4).filter(|(x, ())| *x < 60 || *x >= 15_000);

        let ranges = RangePartitioner::sample(&skewed, 4, Order::Ascending).unwrap();

        assert_eq!(ranges.num_partitions(), 4);
        let sizes: Vec<_> = partitions(&skewed.partition_by(ranges)).iter().map(Vec::len).collect();
        assert!(sizes.iter().all(|size| (600..2200).contains(size)), "{sizes:?}");
    });
}

/// Behaviours: RDD-002.
#[test]
fn few_keys_make_few_ranges_and_no_rows_one() {
    each_backend(|ctx| {
        let ranges = |rows: Vec<i32>| {
            let rdd = ctx.parallelize_into(rows, 3).map(|x| (x, ()));
            RangePartitioner::sample(&rdd, 10, Order::Ascending).unwrap()
        };

        assert_eq!(ranges(vec![]).num_partitions(), 1);
        assert_eq!(ranges(vec![5; 100]).bounds(), [5]);
        assert_eq!(ranges(vec![1, 2, 3]).num_partitions(), 3);
    });
}

/// Behaviours: RDD-003.
#[test]
fn an_operator_takes_the_partitioner_that_is_there_or_as_many_partitions_as_its_parent() {
    each_backend(|ctx| {
        let pairs = ctx.range_into(0..100, 5).map(|x| (x, x));
        assert_eq!(pairs.group_by_key().num_partitions(), 5);

        let dealt = pairs.partition_by(3).map_values(|x| x + 1);
        assert!(same_partitioner(&dealt, &dealt.group_by_key()));
        assert!(same_partitioner(&dealt, &dealt.reduce_by_key(|a, b| a + b)));
        assert_eq!(dealt.map(|pair| pair).group_by_key().num_partitions(), 3);
    });
}
