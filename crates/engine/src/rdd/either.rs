//! One of two kinds of rows.

/// Rows from one of two places. Decided once for a partition when the rows are folded.
pub(crate) enum Either<A, B> {
    One(A),
    Other(B),
}

impl<T, A: Iterator<Item = T>, B: Iterator<Item = T>> Iterator for Either<A, B> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match self {
            Self::One(rows) => rows.next(),
            Self::Other(rows) => rows.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::One(rows) => rows.size_hint(),
            Self::Other(rows) => rows.size_hint(),
        }
    }

    fn fold<C, F: FnMut(C, T) -> C>(self, init: C, f: F) -> C {
        match self {
            Self::One(rows) => rows.fold(init, f),
            Self::Other(rows) => rows.fold(init, f),
        }
    }
}
