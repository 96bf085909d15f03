//! Why a sketch cannot be made or merged.

/// A sketch that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum HyperLogLogError {
    /// The relative error asked for is not a number above 0, or would take more memory than is sensible.
    #[error("relative standard deviation {relative_sd} is too small: ask for at least {least}")]
    RelativeSdTooSmall { relative_sd: f64, least: f64 },

    /// Sketches with different numbers of registers have no common sketch.
    #[error("sketches of precision {here} and {there} cannot be merged: make both with one precision")]
    PrecisionMismatch { here: u8, there: u8 },
}
