//! Why a sample cannot be drawn as asked.

/// A fraction or a weight that no sample can have.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum SamplingError {
    /// A fraction below zero, or not a finite number.
    #[error("sampling fraction {fraction} must be a number of at least 0")]
    InvalidFraction { fraction: f64 },

    /// Without replacement a row is taken at most once.
    #[error("sampling fraction {fraction} is above 1: sample with replacement, or ask for less")]
    FractionAboveOne { fraction: f64 },

    /// A weight of a split below zero, or not a finite number.
    #[error("weight {weight} of split {split} must be a number of at least 0")]
    InvalidWeight { split: usize, weight: f64 },

    /// No weight of a split is above zero, or their sum is too large for a number.
    #[error("the sum of the split weights is {sum}, but must be above 0 and finite")]
    InvalidWeightSum { sum: f64 },
}

/// How far a fraction may lie outside of its range and still count as its end.
///
/// Fractions are often computed; a sum of parts that gives 1.0000000002 is meant as 1.
const ROUNDING: f64 = 1e-6;

/// The fraction within 0 and 1, or why it is none.
pub(super) fn probability(fraction: f64) -> Result<f64, SamplingError> {
    let fraction = rate(fraction)?;
    if fraction > 1.0 + ROUNDING {
        return Err(SamplingError::FractionAboveOne { fraction });
    }
    Ok(fraction.min(1.0))
}

/// The fraction as a rate of at least 0, or why it is none.
pub(super) fn rate(fraction: f64) -> Result<f64, SamplingError> {
    if fraction.is_finite() && fraction >= -ROUNDING {
        Ok(fraction.max(0.0))
    } else {
        Err(SamplingError::InvalidFraction { fraction })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_a_hair_outside_counts_as_the_end_of_its_range() {
        assert_eq!(probability(1.000_000_1), Ok(1.0));
        assert_eq!(probability(-0.000_000_1), Ok(0.0));
        assert_eq!(rate(7.5), Ok(7.5));
    }

    /// Behaviours: RDD-020.
    #[test]
    fn negative_and_endless_fractions_and_more_than_all_without_replacement_are_errors() {
        assert_eq!(probability(-0.1), Err(SamplingError::InvalidFraction { fraction: -0.1 }));
        assert_eq!(probability(1.1), Err(SamplingError::FractionAboveOne { fraction: 1.1 }));
        assert_eq!(rate(-2.0), Err(SamplingError::InvalidFraction { fraction: -2.0 }));
        assert!(rate(f64::INFINITY).is_err() && rate(f64::NAN).is_err());
        assert!(probability(f64::NAN).is_err());
    }
}
