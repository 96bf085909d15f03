//! An iterator that is one of two.

/// The rows of one of two iterators, which one is known when the task runs.
///
/// A loop over all rows looks once which one it is, not for each row.
pub(crate) enum Either<A, B> {
    One(A),
    Two(B),
}

impl<T, A: Iterator<Item = T>, B: Iterator<Item = T>> Iterator for Either<A, B> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match self {
            Self::One(rows) => rows.next(),
            Self::Two(rows) => rows.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::One(rows) => rows.size_hint(),
            Self::Two(rows) => rows.size_hint(),
        }
    }

    #[inline]
    fn fold<C, F: FnMut(C, T) -> C>(self, init: C, f: F) -> C {
        match self {
            Self::One(rows) => rows.fold(init, f),
            Self::Two(rows) => rows.fold(init, f),
        }
    }
}
