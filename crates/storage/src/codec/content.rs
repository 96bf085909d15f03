//! A sum of rows that does not depend on their order: [`ContentSum`].

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A checksum of rows regardless of their order: equal rows in equal partitions give equal sums, others nearly never.
///
/// Rows are taken in their compact form, so that the sum does not depend on compression, frames or spills.
///
/// ```
/// use firesteel_storage::codec::ContentSum;
///
/// let mut one = ContentSum::default();
/// one.add(0, b"a");
/// one.add(0, b"b");
/// let mut other = ContentSum::default();
/// other.add(0, b"b");
/// let mut rest = ContentSum::default();
/// rest.add(0, b"a");
/// other.merge(rest);
/// assert_eq!(one, other);
///
/// other.add(1, b"a");
/// assert_ne!(one, other);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentSum(u64);

impl ContentSum {
    /// The sum of this value.
    pub const fn from_value(value: u64) -> Self {
        Self(value)
    }

    /// The sum as a number.
    pub const fn value(self) -> u64 {
        self.0
    }

    /// Adds a row of a partition.
    #[inline]
    pub fn add(&mut self, partition: u32, row: &[u8]) {
        // Added and not xored, so that two equal rows do not cancel each other out.
        self.0 = self.0.wrapping_add(xxh3_64_with_seed(row, u64::from(partition)));
    }

    /// Adds the rows of another sum.
    pub fn merge(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }
}
