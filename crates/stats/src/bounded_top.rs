//! The k smallest elements of a stream.

use std::cmp::Ordering;
use std::fmt;

/// The first `k` elements of a stream in the order of a comparator.
///
/// A heap with the last of the kept elements on top: an element that does not belong costs one comparison, one that
/// does O(log k). Of elements that compare equal the earlier ones stay. Not itself sent between machines, because
/// its comparator is code: send [`BoundedTop::into_sorted_vec`] and [`extend`](Extend::extend) another one with it.
///
/// ```
/// use firesteel_stats::BoundedTop;
///
/// let mut top = BoundedTop::smallest(3);
/// top.extend([5, 1, 4, 1, 3]);
/// assert_eq!(top.into_sorted_vec(), [1, 1, 3]);
///
/// let mut longest = BoundedTop::new(1, |a: &&str, b: &&str| b.len().cmp(&a.len()));
/// longest.extend(["a", "ccc", "bb"]);
/// assert_eq!(longest.into_sorted_vec(), ["ccc"]);
/// ```
#[derive(Clone)]
pub struct BoundedTop<T, C> {
    k: usize,
    /// Unordered while fewer than `k`; then a heap in which no child is after its parent.
    items: Vec<T>,
    compare: C,
}

impl<T: Ord> BoundedTop<T, ()> {
    /// Keeps the `k` smallest elements.
    pub fn smallest(k: usize) -> BoundedTop<T, impl Fn(&T, &T) -> Ordering + Clone> {
        BoundedTop::new(k, T::cmp)
    }

    /// Keeps the `k` largest elements, the largest first.
    pub fn largest(k: usize) -> BoundedTop<T, impl Fn(&T, &T) -> Ordering + Clone> {
        BoundedTop::new(k, |a: &T, b: &T| b.cmp(a))
    }
}

impl<T, C: Fn(&T, &T) -> Ordering> BoundedTop<T, C> {
    /// Keeps the `k` elements that come first in the order of `compare`.
    pub fn new(k: usize, compare: C) -> Self {
        Self { k, items: Vec::new(), compare }
    }

    /// How many elements are kept, at most `k`.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether no element is kept.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Takes an element in if it is among the first `k` so far.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.items.len() < self.k {
            self.fill(item);
        } else if self.items.first().is_some_and(|last| (self.compare)(&item, last).is_lt()) {
            self.items[0] = item;
            self.sift_down(0);
        }
    }

    /// Takes in the elements of another one.
    pub fn merge<D>(&mut self, other: BoundedTop<T, D>) {
        self.extend(other.items);
    }

    /// Gives the kept elements in order.
    pub fn into_sorted_vec(mut self) -> Vec<T> {
        self.items.sort_unstable_by(&self.compare);
        self.items
    }

    fn fill(&mut self, item: T) {
        self.items.push(item);
        if self.items.len() == self.k {
            // Ordered once when full: cheaper than keeping the order with each element.
            (0..self.k / 2).rev().for_each(|parent| self.sift_down(parent));
        }
    }

    /// Moves the element down until none of its children comes after it.
    fn sift_down(&mut self, mut parent: usize) {
        let items = &mut self.items[..];
        loop {
            let mut child = 2 * parent + 1;
            if child >= items.len() {
                return;
            }
            if child + 1 < items.len() && (self.compare)(&items[child + 1], &items[child]).is_gt() {
                child += 1;
            }
            if (self.compare)(&items[child], &items[parent]).is_le() {
                return;
            }
            items.swap(parent, child);
            parent = child;
        }
    }
}

impl<T, C: Fn(&T, &T) -> Ordering> Extend<T> for BoundedTop<T, C> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

impl<T: fmt::Debug, C> fmt::Debug for BoundedTop<T, C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("BoundedTop").field("k", &self.k).field("items", &self.items).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    /// Behaviours: RDD-011.
    #[test]
    fn fewer_elements_than_asked_all_come_and_none_come_for_zero() {
        let top = |k, items: &[i32]| {
            let mut top = BoundedTop::smallest(k);
            top.extend(items.iter().copied());
            top.into_sorted_vec()
        };

        assert_eq!(top(3, &[2, 9, 1, 7]), [1, 2, 7]);
        assert_eq!(top(9, &[2, 9, 1]), [1, 2, 9]);
        assert!(top(0, &[2, 9, 1]).is_empty());
        assert!(top(3, &[]).is_empty());
    }

    #[test]
    fn an_element_that_does_not_belong_costs_one_comparison() {
        let comparisons = Cell::new(0);
        let mut top = BoundedTop::new(10, |a: &u32, b: &u32| {
            comparisons.set(comparisons.get() + 1);
            a.cmp(b)
        });
        top.extend(0..10);
        comparisons.set(0);

        top.extend(10..1010);

        assert_eq!(comparisons.get(), 1000);
    }

    #[test]
    fn of_equal_elements_the_earlier_ones_stay() {
        let mut top = BoundedTop::new(2, |a: &(u8, char), b: &(u8, char)| a.0.cmp(&b.0));
        top.extend([(1, 'a'), (1, 'b'), (1, 'c')]);

        let mut kept = top.into_sorted_vec();
        kept.sort_unstable();
        assert_eq!(kept, [(1, 'a'), (1, 'b')]);
    }

    proptest! {
        /// Behaviours: RDD-011.
        #[test]
        fn what_is_kept_is_what_a_full_sort_would_give(
            items in prop::collection::vec(0..100_u8, 0..200), k in 0..40_usize, cut: prop::sample::Index,
        ) {
            let cut = if items.is_empty() { 0 } else { cut.index(items.len()) };
            let (here, there) = items.split_at(cut);
            let (mut smallest, mut other) = (BoundedTop::smallest(k), BoundedTop::smallest(k));
            smallest.extend(here.iter().copied());
            other.extend(there.iter().copied());
            smallest.merge(other);
            let mut largest = BoundedTop::largest(k);
            largest.extend(items.iter().copied());

            let mut sorted = items;
            sorted.sort_unstable();
            let k = k.min(sorted.len());
            prop_assert_eq!(smallest.len(), k);
            prop_assert_eq!(smallest.into_sorted_vec(), &sorted[..k]);
            sorted.reverse();
            prop_assert_eq!(largest.into_sorted_vec(), &sorted[..k]);
        }
    }
}
