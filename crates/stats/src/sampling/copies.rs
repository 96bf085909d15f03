//! One row that is given out several times.

/// A row and how often it is still to be given out; the last time it moves, so a single copy clones nothing.
#[derive(Clone, Debug)]
pub(super) struct Copies<T> {
    item: Option<T>,
    /// How many are left besides the one in `item`.
    more: u32,
}

impl<T: Clone> Copies<T> {
    /// No row.
    pub(super) fn none() -> Self {
        Self { item: None, more: 0 }
    }

    /// `count` copies of a row.
    pub(super) fn of(item: T, count: u32) -> Self {
        match count.checked_sub(1) {
            Some(more) => Self { item: Some(item), more },
            None => Self::none(),
        }
    }

    /// The next copy.
    #[inline]
    pub(super) fn next(&mut self) -> Option<T> {
        match self.more.checked_sub(1) {
            Some(more) => {
                self.more = more;
                self.item.clone()
            }
            None => self.item.take(),
        }
    }

    /// How many copies are left.
    pub(super) fn len(&self) -> usize {
        self.item.as_ref().map_or(0, |_| self.more as usize + 1)
    }

    /// Folds over the copies that are left.
    #[inline]
    pub(super) fn fold<B>(self, init: B, f: &mut impl FnMut(B, T) -> B) -> B {
        match self.item {
            Some(item) => {
                let result = (0..self.more).fold(init, |result, _| f(result, item.clone()));
                f(result, item)
            }
            None => init,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn copies_are_counted_and_the_last_one_moves() {
        let item = Rc::new(());
        let mut copies = Copies::of(Rc::clone(&item), 2);

        assert_eq!(copies.len(), 2);
        assert_eq!(copies.next().map(|copy| Rc::strong_count(&copy)), Some(3));
        assert_eq!(copies.next().map(|copy| Rc::strong_count(&copy)), Some(2));
        assert_eq!((copies.next(), copies.len()), (None, 0));
        assert_eq!(Copies::of(item, 0).len(), 0);
    }
}
