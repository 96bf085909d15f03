//! Actions that choose rows by an order.

use std::cmp::Reverse;

use firesteel::prelude::*;
use proptest::prelude::*;

use super::support::each_backend;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(6) })]

    /// Behaviours: RDD-011.
    #[test]
    fn chosen_rows_are_those_of_a_sorted_vector(
        rows in prop::collection::vec(-50..50_i32, 1..60), partitions in 1..6_u32, most in 0..70_usize,
    ) {
        each_backend(|ctx| {
            let rdd = ctx.parallelize_into(rows.clone(), partitions);
            let mut sorted = rows.clone();
            sorted.sort_unstable();
            let least = &sorted[..most.min(rows.len())];
            let greatest: Vec<i32> = sorted.iter().rev().take(most).copied().collect();
            // A key that tells the rows apart but for equal ones.
            let by_digit = |x: &i32| (x.rem_euclid(7), *x);
            let mut digits = rows.clone();
            digits.sort_unstable_by_key(by_digit);
            let digits_least = &digits[..most.min(rows.len())];
            let digits_greatest: Vec<i32> = digits.iter().rev().take(most).copied().collect();

            assert_eq!(rdd.take_ordered(most).unwrap(), least);
            assert_eq!(rdd.top(most).unwrap(), greatest);
            assert_eq!(rdd.take_ordered_by(most, by_digit).unwrap(), digits_least);
            assert_eq!(rdd.top_by(most, by_digit).unwrap(), digits_greatest);
            assert_eq!(rdd.with(-1).top_by(most, |sign, x| x * sign).unwrap(), least);
            assert_eq!(rdd.with(-1).take_ordered_by(most, |sign, x| x * sign).unwrap(), greatest);
            assert_eq!(rdd.min().unwrap(), sorted[0]);
            assert_eq!(rdd.max().unwrap(), sorted[sorted.len() - 1]);
            assert_eq!(rdd.min_by_key(|x| Reverse(*x)).unwrap(), sorted[sorted.len() - 1]);
            assert_eq!(rdd.max_by_key(|x| Reverse(*x)).unwrap(), sorted[0]);
            assert_eq!(rdd.with(-1).min_by_key(|sign, x| x * sign).unwrap(), sorted[sorted.len() - 1]);
            assert_eq!(rdd.with(-1).max_by_key(|sign, x| x * sign).unwrap(), sorted[0]);
        });
    }
}

#[test]
fn numbers_with_a_fraction_are_ordered_by_a_comparison() {
    each_backend(|ctx| {
        let rdd = ctx.parallelize_into(vec![2.5, -1.0, 9.75], 2);

        assert_eq!(rdd.min_by(f64::total_cmp).unwrap(), -1.0);
        assert_eq!(rdd.max_by(f64::total_cmp).unwrap(), 9.75);
        assert_eq!(
            rdd.with(2.0).min_by(|center, a, b| (a - center).abs().total_cmp(&(b - center).abs())).unwrap(),
            2.5
        );
        assert_eq!(
            rdd.with(2.0).max_by(|center, a, b| (a - center).abs().total_cmp(&(b - center).abs())).unwrap(),
            9.75
        );
    });
}

#[test]
fn of_rows_that_compare_equal_the_first_is_chosen() {
    each_backend(|ctx| {
        let rdd = ctx.parallelize_into(vec![(1, 'a'), (0, 'b'), (1, 'c'), (0, 'd')], 2);

        assert_eq!(rdd.min_by_key(|row| row.0).unwrap(), (0, 'b'));
        assert_eq!(rdd.max_by_key(|row| row.0).unwrap(), (1, 'a'));
        assert_eq!(rdd.min_by(|a, b| a.0.cmp(&b.0)).unwrap(), (0, 'b'));
        assert_eq!(rdd.max_by(|a, b| a.0.cmp(&b.0)).unwrap(), (1, 'a'));
    });
}

/// Behaviours: RDD-011.
#[test]
fn no_rows_give_none_in_order() {
    each_backend(|ctx| {
        let rdd = ctx.range_into(0..10, 3).filter(|x| *x > 99);

        assert!(rdd.take_ordered(5).unwrap().is_empty());
        assert!(rdd.top(5).unwrap().is_empty());
        assert!(rdd.is_empty().unwrap());
    });
}
