//! The buckets of a histogram: which one holds a number.

use serde::{Deserialize, Serialize};

/// Why there are no such buckets.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum HistogramError {
    /// One edge or none encloses nothing.
    #[error("{edges} bucket edges enclose no bucket: give at least two")]
    TooFewEdges { edges: usize },

    /// An edge is below the one before it, or is no number.
    #[error("bucket edge {index} is {edge}, but edges must be numbers in ascending order")]
    UnorderedEdge { index: usize, edge: f64 },

    /// Zero buckets were asked for.
    #[error("a histogram needs at least one bucket")]
    NoBuckets,

    /// There is no number, or one of them is infinite or NaN: no even edges lie between.
    #[error("no even buckets fit between {min} and {max}: the data is empty or holds an infinity or NaN")]
    NoFiniteRange { min: f64, max: f64 },
}

/// Adjoining buckets, each holding the numbers from its lower edge up to, not including, its upper edge.
///
/// Only the last bucket includes its upper edge. Numbers outside of all buckets, and NaN, are in none.
///
/// ```
/// use firesteel_stats::Buckets;
///
/// let buckets = Buckets::new(vec![0.0, 10.0, 20.0])?;
/// assert_eq!(buckets.find(10.0), Some(1));
/// assert_eq!(buckets.find(20.0), Some(1));
/// assert_eq!(buckets.find(20.5), None);
/// # Ok::<(), firesteel_stats::HistogramError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Buckets {
    edges: Vec<f64>,
    /// Buckets per unit, if the buckets are so even that a number's bucket can be computed.
    per_unit: Option<f64>,
}

impl Buckets {
    /// Makes the buckets between these edges, which are in ascending order; infinite ones are fine.
    pub fn new(edges: Vec<f64>) -> Result<Self, HistogramError> {
        if edges.len() < 2 {
            return Err(HistogramError::TooFewEdges { edges: edges.len() });
        }
        let follows = |index: usize| match index.checked_sub(1) {
            Some(before) => edges[before] <= edges[index],
            None => !edges[index].is_nan(),
        };
        if let Some(index) = (0..edges.len()).find(|&index| !follows(index)) {
            return Err(HistogramError::UnorderedEdge { index, edge: edges[index] });
        }
        let per_unit = buckets_per_unit(&edges);
        Ok(Self { edges, per_unit })
    }

    /// Makes `count` buckets of the same width between the least and the greatest number; one if those are equal.
    pub fn even(min: f64, max: f64, count: usize) -> Result<Self, HistogramError> {
        if count == 0 {
            return Err(HistogramError::NoBuckets);
        }
        if !min.is_finite() || !max.is_finite() || min > max {
            return Err(HistogramError::NoFiniteRange { min, max });
        }
        let count = if min < max { count } else { 1 };
        let edge = |index: usize| {
            let share = index as f64 / count as f64;
            // Multiplied first where it cannot overflow: then whole numbers give whole edges.
            let product = index as f64 * (max - min);
            if product.is_finite() { min + product / count as f64 } else { min * (1.0 - share) + max * share }
        };
        Self::new((0..count).map(edge).chain([max]).collect())
    }

    /// The edges, one more than there are buckets.
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// How many buckets there are, at least one.
    #[expect(clippy::len_without_is_empty, reason = "there is always a bucket")]
    pub fn len(&self) -> usize {
        self.edges.len() - 1
    }

    /// Finds the bucket that holds the number.
    #[inline]
    pub fn find(&self, value: f64) -> Option<usize> {
        let edges = &self.edges[..];
        let last = edges.len() - 2;
        // Both comparisons are false for NaN.
        if !(value >= edges[0] && value <= edges[last + 1]) {
            return None;
        }
        match self.per_unit {
            Some(per_unit) => Some(guess(edges, last, value, per_unit)),
            None => Some((edges.partition_point(|edge| *edge <= value) - 1).min(last)),
        }
    }
}

/// The bucket computed from the number, put right where rounding or an edge a little off its place misled it.
#[inline]
#[expect(clippy::cast_sign_loss, reason = "the number is not below the first edge")]
fn guess(edges: &[f64], last: usize, value: f64, per_unit: f64) -> usize {
    // By way of 32 bits, to which a float is converted in fewer steps; no one has more buckets.
    let guess = (((value - edges[0]) * per_unit) as u32 as usize).min(last);
    let lowered = guess - usize::from(value < edges[guess]);
    (lowered + usize::from(value >= edges[lowered + 1])).min(last)
}

