//! Wrong arguments and RDDs where they do not belong: an error that says so.

use firesteel::prelude::*;

use crate::support::each_backend;

fn refused<T>(result: Result<T>, part: &str) {
    match result {
        Ok(_) => panic!("`{part}` should be an error"),
        Err(error) => assert!(error.to_string().contains(part), "`{part}` is not in: {error}"),
    }
}

#[test]
fn rdds_of_two_contexts_do_not_mix() {
    each_backend(|ctx| {
        let other = Context::local(2).unwrap();
        let (here, there) = (ctx.range_into(0..4_u64, 2), other.range_into(0..4_u64, 2));
        let (pairs, others) = (here.map(|x| (x, x)), there.map(|x| (x, x)));

        let part = "another context";
        refused(here.union(&there).count(), part);
        refused(there.union(&here).count(), part);
        refused(ctx.union(vec![here.boxed(), there.boxed()]).count(), part);
        refused(ctx.union(vec![there.boxed()]).count(), part);
        refused(here.zip(&there).count(), part);
        refused(here.cartesian(&there).count(), part);
        refused(here.zip_partitions(&there, |a, _| a).count(), part);
        refused(here.subtract(&there).count(), part);
        refused(here.intersection(&there).count(), part);
        refused(pairs.join(&others).count(), part);
        refused(pairs.cogroup(&others).count(), part);
        refused(pairs.subtract_by_key(&others).map(|x| x.0).count(), part);
        assert_eq!((here.count().unwrap(), there.count().unwrap()), (4, 4));
    });
}

#[test]
fn accumulators_and_broadcasts_of_another_context_are_refused_in_tasks() {
    each_backend(|ctx| {
        let other = Context::local(2).unwrap();
        let (mine, sum) = (ctx.long_accumulator("mine"), other.long_accumulator("sum"));

        let added = ctx.range_into(0..4_u64, 2).with(sum.clone()).map(|sum, x| {
            sum.add(1);
            x
        });
        let added = added.count();

        assert!(added.is_err() || sum.value().sum == 0);
        assert_eq!(
            mine.value().sum,
            0,
            "nothing is added to an accumulator that happens to have the same number"
        );
    });
}

#[test]
fn an_rdd_of_a_stopped_context_says_so() {
    each_backend(|ctx| {
        let rdd = ctx.range_into(0..4_u64, 2).map(|x| (x, x));
        let cached = rdd.cache();
        cached.count().unwrap();
        ctx.stop().unwrap();

        refused(rdd.count(), "stopped");
        refused(cached.count(), "stopped");
        refused(rdd.reduce_by_key(|a, b| a + b).collect(), "stopped");
        refused(rdd.take(1), "stopped");
        refused(rdd.sort_by_key(Order::Ascending).and_then(|sorted| sorted.count()), "stopped");
        refused(rdd.zip_with_index().and_then(|rows| rows.count()), "stopped");
        refused(ctx.broadcast(1), "stopped");
        assert_eq!(rdd.num_partitions(), 2);
        cached.unpersist();
    });
}

#[test]
fn masters_that_are_garbage_are_refused_with_their_text() {
    for master in [
        "",
        "local[0]",
        "local[-1]",
        "local[",
        "local[2",
        "local[a]",
        "local[2,0]",
        "local[2,]",
        "mars",
        "a://b",
    ] {
        match Context::builder().master(master).start() {
            Ok(_) => panic!("`{master}` starts"),
            Err(error) => assert!(error.to_string().contains(&format!("`{master}`")), "{error}"),
        }
    }
    assert!(Context::local(0).is_err());
}

#[test]
fn absurd_arguments_are_errors_or_harmless() {
    each_backend(|ctx| {
        let rows = ctx.range_into(0..10_u64, 3);
        let pairs = rows.map(|x| (x % 3, x));
        let floats = rows.map(|x| x as f64);

        assert_eq!(rows.take(usize::MAX).unwrap().len(), 10);
        assert_eq!(rows.take(0).unwrap().len(), 0);
        assert_eq!(rows.top(usize::MAX).unwrap().len(), 10);
        assert_eq!(rows.top(0).unwrap().len(), 0);
        assert_eq!(rows.take_ordered(usize::MAX).unwrap().len(), 10);
        assert_eq!(rows.take_sample(Replacement::Without, usize::MAX, 1).unwrap().len(), 10);
        assert_eq!(rows.tree_reduce(|a, b| a + b, u32::MAX).unwrap(), 45);
        assert!(rows.tree_reduce(|a, b| a + b, 0).is_err());
        for fraction in [-0.5, f64::NAN, f64::INFINITY] {
            assert!(rows.sample(Replacement::Without, fraction, 1).count().is_err(), "{fraction}");
            assert!(rows.sample(Replacement::With, fraction, 1).count().is_err(), "{fraction}");
        }
        assert!(floats.histogram(&[]).is_err() && floats.histogram(&[1.0]).is_err());
        assert!(floats.histogram(&[2.0, 1.0]).is_err() && floats.histogram(&[f64::NAN, 1.0]).is_err());
        assert!(floats.histogram_buckets(0).is_err());
        assert!(rows.coalesce(0).count().is_err());
        assert!(rows.repartition(0).count().is_err());
        assert!(ctx.range_into(0..10_u64, 0).count().is_err());
        assert!(ctx.parallelize_into(vec![1], 0).count().is_err());
        assert!(pairs.reduce_by_key_into(-3, |a, b| a + b).count().is_err());
    });
}

