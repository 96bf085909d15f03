//! What all approximate actions have in common.

/// A confidence that is no probability.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("confidence {confidence} must lie within 0 and 1")]
pub struct ConfidenceError {
    /// The confidence asked for.
    pub confidence: f64,
}

/// Merges the results of tasks as they come, and answers at any time from those that came.
pub trait ApproximateEvaluator {
    /// What one task gives.
    type Output;
    /// What the action gives.
    type Result;

    /// Takes the result of one partition, of which each comes once.
    fn merge(&mut self, output: Self::Output);

    /// Gives the answer from the results so far: exact when all came.
    fn current_result(&self) -> Self::Result;
}

/// How many of the partitions are done, and how sure an answer must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Progress {
    total: u32,
    merged: u32,
    /// How sure an answer must be.
    pub(super) confidence: f64,
}

/// How much of the data an answer stands on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Seen {
    Nothing,
    /// A share between 0 and 1.
    Share(f64),
    Everything,
}

impl Progress {
    pub(super) fn new(partitions: u32, confidence: f64) -> Result<Self, ConfidenceError> {
        if (0.0..=1.0).contains(&confidence) {
            Ok(Self { total: partitions, merged: 0, confidence })
        } else {
            Err(ConfidenceError { confidence })
        }
    }

    pub(super) fn advance(&mut self) {
        self.merged += 1;
    }

    pub(super) fn seen(&self) -> Seen {
        if self.merged >= self.total {
            Seen::Everything
        } else if self.merged == 0 {
            Seen::Nothing
        } else {
            Seen::Share(f64::from(self.merged) / f64::from(self.total))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confidence_is_a_probability() {
        assert!(Progress::new(1, 0.0).is_ok() && Progress::new(1, 1.0).is_ok());
        assert_eq!(Progress::new(1, 1.1), Err(ConfidenceError { confidence: 1.1 }));
        assert!(Progress::new(1, -0.1).is_err() && Progress::new(1, f64::NAN).is_err());
    }

    #[test]
    fn no_partitions_are_everything() {
        assert_eq!(Progress::new(0, 0.9).unwrap().seen(), Seen::Everything);
    }
}
