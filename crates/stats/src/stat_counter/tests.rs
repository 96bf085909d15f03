//! Moments against exact ones, far from 0, near overflow and in any partitioning.

#![expect(clippy::float_cmp, reason = "these figures have no rounding")]

use super::*;
use proptest::prelude::*;

fn stats(values: &[f64]) -> StatCounter {
    values.iter().copied().collect()
}

/// The statistics of numbers in partitions, each measured by itself and then merged.
fn merged<'a>(partitions: impl IntoIterator<Item = &'a [f64]>) -> StatCounter {
    partitions.into_iter().fold(StatCounter::new(), |mut all, part| {
        all.merge(&stats(part));
        all
    })
}

/// The same numbers in one partition, one by one, in two at every place, and with empty partitions around.
fn in_many_partitionings(values: &[f64]) -> impl Iterator<Item = StatCounter> {
    let mut pushed = StatCounter::new();
    for &value in values {
        pushed.push(value);
    }
    let alone = merged(values.chunks(1));
    let halves = (0..=values.len()).map(|cut| merged([&values[..cut], &[], &values[cut..], &[]]));
    [stats(values), pushed, alone].into_iter().chain(halves)
}

#[test]
fn known_numbers_have_their_known_moments() {
    let stats = stats(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);

    assert_eq!((stats.count(), stats.sum(), stats.mean()), (8, 40.0, 5.0));
    assert_eq!((stats.variance(), stats.stdev()), (4.0, 2.0));
    assert_eq!((stats.sample_variance(), stats.sample_stdev()), (32.0 / 7.0, (32.0_f64 / 7.0).sqrt()));
    assert_eq!((stats.min(), stats.max()), (2.0, 9.0));
    assert_eq!(stats.to_string(), "(count: 8, mean: 5, stdev: 2, max: 9, min: 2)");
}

#[test]
fn nothing_has_no_mean_and_one_number_has_no_sample_variance() {
    let (none, one) = (StatCounter::new(), stats(&[7.0]));

    assert_eq!((none.count(), none.sum()), (0, 0.0));
    assert!(none.mean().is_nan() && none.variance().is_nan() && none.sample_variance().is_nan());
    assert_eq!((none.min(), none.max()), (f64::INFINITY, f64::NEG_INFINITY));
    assert_eq!((one.mean(), one.variance()), (7.0, 0.0));
    assert!(one.sample_variance().is_nan());
}

#[test]
fn numbers_far_from_zero_keep_their_mean_and_variance() {
    for stats in in_many_partitionings(&[1e15, 1e15 + 1.0, 1e15 + 2.0]) {
        assert_eq!(stats.mean(), 1e15 + 1.0);
        assert!((stats.variance() - 2.0 / 3.0).abs() < 1e-15, "{stats}");
    }
}

#[test]
fn many_numbers_far_from_zero_keep_their_mean_and_variance() {
    let values = |offset: f64| (0..300_000).map(move |i| offset + f64::from(i % 3));

    let extended: StatCounter = values(1e15).collect();
    let mut pushed = StatCounter::new();
    values(1e15).for_each(|value| pushed.push(value));

    for stats in [extended, pushed] {
        assert_eq!(stats.mean(), 1e15 + 1.0);
        assert!((stats.variance() - 2.0 / 3.0).abs() < 1e-9, "{stats}");
    }
}

#[test]
fn equal_numbers_have_no_variance() {
    for value in [0.1, 1e15 + 1.0, f64::MAX, f64::MIN_POSITIVE] {
        for stats in in_many_partitionings(&[value; 3]) {
            assert_eq!((stats.mean(), stats.variance()), (value, 0.0));
        }
    }
}

#[test]
fn numbers_whose_sum_overflows_keep_their_mean() {
    for stats in in_many_partitionings(&[1e308; 3]) {
        assert_eq!((stats.mean(), stats.variance(), stats.sum()), (1e308, 0.0, f64::INFINITY));
    }
    for stats in in_many_partitionings(&[1e308, -1e308, 1e308, -1e308]) {
        assert!(stats.mean().abs() < 1e293, "{stats}");
        assert_eq!(stats.variance(), f64::INFINITY);
    }
    for stats in in_many_partitionings(&[1e308, 1e308, -1e308, 6e307]) {
        assert!((stats.mean() / 4e307 - 1.0).abs() < 1e-15, "{stats}");
        assert!((stats.sum() / 1.6e308 - 1.0).abs() < 1e-15, "{stats}");
    }
}

fn are_same(one: f64, two: f64) -> bool {
    one == two || one.is_nan() && two.is_nan()
}

