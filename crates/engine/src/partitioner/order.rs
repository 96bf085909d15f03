//! Which way rows are sorted.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// Whether the smallest or the largest key comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Order {
    /// The smallest key first.
    #[default]
    Ascending,
    /// The largest key first.
    Descending,
}

impl Order {
    /// Turns the order of two keys round if this one descends.
    ///
    /// ```
    /// use firesteel::Order;
    ///
    /// let mut numbers = [2, 3, 1];
    /// numbers.sort_by(|a, b| Order::Descending.apply(a.cmp(b)));
    /// assert_eq!(numbers, [3, 2, 1]);
    /// ```
    #[inline]
    pub fn apply(self, ascending: Ordering) -> Ordering {
        match self {
            Self::Ascending => ascending,
            Self::Descending => ascending.reverse(),
        }
    }
}
