//! One of two iterators over the same rows.

/// Rows that come in one of two ways, known once for a whole partition.
pub(super) enum Either<A, B> {
    One(A),
    Two(B),
}

impl<A: Iterator, B: Iterator<Item = A::Item>> Iterator for Either<A, B> {
    type Item = A::Item;

    #[inline]
    fn next(&mut self) -> Option<A::Item> {
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
    fn fold<C, F: FnMut(C, A::Item) -> C>(self, init: C, f: F) -> C {
        match self {
            Self::One(rows) => rows.fold(init, f),
            Self::Two(rows) => rows.fold(init, f),
        }
    }
}
