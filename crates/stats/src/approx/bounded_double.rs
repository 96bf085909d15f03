//! A number that is known only to lie between two others.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An estimate with the bounds that hold the truth with some confidence.
///
/// ```
/// use firesteel_stats::BoundedDouble;
///
/// let exact = BoundedDouble::exact(3.0);
/// assert_eq!((exact.low, exact.mean, exact.high, exact.confidence), (3.0, 3.0, 3.0, 1.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundedDouble {
    /// The estimate.
    pub mean: f64,
    /// The probability that the truth lies within the bounds.
    pub confidence: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl BoundedDouble {
    /// Makes the estimate that is the truth.
    pub fn exact(value: f64) -> Self {
        Self { mean: value, confidence: 1.0, low: value, high: value }
    }

    /// Nothing is known but that the truth is at least `low`.
    pub(super) fn unknown(low: f64) -> Self {
        Self { mean: 0.0, confidence: 0.0, low, high: f64::INFINITY }
    }
}

impl fmt::Display for BoundedDouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} within [{}, {}]", self.mean, self.low, self.high)
    }
}
