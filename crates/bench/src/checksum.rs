//! Answers condensed to a line of text that every system can compute.
//!
//! [`Digest`] is for rows in any order, [`OrderedDigest`] for sorted ones, [`Checksum`] is the text that is compared.
//! Both digests are sums of 64-bit numbers that wrap around, made from the mixing function of splitmix64, because that
//! is a few lines in Scala and Python too. They guard against wrong answers, not against malice.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How far two sums of floating-point numbers may be apart, relative to their size: rows are added in any order.
const TOLERANCE: f64 = 1e-9;

/// Spreads the bits of `x` over all 64.
#[inline]
pub fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// The number of a row of two numbers.
#[inline]
pub fn row(a: u64, b: u64) -> u64 {
    mix(mix(a).wrapping_add(b))
}

/// The number of a byte string (FNV-1a).
#[inline]
pub fn bytes(text: &[u8]) -> u64 {
    text.iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}

/// What is left of rows whose order does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    rows: u64,
    sum: u64,
}

impl Digest {
    /// With one row more, given by its number.
    #[inline]
    #[must_use]
    pub fn with(self, row: u64) -> Self {
        Self { rows: self.rows + 1, sum: self.sum.wrapping_add(mix(row)) }
    }

    /// With the rows of another digest.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { rows: self.rows + other.rows, sum: self.sum.wrapping_add(other.sum) }
    }

    /// The digest of all `rows`.
    pub fn of(rows: impl IntoIterator<Item = u64>) -> Self {
        rows.into_iter().fold(Self::default(), Self::with)
    }
}

/// What is left of rows in order: each counts by its place, wherever partitions begin and end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderedDigest {
    rows: u64,
    sum: u64,
    by_place: u64,
}

impl OrderedDigest {
    /// With one row more at the end.
    #[inline]
    #[must_use]
    pub fn with(self, row: u64) -> Self {
        let (rows, row) = (self.rows + 1, mix(row));
        Self {
            rows,
            sum: self.sum.wrapping_add(row),
            by_place: self.by_place.wrapping_add(row.wrapping_mul(rows)),
        }
    }

    /// With all rows of `next` behind those of this one.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self {
            rows: self.rows + next.rows,
            sum: self.sum.wrapping_add(next.sum),
            by_place: self
                .by_place
                .wrapping_add(next.by_place)
                .wrapping_add(next.sum.wrapping_mul(self.rows)),
        }
    }
}

/// What a timed run gives, as far as it gives anything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// Rows were looked at and dropped.
    Nothing,
    /// So many rows.
    Rows(u64),
    /// A sum of floating-point numbers.
    Real(f64),
}

/// The whole answer of a workload, as a text: a number of rows with a digest, or a floating-point number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Checksum(String);

impl Checksum {
    /// A number of rows, where nothing else is to be known of them.
    pub fn rows(rows: u64) -> Self {
        Self(rows.to_string())
    }

    /// A floating-point number.
    pub fn real(value: f64) -> Self {
        Self(format!("{value:.12e}"))
    }

    /// Whether both stand for the same answer: the same text, or floating-point numbers that are close.
    pub fn agrees_with(&self, other: &Self) -> bool {
        self == other
            || match (self.as_real(), other.as_real()) {
                (Some(one), Some(two)) => (one - two).abs() <= TOLERANCE * one.abs().max(two.abs()),
                _ => false,
            }
    }

    /// Whether a timed run gave this answer.
    pub fn confirms(&self, answer: Answer) -> bool {
        match answer {
            Answer::Nothing => true,
            Answer::Rows(rows) => self.0.split(':').next() == Some(&rows.to_string()),
            Answer::Real(value) => self.agrees_with(&Self::real(value)),
        }
    }

    fn as_real(&self) -> Option<f64> {
        // A count is exact, and is no real number here.
        self.0.contains('.').then(|| self.0.parse().ok()).flatten()
    }
}

impl From<Digest> for Checksum {
    fn from(digest: Digest) -> Self {
        Self(format!("{}:{:016x}", digest.rows, digest.sum))
    }
}

impl From<OrderedDigest> for Checksum {
    fn from(digest: OrderedDigest) -> Self {
        Self(format!("{}:{:016x}", digest.rows, digest.by_place))
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(rows: &[u64]) -> OrderedDigest {
        rows.iter().copied().fold(OrderedDigest::default(), OrderedDigest::with)
    }

    #[test]
    fn a_digest_does_not_know_the_order_of_rows_or_where_they_were_cut() {
        let whole = Digest::of([3, 1, 2]);

        assert_eq!(whole, Digest::of([1, 2, 3]));
        assert_eq!(whole, Digest::of([2]).and(Digest::of([1, 3])));
    }

    #[test]
    fn a_digest_knows_how_often_a_row_is_there() {
        let texts = [Digest::of([1, 1, 2]), Digest::of([1, 2, 2]), Digest::of([1, 2])].map(Checksum::from);

        assert!(texts[0] != texts[1] && texts[1] != texts[2] && texts[0] != texts[2], "{texts:?}");
    }

    #[test]
    fn an_ordered_digest_knows_the_order_and_not_the_cut() {
        let whole = ordered(&[5, 6, 7, 8]);

        assert_ne!(whole, ordered(&[5, 7, 6, 8]));
        for cut in 0..=4 {
            let (one, two) = [5, 6, 7, 8].split_at(cut);
            assert_eq!(whole, ordered(one).then(ordered(two)), "cut at {cut}");
        }
    }

    /// The peers compute the same numbers in their own languages; these are what all of them must give.
    #[test]
    fn the_numbers_of_rows_are_fixed() {
        assert_eq!(mix(1), 0x5692_161D_100B_05E5);
        assert_eq!(bytes(b"ba"), 0x08A6_3307_B54D_D00C);
        assert_eq!(Checksum::from(Digest::of([row(1, 2)])).to_string(), "1:d84075a38c2a7917");
    }

    #[test]
    fn floating_point_answers_agree_when_they_are_close() {
        let agree = |one, two| Checksum::real(one).agrees_with(&Checksum::real(two));

        assert!(agree(1.0, 1.0 + 1e-12));
        assert!(!agree(1.0, 1.0 + 1e-6));
        assert!(!Checksum::rows(4_000_000_000).agrees_with(&Checksum::rows(4_000_000_001)));
    }

    #[test]
    fn a_timed_answer_is_held_to_the_checksum() {
        let checksum = Checksum::from(Digest::of([1, 2]));

        let verdicts = [Answer::Rows(2), Answer::Nothing, Answer::Rows(3), Answer::Real(2.0)];
        assert_eq!(verdicts.map(|answer| checksum.confirms(answer)), [true, true, false, false]);
        assert!(Checksum::real(0.5).confirms(Answer::Real(0.5)));
    }
}