#[test]
fn infinite_numbers_give_the_same_in_every_partitioning() {
    let (infinity, nan) = (f64::INFINITY, f64::NAN);
    for (values, mean) in [
        (&[infinity][..], infinity),
        (&[infinity, 1.0], infinity),
        (&[1.0, infinity, 2.0], infinity),
        (&[infinity, infinity, 1.0], infinity),
        (&[1e308, 1e308, -infinity], -infinity),
        (&[infinity, 1.0, -infinity], nan),
        (&[nan], nan),
        (&[1.0, nan, 2.0], nan),
        (&[infinity, nan], nan),
    ] {
        for stats in in_many_partitionings(values) {
            assert_eq!(stats.count(), values.len() as u64);
            assert!(are_same(stats.mean(), mean) && are_same(stats.sum(), mean), "{values:?}: {stats}");
            assert!(stats.variance().is_nan() && stats.stdev().is_nan(), "{values:?}: {stats}");
        }
    }
}

#[test]
fn a_nan_shows_in_every_figure() {
    let stats = stats(&[1.0, f64::NAN, 2.0]);

    assert!(stats.mean().is_nan() && stats.variance().is_nan() && stats.sum().is_nan());
    assert!(stats.min().is_nan() && stats.max().is_nan());
}

/// Whole numbers around an offset, to be scaled by a power of two: their moments are known without any rounding.
#[derive(Clone, Debug)]
struct Exact {
    offset: i64,
    steps: Vec<i64>,
    scale: f64,
}

impl Exact {
    fn values(&self) -> Vec<f64> {
        self.steps.iter().map(|step| (self.offset + step) as f64 * self.scale).collect()
    }

    fn count(&self) -> i128 {
        self.steps.len() as i128
    }

    fn sum_of_steps(&self) -> i128 {
        self.steps.iter().map(|&step| i128::from(step)).sum()
    }

    fn mean(&self) -> f64 {
        // Rounded once: a sum below 2¹⁰⁰ is divided as a whole and a fraction.
        let (sum, count) = (self.sum_of_steps() + i128::from(self.offset) * self.count(), self.count());
        ((sum / count) as f64 + (sum % count) as f64 / count as f64) * self.scale
    }

    fn variance(&self) -> f64 {
        let (sum, count) = (self.sum_of_steps(), self.count());
        let squares: i128 = self.steps.iter().map(|&step| (i128::from(step) * count - sum).pow(2)).sum();
        squares as f64 / (count as f64).powi(3) * self.scale * self.scale
    }
}

fn exact_numbers() -> impl Strategy<Value = Exact> {
    let spread = (0..36_u32).prop_map(|bits| 1_i64 << bits);
    let steps = spread.prop_flat_map(|spread| prop::collection::vec(-spread..=spread, 1..1500));
    let offset = prop_oneof![Just(0), -(1_i64 << 52)..(1 << 52), -1000..1000_i64];
    (offset, steps, -200..200_i32).prop_map(|(offset, steps, exponent)| Exact {
        offset,
        steps,
        scale: 2_f64.powi(exponent),
    })
}

proptest! {
    #[test]
    fn moments_are_the_exact_ones_however_the_numbers_are_partitioned(
        exact in exact_numbers(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        by_push: bool,
    ) {
        let values = exact.values();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(values.len() + 1)).collect();
        cuts.extend([0, values.len()]);
        cuts.sort_unstable();
        let parts = cuts.windows(2).map(|cut| &values[cut[0]..cut[1]]);
        let all = if by_push {
            parts.flatten().fold(StatCounter::new(), |mut all, &value| {
                all.push(value);
                all
            })
        } else {
            merged(parts)
        };

        let largest = values.iter().fold(0_f64, |largest, value| largest.max(value.abs()));
        let (mean, variance) = (exact.mean(), exact.variance());
        prop_assert_eq!(all.count(), values.len() as u64);
        prop_assert!((all.mean() - mean).abs() <= 4.0 * f64::EPSILON * largest, "mean {} {mean}", all.mean());
        prop_assert!((all.variance() - variance).abs() <= 1e-11 * variance, "{} {variance}", all.variance());
        let sum = (exact.sum_of_steps() + i128::from(exact.offset) * exact.count()) as f64 * exact.scale;
        let rounding = f64::EPSILON * largest * (values.len() as f64).powi(2);
        prop_assert!((all.sum() - sum).abs() <= rounding, "sum {} {sum}", all.sum());
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert_eq!((all.min(), all.max()), (least, greatest));
    }
}
