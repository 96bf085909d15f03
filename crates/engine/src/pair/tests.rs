//! What cannot be seen from outside: the rows that go through a shuffle, and the choice of a partitioner.

use super::default_partitioner;
use crate::{RangePartitioner, RddHandle, prelude::*};

/// The records that the tasks of an RDD with one row in each partition have read from shuffles.
fn records_read<T: Data>(rdd: &impl Rdd<Item = T>) -> u64 {
    let read = rdd.map(|_| TaskContext::current().map_or(0, |task| task.metrics().shuffle_records_read));
    read.collect().unwrap().into_iter().sum()
}

/// Behaviours: RDD-006, SHUF-006.
#[test]
fn rows_are_combined_before_a_shuffle_by_what_aggregates_and_by_nothing_else() {
    let ctx = Context::local(2).unwrap();
    let one = ctx.range_into(0..30, 3).map(|_| (0, 1));

    assert_eq!(records_read(&one.reduce_by_key_into(1, |a, b| a + b)), 3, "one for each map task");
    assert_eq!(records_read(&one.fold_by_key_into(1, 0, |a, b| a + b)), 3);
    assert_eq!(records_read(&one.aggregate_by_key_into(1, 0, |a, b| a + b, |a, b| a + b)), 3);
    assert_eq!(records_read(&one.keys().distinct_into(1)), 3);
    assert_eq!(records_read(&one.group_by_key_into(1)), 30, "every row");
}

/// Behaviours: RDD-003.
#[test]
fn the_partitioner_with_most_partitions_is_taken_if_it_has_a_tenth_of_the_largest_parent() {
    let ctx = Context::local(2).unwrap();
    let plain = |partitions| ctx.range_into(0..10, partitions).map(|x| (x, x)).boxed();
    let chosen = |parents: &[&RddHandle]| default_partitioner::<i32>(parents).num_partitions();
    let (three, two) = (plain(1).partition_by(3), plain(1).partition_by(2));

    assert_eq!(chosen(&[two.handle(), three.handle(), plain(29).handle()]), 3);
    assert_eq!(
        chosen(&[three.handle(), plain(30).handle()]),
        30,
        "a new one, as large as the largest parent"
    );
    assert_eq!(chosen(&[plain(4).handle(), plain(6).handle()]), 6);
    let custom = plain(1).partition_by(RangePartitioner::new(vec![3, 5, 7], Order::Ascending));
    assert_eq!(
        default_partitioner::<i32>(&[custom.handle(), plain(9).handle()]).erased(),
        *custom.handle().partitioner().unwrap()
    );
}
