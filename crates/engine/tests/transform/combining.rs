//! Operators over two RDDs or more: union, cartesian, zip.

use firesteel::{Error, PartitionId, PreferredLocations, TaskLocation, prelude::*};

use crate::{custom::Countdown, support::each_backend};

/// Behaviours: RDD-017.
#[test]
fn a_union_drops_inputs_without_partitions_and_puts_the_others_in_a_row() {
    each_backend(|ctx| {
        let none = ctx.range_into(0..1, 1).prune_partitions(|_| false);
        let (one, two) = (ctx.range_into(0..3, 2), ctx.range_into(5..7, 1));

        let all = ctx.union(vec![none.boxed(), one.boxed(), none.boxed(), two.boxed(), one.boxed()]);
        assert_eq!(all.glom().collect().unwrap(), [vec![0], vec![1, 2], vec![5, 6], vec![0], vec![1, 2]]);
        assert_eq!(none.union(&one).glom().collect().unwrap(), [vec![0], vec![1, 2]]);
        assert_eq!(one.union(&none).glom().collect().unwrap(), [vec![0], vec![1, 2]]);
        assert_eq!(none.union(&none).num_partitions(), 0);
        assert!(ctx.union::<u8>(vec![]).collect().unwrap().is_empty());
        let lines = none.union(&one).to_debug_string();
        assert!(!lines.contains("prune_partitions"), "an empty input is no parent: {lines}");
    });
}

/// Behaviours: RDD-017.
#[test]
fn a_union_of_rdds_that_are_partitioned_alike_keeps_the_partitioner() {
    each_backend(|ctx| {
        let pairs =
            |from: i32| ctx.range(from..from + 9).map(|x| (x % 5, x)).reduce_by_key(|a, b| a + b).boxed();
        let (one, two) = (pairs(0), pairs(100));
        let none = one.prune_partitions(|_| false);

        let typed = one.union(&two);
        let many = ctx.union(vec![one.boxed(), none.boxed(), two.boxed()]);
        for rdd in [typed.boxed(), many.boxed()] {
            assert_eq!(rdd.num_partitions(), one.num_partitions());
            assert_eq!(rdd.handle().partitioner(), one.handle().partitioner());
            let together = |rows: (Vec<Vec<_>>, Vec<Vec<_>>)| -> Vec<Vec<(i32, i32)>> {
                rows.0.into_iter().zip(rows.1).map(|(a, b)| [a, b].concat()).collect()
            };
            let expected = together((one.glom().collect().unwrap(), two.glom().collect().unwrap()));
            assert_eq!(rdd.glom().collect().unwrap(), expected);
        }
        let other = one.union(&two.map(|pair| pair));
        assert_eq!((other.num_partitions(), other.handle().partitioner()), (2 * one.num_partitions(), None));
    });
}

/// Behaviours: RDD-018.
#[test]
fn a_product_has_as_many_partitions_as_both_sides_multiplied_and_too_many_are_an_error() {
    each_backend(|ctx| {
        let product = ctx.range_into(0..4, 2).cartesian(&ctx.range_into(0..3, 3));
        assert_eq!(product.num_partitions(), 6);
        assert_eq!(product.glom().collect().unwrap()[4], [(2, 1), (3, 1)]);

        let wide = ctx.range_into(0..10, 1 << 16);
        let error = wide.cartesian(&wide).map(|(x, _)| x).count().unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        assert!(error.to_string().contains("cartesian at "), "{error}");
    });
}

#[test]
fn the_right_side_of_a_product_is_computed_twice_at_most_and_as_far_as_it_is_read() {
    each_backend(|ctx| {
        let left = ctx.range_into(0..100, 1);
        for (is_cached, expected) in [(false, 2), (true, 1)] {
            let computed = ctx.long_accumulator("computed");
            let right = ctx.range_into(0..3, 1).with(computed.clone()).map_partitions(|computed, rows| {
                computed.add(1);
                rows
            });
            let right = if is_cached { right.cache().boxed() } else { right.boxed() };
            let product = left.cartesian(&right).collect().unwrap();
            assert!(product.into_iter().eq((0..100).flat_map(|x| (0..3).map(move |y| (x, y)))));
            assert_eq!(computed.value().sum, expected);
        }

        let endless = ctx.range_into(0..1, 1).flat_map(|x| std::iter::repeat(x));
        assert_eq!(left.cartesian(&endless).take(2).unwrap(), [(0, 0), (0, 0)]);
    });
}

/// Behaviours: RDD-015.
#[test]
fn rdds_with_different_numbers_of_partitions_cannot_be_zipped() {
    each_backend(|ctx| {
        let (two, three) = (ctx.range_into(0..6, 2), ctx.range_into(0..6, 3));
        let errors = [
            two.zip(&three).count().unwrap_err(),
            two.zip_partitions(&three, |a, _| Rows::new(a)).count().unwrap_err(),
        ];

        for error in errors {
            assert!(error.to_string().contains("these have 2 and 3"), "{error}");
        }
    });
}

/// Behaviours: RDD-015.
#[test]
fn partitions_of_different_lengths_cannot_be_zipped() {
    each_backend(|ctx| {
        let (more, less) = (ctx.range_into(0..6, 2), ctx.range_into(0..5, 2));
        for zipped in [more.zip(&less).boxed(), less.zip(&more).boxed()] {
            let by_fold = zipped.count().unwrap_err().to_string();
            let by_next =
                zipped.map_partitions(|mut rows| Rows::new(std::iter::from_fn(move || rows.next())));
            let by_next = by_next.count().unwrap_err().to_string();

            for error in [by_fold, by_next] {
                assert!(error.contains("same number of rows") && error.contains("zip at "), "{error}");
            }
        }
        let chained = more.zip_partitions(&less, |a, b| Rows::new(a.chain(b)));
        assert_eq!(chained.count().unwrap(), 11, "whole partitions may differ");
    });
}

/// Behaviours: RDD-017.
#[test]
fn an_operator_over_two_located_rdds_runs_where_most_or_both_would() {
    each_backend(|ctx| {
        let places = |hosts: &[&[&str]]| {
            let places =
                hosts.iter().map(|hosts| hosts.iter().map(|&host| TaskLocation::from(host)).collect());
            PreferredLocations::PerPartition(places.collect::<Vec<_>>().into())
        };
        let pairs = ctx.range_into(0..4, 2).map(|x| (x, x)).reduce_by_key(|a, b| a + b);
        let located = |hosts: &[&[&str]]| {
            let handle = ctx.new_rdd("located", 2).partitioner(pairs.handle().partitioner().cloned());
            Countdown { handle: handle.preferred(places(hosts)).build(), from: 1 }
        };
        let one = located(&[&["a", "b"], &[]]);
        let two = located(&[&["c", "b"], &["d"]]);

        assert_eq!(one.union(&two).handle().preferred_places(PartitionId(0)), ["b".into()]);
        assert_eq!(one.union(&two).handle().preferred_places(PartitionId(1)), ["d".into()]);
        assert_eq!(one.zip(&two).handle().preferred_places(PartitionId(0)), ["b".into()]);
        assert_eq!(one.map(|x| x).zip(&two).handle().preferred_places(PartitionId(1)), ["d".into()]);
        assert_eq!(
            one.zip(&located(&[&["x"], &[]])).handle().preferred_places(PartitionId(0)),
            ["a", "b", "x"].map(Into::into)
        );
    });
}
