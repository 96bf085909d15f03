//! Rows from collections and ranges.

use firesteel::{Error, prelude::*};
use proptest::prelude::*;

use crate::support::each_backend;

/// Behaviours: RDD-012.
#[test]
fn slice_i_of_n_goes_from_i_times_len_by_n() {
    each_backend(|ctx| {
        let runner = ProptestConfig { cases: 20, failure_persistence: None, ..Default::default() };
        let law = |(len, n): (usize, u32)| {
            let rows: Vec<usize> = (0..len).collect();
            let slices: Vec<_> =
                (0..n as usize).map(|i| i * len / n as usize..(i + 1) * len / n as usize).collect();
            let slices: Vec<Vec<usize>> = slices.into_iter().map(Iterator::collect).collect();

            prop_assert_eq!(&ctx.parallelize_into(rows, n).glom().collect().unwrap(), &slices);
            prop_assert_eq!(&ctx.range_into(0..len, n).glom().collect().unwrap(), &slices);
            Ok(())
        };
        proptest::test_runner::TestRunner::new(runner).run(&(0..60_usize, 1..12_u32), law).unwrap();
    });
}

/// Behaviours: RDD-012.
#[test]
fn no_partitions_are_an_error_that_names_the_line() {
    each_backend(|ctx| {
        let errors = [
            ctx.parallelize_into(vec![1], 0).count().unwrap_err(),
            ctx.range_into(0..3, 0).map(|x| (x, 1)).reduce_by_key(|a, b| a + b).count().unwrap_err(),
        ];

        for (error, operator) in errors.iter().zip(["parallelize", "range"]) {
            assert!(matches!(error, Error::Invalid { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains(&format!("{operator} at ")) && text.contains("sources.rs"), "{text}");
        }
    });
}

/// Behaviours: RDD-012.
#[test]
fn ranges_reach_to_the_ends_of_their_type() {
    each_backend(|ctx| {
        let ends = ctx.range_into(u64::MAX - 3..u64::MAX, 2).collect().unwrap();
        assert_eq!(ends, [u64::MAX - 3, u64::MAX - 2, u64::MAX - 1]);
        assert_eq!(ctx.range_into(i64::MIN..i64::MIN + 2, 2).collect().unwrap(), [i64::MIN, i64::MIN + 1]);
        assert_eq!(ctx.range(3..3_u32).count().unwrap(), 0);
        #[expect(clippy::reversed_empty_ranges, reason = "that is the point")]
        let reversed = ctx.range(5..3_i64);
        assert_eq!(reversed.count().unwrap(), 0);
    });
}

/// Behaviours: RDD-012.
#[test]
fn a_range_over_all_numbers_is_split_without_counting_them() {
    each_backend(|ctx| {
        let first_two = |rdd: BoxRdd<i128>| rdd.collect().unwrap();
        let unsigned =
            ctx.range_into(0..u64::MAX, 4).map_partitions(|rows| Rows::new(rows.take(1).map(i128::from)));
        let signed = ctx
            .range_into(i64::MIN..i64::MAX, 2)
            .map_partitions(|rows| Rows::new(rows.take(1).map(i128::from)));

        let quarter = i128::from(u64::MAX);
        assert_eq!(first_two(unsigned.boxed()), [0, quarter / 4, quarter * 2 / 4, quarter * 3 / 4]);
        assert_eq!(first_two(signed.boxed()), [i128::from(i64::MIN), -1]);
    });
}

#[test]
fn a_long_range_is_whole_whether_rows_are_asked_for_one_by_one_or_all_at_once() {
    each_backend(|ctx| {
        let rows = ctx.range_into(-3_i32..20_000, 3);
        let expected: Vec<i32> = (-3..20_000).collect();

        assert_eq!(rows.collect().unwrap(), expected);
        // Rows that come through a zip, or in batches, are asked for one by one.
        assert_eq!(rows.zip(&rows).map(|(one, _)| one).collect().unwrap(), expected);
        let tails = rows.map_partitions(|rows| Rows::new(rows.skip(300))).count().unwrap();
        assert_eq!(tails, 20_003 - 3 * 300);
    });
}
