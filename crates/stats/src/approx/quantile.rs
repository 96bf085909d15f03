//! Quantiles of the distributions behind the bounds.

use statrs::distribution::{ContinuousCDF, DiscreteCDF, Normal, Poisson, StudentsT};

/// Counts up to this mean are looked up in the distribution itself, whose cost grows with the mean.
const POISSON_EXACT_MAX: f64 = 1_000.0;

/// Means of so many numbers are as good as normal; fewer follow Student's distribution.
const NORMAL_COUNT_MIN: u64 = 100;

/// How many standard deviations on both sides of a mean of `count` numbers hold the truth; `count` is above 1.
pub(super) fn deviations(count: u64, confidence: f64) -> f64 {
    let upper = f64::midpoint(1.0, confidence);
    if count > NORMAL_COUNT_MIN {
        Normal::standard().inverse_cdf(upper)
    } else {
        let freedom = (count - 1) as f64;
        StudentsT::new(0.0, 1.0, freedom).expect("there are degrees of freedom").inverse_cdf(upper)
    }
}

/// The least count that a Poisson distribution with this mean reaches with `probability`.
pub(super) fn poisson(mean: f64, probability: f64) -> f64 {
    if mean <= 0.0 || probability <= 0.0 {
        return 0.0;
    }
    if probability >= 1.0 {
        return f64::INFINITY;
    }
    if mean <= POISSON_EXACT_MAX {
        return Poisson::new(mean).expect("the mean is above 0").inverse_cdf(probability) as f64;
    }
    // Cornish and Fisher's expansion of a distribution that is nearly normal, by its skewness.
    let z = Normal::standard().inverse_cdf(probability);
    let deviation = mean.sqrt();
    let smooth = mean + z * deviation + (z * z - 1.0) / 6.0 + (z - z * z * z) / (72.0 * deviation);
    (smooth - 0.5).ceil()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 5e-4 * expected.abs(), "{actual} is not {expected}");
    }

    #[test]
    fn deviations_are_those_of_the_tables() {
        for (count, confidence, expected) in [
            (2, 0.95, 12.706),
            (3, 0.95, 4.303),
            (6, 0.95, 2.571),
            (31, 0.95, 2.042),
            (100, 0.95, 1.984),
            (11, 0.99, 3.169),
            (11, 0.90, 1.812),
            (101, 0.95, 1.960),
            (1_000_000, 0.99, 2.576),
            (1_000_000, 0.90, 1.645),
        ] {
            assert_close(deviations(count, confidence), expected);
        }
        let infinity = f64::INFINITY;
        assert_eq!((deviations(5, 0.0), deviations(5, 1.0), deviations(500, 1.0)), (0.0, infinity, infinity));
    }

    #[test]
    fn poisson_quantiles_are_those_of_the_tables() {
        for (mean, low, high) in
            [(0.5, 0.0, 2.0), (1.0, 0.0, 3.0), (5.0, 1.0, 10.0), (10.0, 4.0, 17.0), (100.0, 81.0, 120.0)]
        {
            assert_eq!((poisson(mean, 0.025), poisson(mean, 0.975)), (low, high), "{mean}");
        }
        assert_eq!((poisson(3.0, 0.0), poisson(3.0, 1.0), poisson(0.0, 0.5)), (0.0, f64::INFINITY, 0.0));
    }

    #[test]
    fn quantiles_of_large_counts_are_as_exact_as_those_of_small_ones() {
        for mean in [1_000.5, 2_345.6, 10_000.25, 99_999.9] {
            let exact = Poisson::new(mean).unwrap();
            for probability in [0.000_5, 0.005, 0.025, 0.3, 0.5, 0.8, 0.975, 0.995, 0.999_5] {
                let expected = exact.inverse_cdf(probability) as f64;

                assert!((poisson(mean, probability) - expected).abs() < 0.5, "{mean} at {probability}");
            }
        }
    }
}
