//! The median of a growing collection.

use std::{cmp::Reverse, collections::BinaryHeap};

/// Two heaps that meet in the middle: adding costs O(log n), asking nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Median {
    lower: BinaryHeap<u64>,
    upper: BinaryHeap<Reverse<u64>>,
}

impl Median {
    pub(crate) fn add(&mut self, value: u64) {
        if self.lower.peek().is_none_or(|middle| value <= *middle) {
            self.lower.push(value);
        } else {
            self.upper.push(Reverse(value));
        }
        if self.lower.len() > self.upper.len() + 1 {
            self.upper.extend(self.lower.pop().map(Reverse));
        } else if self.upper.len() > self.lower.len() {
            self.lower.extend(self.upper.pop().map(|Reverse(value)| value));
        }
    }

    /// The middle value, or the mean of the two middle ones rounded down; none when empty.
    pub(crate) fn get(&self) -> Option<u64> {
        let lower = *self.lower.peek()?;
        match self.upper.peek() {
            Some(Reverse(upper)) if self.upper.len() == self.lower.len() => Some(lower.midpoint(*upper)),
            Some(_) | None => Some(lower),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_of_what_was_added() {
        let mut median = Median::default();
        assert_eq!(median.get(), None);

        let after_each: Vec<_> = [5, 1, 9, 3]
            .into_iter()
            .map(|value| {
                median.add(value);
                median.get().unwrap()
            })
            .collect();

        assert_eq!(after_each, [5, 3, 5, 4]);
    }
}
