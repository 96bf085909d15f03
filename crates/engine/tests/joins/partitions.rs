//! How many partitions a result has, which partitioner, and inputs without partitions.

use firesteel::{HashPartitioner, prelude::*};

use crate::{model::sorted, support::each_backend};

fn pairs(ctx: &Context, partitions: u32) -> BoxRdd<(u32, u32)> {
    ctx.range_into(0..40, partitions).map(|x| (x % 20, x)).boxed()
}

/// Behaviours: RDD-003.
#[test]
fn a_result_has_the_largest_partitioner_that_is_large_enough_else_the_largest_number_of_partitions() {
    each_backend(|ctx| {
        let (three, seven) = (pairs(ctx, 3), pairs(ctx, 7));
        let (two, four) =
            (three.reduce_by_key_into(2, |a, b| a + b), three.reduce_by_key_into(4, |a, b| a + b));
        let many = pairs(ctx, 40);

        assert_eq!(three.join(&seven).num_partitions(), 7);
        assert_eq!(seven.cogroup(&two).num_partitions(), 2);
        assert_eq!(two.full_outer_join(&four).num_partitions(), 4);
        assert_eq!(three.cogroup4(&two, &four, &seven).num_partitions(), 4);
        assert_eq!(many.join(&four).num_partitions(), 40, "four is ten times smaller than forty");
        assert_eq!(pairs(ctx, 39).join(&four).num_partitions(), 4);
        assert_eq!(many.join(&four).count().unwrap(), 40);
    });
}

/// Behaviours: RDD-005.
#[test]
fn a_result_keeps_its_partitioner_and_its_keys_are_where_that_says() {
    each_backend(|ctx| {
        let joined = pairs(ctx, 3).join_into(&pairs(ctx, 2), HashPartitioner::new(5));
        let placed =
            joined.map(|(key, _)| (key, TaskContext::current().expect("it is a task").partition().0));

        assert_eq!(joined.num_partitions(), 5);
        assert_eq!(joined.handle().partitioner(), Some(&KeyPartitioner::<u32>::hash(5).erased()));
        assert_eq!(joined.count().unwrap(), 80);
        for (key, partition) in placed.collect().unwrap() {
            assert_eq!(partition, HashPartitioner::new(5).partition_of(&key));
        }
    });
}

#[test]
fn what_is_subtracted_does_not_change_the_number_of_partitions() {
    each_backend(|ctx| {
        let sums = pairs(ctx, 3).reduce_by_key_into(2, |a, b| a + b);

        assert_eq!(pairs(ctx, 3).subtract_by_key(&pairs(ctx, 30)).num_partitions(), 3);
        assert_eq!(sums.subtract_by_key(&pairs(ctx, 30)).num_partitions(), 2);
        assert_eq!(pairs(ctx, 3).subtract(&pairs(ctx, 30)).num_partitions(), 3);
        assert_eq!(pairs(ctx, 3).intersection(&pairs(ctx, 30)).num_partitions(), 30);
    });
}

/// Behaviours: RDD-005.
#[test]
fn rdds_without_partitions_can_be_joined() {
    each_backend(|ctx| {
        let (none, some) = (ctx.empty_rdd::<(u32, u32)>(), pairs(ctx, 3));

        assert_eq!(none.join(&none).count().unwrap(), 0);
        assert_eq!(none.cogroup4(&none, &none, &none).count().unwrap(), 0);
        assert_eq!(none.intersection(&none).count().unwrap(), 0);
        assert_eq!(none.join(&some).count().unwrap(), 0);
        assert_eq!(some.join(&none).num_partitions(), 3);
        assert_eq!(some.left_outer_join(&none).count().unwrap(), 40);
        assert_eq!(none.right_outer_join(&some).count().unwrap(), 40);
        assert_eq!(none.full_outer_join(&some).count().unwrap(), 40);
        assert_eq!(some.cogroup3(&none, &some).count().unwrap(), 20);
        assert_eq!(none.subtract(&some).count().unwrap(), 0);
        assert_eq!(some.subtract(&none).count().unwrap(), 40);
        assert_eq!(none.subtract_by_key(&some).count().unwrap(), 0);
        assert_eq!(some.subtract_by_key(&none).count().unwrap(), 40);
    });
}

#[test]
fn an_rdd_joins_itself_as_it_is_and_after_a_map() {
    each_backend(|ctx| {
        let rdd = ctx.parallelize_into(vec![(1, 'a'), (1, 'b'), (2, 'c')], 2);

        let squared = sorted(rdd.join(&rdd).collect().unwrap());
        let shifted = sorted(rdd.join(&rdd.map(|(key, value)| (key + 1, value))).collect().unwrap());

        assert_eq!(
            squared,
            [(1, ('a', 'a')), (1, ('a', 'b')), (1, ('b', 'a')), (1, ('b', 'b')), (2, ('c', 'c'))]
        );
        assert_eq!(shifted, [(2, ('c', 'a')), (2, ('c', 'b'))]);
    });
}

#[test]
fn joins_after_sums_of_the_same_keys_give_their_rows() {
    each_backend(|ctx| {
        let sums = pairs(ctx, 3).reduce_by_key_into(4, |a, b| a + b);
        let chain =
            sums.join(&sums.filter(|(key, _)| *key < 10)).left_outer_join(&sums.filter(|(key, _)| *key < 5));

        let rows = sorted(chain.collect().unwrap());

        let expected = |key| (key, ((2 * key + 20, 2 * key + 20), (key < 5).then_some(2 * key + 20)));
        assert_eq!(rows, (0..10).map(expected).collect::<Vec<_>>());
    });
}