/// Buckets per unit, unless an edge is far from its even place.
fn buckets_per_unit(edges: &[f64]) -> Option<f64> {
    let last = edges.len() - 1;
    let width = (edges[last] - edges[0]) / last as f64;
    // A thousandth of a width moves a number to a neighbouring bucket at most.
    let is_even =
        |(index, edge): (usize, &f64)| (edge - (edges[0] + index as f64 * width)).abs() <= width * 1e-3;
    let per_unit = 1.0 / width;
    let computable = width > 0.0 && width.is_finite() && per_unit.is_finite();
    (computable && edges.iter().enumerate().all(is_even)).then_some(per_unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const INFINITY: f64 = f64::INFINITY;

    fn even(min: f64, max: f64, count: usize) -> Vec<f64> {
        Buckets::even(min, max, count).unwrap().edges().to_vec()
    }

    /// Behaviours: RDD-023.
    #[test]
    fn even_edges_lie_between_min_and_max_and_equal_ends_give_one_bucket() {
        assert_eq!(even(1.0, 50.0, 1), [1.0, 50.0]);
        assert_eq!(even(0.0, 10.0, 4), [0.0, 2.5, 5.0, 7.5, 10.0]);
        assert_eq!(even(1.0, 4.0, 3), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(even(3.0, 3.0, 5), [3.0, 3.0]);
        assert_eq!(even(-1e308, 1e308, 2), [-1e308, 0.0, 1e308]);
        assert_eq!(even(0.0, 1e308, 4), [0.0, 0.25e308, 0.5e308, 0.75e308, 1e308]);
    }

    /// Behaviours: RDD-023.
    #[test]
    fn too_few_edges_and_ranges_that_are_not_finite_are_errors() {
        let error = |edges: &[f64]| Buckets::new(edges.to_vec()).unwrap_err();
        assert_eq!(error(&[]), HistogramError::TooFewEdges { edges: 0 });
        assert_eq!(error(&[1.0]), HistogramError::TooFewEdges { edges: 1 });
        assert_eq!(error(&[1.0, 3.0, 2.0]), HistogramError::UnorderedEdge { index: 2, edge: 2.0 });
        assert!(matches!(error(&[f64::NAN, 1.0]), HistogramError::UnorderedEdge { index: 0, .. }));
        assert!(matches!(error(&[1.0, f64::NAN]), HistogramError::UnorderedEdge { index: 1, .. }));

        let is_error =
            |min, max| matches!(Buckets::even(min, max, 3), Err(HistogramError::NoFiniteRange { .. }));
        assert!(is_error(f64::NAN, f64::NAN) && is_error(0.0, INFINITY) && is_error(-INFINITY, 0.0));
        assert!(is_error(INFINITY, -INFINITY), "the range of no numbers");
        assert_eq!(Buckets::even(0.0, 1.0, 0), Err(HistogramError::NoBuckets));
    }

    /// Behaviours: RDD-023.
    #[test]
    fn buckets_are_half_open_but_for_the_last_and_hold_no_nan() {
        for edges in [[0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 1.5, 3.0], [-INFINITY, 1.0, 2.0, INFINITY]] {
            let buckets = Buckets::new(edges.to_vec()).unwrap();

            assert_eq!(buckets.find(edges[0]), Some(0));
            assert_eq!(buckets.find(0.999), Some(0));
            assert_eq!(buckets.find(1.0), Some(1));
            assert_eq!(buckets.find(edges[2]), Some(2));
            assert_eq!(buckets.find(edges[3]), Some(2), "the last bucket is closed");
            assert_eq!(buckets.find(f64::NAN), None);
        }
        let buckets = Buckets::new(vec![0.0, 1.0]).unwrap();
        assert_eq!([-0.1, 1.1, INFINITY, -INFINITY].map(|value| buckets.find(value)), [None; 4]);
    }

    #[test]
    fn even_buckets_are_computed_and_others_are_searched() {
        let is_computed = |edges: &[f64]| Buckets::new(edges.to_vec()).unwrap().per_unit.is_some();

        assert!(is_computed(&[0.0, 0.1, 0.2, 0.300_000_000_000_000_04, 0.4]));
        assert!(is_computed(&even(-7.0, 1e9, 1000)));
        assert!(!is_computed(&[0.0, 1.0, 10.0]));
        assert!(!is_computed(&[2.0, 2.0]));
        assert!(!is_computed(&[0.0, INFINITY]) && !is_computed(&[-INFINITY, 0.0, INFINITY]));
        assert!(!is_computed(&[0.0, 5e-324]), "so narrow that its inverse overflows");
    }

    /// The bucket by its definition.
    fn naive(edges: &[f64], value: f64) -> Option<usize> {
        let last = edges.len() - 2;
        let holds =
            |&i: &usize| edges[i] <= value && (value < edges[i + 1] || i == last && value <= edges[i + 1]);
        (0..=last).rev().find(holds)
    }

    proptest! {
        #[test]
        fn a_computed_bucket_is_the_one_whose_edges_enclose_the_number(
            min in -1e3..1e3_f64, width in 1e-6..1e4_f64, count in 1..60_usize,
            pick: prop::sample::Index, nudge in -2..=2_i64, inside in -0.2..1.2_f64,
        ) {
            let buckets = Buckets::even(min, min + width, count).unwrap();
            let edges = buckets.edges();
            // Numbers next to an edge are the ones that rounding can misplace.
            let at_edge = edges[pick.index(edges.len())];
            let beside = f64::from_bits(at_edge.to_bits().saturating_add_signed(nudge));

            prop_assert!(buckets.per_unit.is_some());
            for value in [at_edge, beside, min + inside * width] {
                prop_assert_eq!(buckets.find(value), naive(edges, value), "{}", value);
            }
        }

        #[test]
        fn a_searched_bucket_is_the_one_whose_edges_enclose_the_number(
            mut edges in prop::collection::vec(-20..20_i8, 2..12), value in -25..25_i8,
        ) {
            edges.sort_unstable();
            let edges: Vec<f64> = edges.into_iter().map(f64::from).collect();
            let buckets = Buckets::new(edges.clone()).unwrap();

            prop_assert_eq!(buckets.find(f64::from(value)), naive(&edges, f64::from(value)));
        }
    }
}
