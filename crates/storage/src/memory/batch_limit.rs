//! How many rows may come together before memory is looked at: [`BatchLimit`].

use std::mem::needs_drop;

use super::meter;

/// A bound on what a batch of rows may take, by the meter of the task: a larger row is alone in its batch.
///
/// What rows own is read from the meter, which costs two loads for each. Rows that own nothing do not pay for that: the
/// size of their type bounds the rows of a batch. (Without the counting allocator nothing is known of what
/// rows own, and only the size of their type counts.)
#[derive(Clone, Copy, Debug)]
pub struct BatchLimit {
    /// What the task held when the batch began, and the bytes of a batch.
    live_max: i64,
}

impl BatchLimit {
    /// What a batch may take before another row is added to it.
    pub const BYTES: usize = 64 << 10;

    /// The limit of a batch that begins now.
    #[inline]
    pub fn start() -> Self {
        Self { live_max: meter::live().saturating_add_unsigned(Self::BYTES as u64) }
    }

    /// Whether the rows of type `T` that have come since own as much as a batch may take.
    #[inline]
    pub fn is_reached<T>(self) -> bool {
        needs_drop::<T>() && meter::live() > self.live_max
    }

    /// How many rows a batch may have, regardless of what they own: `most`, or fewer if the type is large.
    pub const fn rows<T>(most: usize) -> usize {
        let size = if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
        match Self::BYTES / size {
            0 => 1,
            rows if rows < most => rows,
            _ => most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::is_counting;

    #[test]
    fn a_batch_has_as_many_rows_as_fit_by_their_type_and_at_least_one() {
        assert_eq!(BatchLimit::rows::<()>(1024), 1024);
        assert_eq!(BatchLimit::rows::<u64>(1024), 1024);
        assert_eq!(BatchLimit::rows::<[u8; 1024]>(1024), 64);
        assert_eq!(BatchLimit::rows::<[u8; 2 * BatchLimit::BYTES]>(1024), 1);
    }

    #[test]
    fn what_rows_own_counts_only_if_they_own_something() {
        let limit = BatchLimit::start();
        let row = vec![0_u8; BatchLimit::BYTES / 2];
        assert!(!limit.is_reached::<Vec<u8>>());

        let rows = [row, vec![0_u8; BatchLimit::BYTES]];

        assert_eq!(limit.is_reached::<Vec<u8>>(), is_counting());
        assert!(!limit.is_reached::<u64>());
        drop(rows);
        assert!(!limit.is_reached::<Vec<u8>>());
    }
}