#[test]
fn more_partitions_than_anything_could_hold_are_an_error_and_not_the_end() {
    each_backend(|ctx| {
        let rows = ctx.range_into(0..10_u64, 3);
        let pairs = rows.map(|x| (x % 3, x));

        let part = "partitions";
        refused(ctx.range_into(0..10_u64, u32::MAX).count(), part);
        refused(rows.repartition(u32::MAX).count(), part);
        refused(ctx.parallelize_into(vec![1], u32::MAX).count(), part);
        refused(pairs.group_by_key_into(u32::MAX).count(), part);
        refused(pairs.reduce_by_key_into(usize::MAX, |a, b| a + b).count(), part);
        refused(pairs.partition_by(u32::MAX).count(), part);
        refused(pairs.join_into(&pairs, u32::MAX).count(), part);
        refused(rows.distinct_into(u32::MAX).count(), part);
        let wide = ctx.range_into(0..10_u64, 100_000);
        refused(wide.cartesian(&wide).count(), part);
        assert_eq!(rows.count().unwrap(), 10);
    });
}

#[test]
fn rdds_without_partitions_and_without_rows_go_through_every_operator() {
    each_backend(|ctx| {
        let none = ctx.empty_rdd::<(u64, u64)>().boxed();
        let hollow = ctx.range_into(0..0_u64, 3).map(|x| (x, x)).boxed();
        let some = ctx.range_into(0..2_u64, 5).map(|x| (x, x)).boxed();
        for empty in [&none, &hollow] {
            for (left, right) in [(empty, empty), (empty, &some), (&some, empty)] {
                assert_eq!(left.join(right).count().unwrap(), 0);
                let outer = left.full_outer_join(right).count().unwrap();
                let expected = left.count().unwrap() + right.count().unwrap();
                assert_eq!(outer, expected);
                assert_eq!(left.cogroup(right).count().unwrap(), expected);
                assert_eq!(left.union(right).count().unwrap(), expected);
                assert_eq!(left.intersection(right).count().unwrap(), 0);
                assert_eq!(left.cartesian(right).count().unwrap(), 0);
                assert_eq!(left.subtract(right).count().unwrap(), left.count().unwrap());
                assert_eq!(left.subtract_by_key(right).count().unwrap(), left.count().unwrap());
            }
            assert_eq!(empty.sort_by_key(Order::Descending).unwrap().count().unwrap(), 0);
            assert_eq!(empty.sort_by(|x| x.1, Order::Ascending).unwrap().count().unwrap(), 0);
            assert_eq!(empty.group_by_key().count().unwrap(), 0);
            assert_eq!(empty.reduce_by_key(|a, b| a + b).collect().unwrap(), []);
            assert_eq!(empty.distinct().count().unwrap(), 0);
            assert_eq!(empty.repartition(4).glom().collect().unwrap().len(), 4);
            assert_eq!(empty.repartition(1).repartition(7).count().unwrap(), 0);
            assert_eq!(empty.coalesce(2).count().unwrap(), 0);
            assert_eq!(empty.zip_with_index().unwrap().count().unwrap(), 0);
            assert_eq!(empty.zip_with_unique_id().count().unwrap(), 0);
            assert_eq!(empty.zip(empty).count().unwrap(), 0);
            assert_eq!(empty.take(3).unwrap(), []);
            assert_eq!(empty.top(3).unwrap(), []);
            assert_eq!(empty.take_sample(Replacement::With, 3, 1).unwrap(), []);
            assert_eq!(empty.fold((0, 0), |a, _| a).unwrap(), (0, 0));
            assert!(empty.is_empty().unwrap());
            assert_eq!(empty.count_by_value().unwrap().len(), 0);
            assert_eq!(empty.count_by_key().unwrap().len(), 0);
            assert_eq!(empty.lookup(&1).unwrap().len(), 0);
            assert_eq!(empty.cache().count().unwrap(), 0);
            assert_eq!(empty.count_approx_distinct(0.05).unwrap(), 0);
            refused(empty.first(), "empty");
            refused(empty.reduce(|a, _| a), "empty");
            refused(empty.tree_reduce(|a, _| a, 2), "empty");
            refused(empty.max(), "empty");
            let floats = empty.map(|x| x.0 as f64);
            assert_eq!(floats.histogram(&[0.0, 1.0]).unwrap(), [0]);
            assert_eq!(floats.stats().unwrap().count(), 0);
            drop(floats.histogram_buckets(3));
            drop(floats.mean());
        }
    });
}
