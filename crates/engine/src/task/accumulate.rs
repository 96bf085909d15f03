//! What can be accumulated.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::data::Data;

/// A value that grows by adding, in any order.
///
/// ```
/// use firesteel::{Accumulate, prelude::*};
///
/// /// The largest number seen.
/// #[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
/// struct Largest(Option<i64>);
///
/// impl Accumulate for Largest {
///     type Input = i64;
///     fn zero(&self) -> Self {
///         Self::default()
///     }
///     fn is_zero(&self) -> bool {
///         self.0.is_none()
///     }
///     fn add(&mut self, input: i64) {
///         self.0 = self.0.max(Some(input));
///     }
///     fn merge(&mut self, other: Self) {
///         self.0 = self.0.max(other.0);
///     }
/// }
///
/// let ctx = Context::local(2)?;
/// let largest = ctx.accumulator("largest", Largest::default());
/// ctx.range(0..100_i64).with(largest.clone()).for_each(|largest, x| largest.add(x))?;
/// assert_eq!(largest.value().0, Some(99));
/// # Ok::<(), firesteel::Error>(())
/// ```
pub trait Accumulate: Data + fmt::Debug {
    /// What is added.
    type Input;

    /// A value of the same kind that nothing was added to.
    #[must_use]
    fn zero(&self) -> Self;

    /// Whether nothing was added; such a copy does not travel.
    fn is_zero(&self) -> bool;

    /// Adds one.
    fn add(&mut self, input: Self::Input);

    /// Adds everything that was added to `other`.
    fn merge(&mut self, other: Self);

    /// Writes the value as listeners and pages show it. What is long is cut off, so `out` may refuse more at any time.
    ///
    /// ```
    /// # use firesteel::{Accumulate, LongSum};
    /// let mut text = String::new();
    /// LongSum { sum: 5, count: 2 }.show(&mut text)?;
    /// assert_eq!(text, "5");
    /// # Ok::<(), std::fmt::Error>(())
    /// ```
    fn show(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{self:?}")
    }
}

macro_rules! sums {
    ($($(#[$doc:meta])* $name:ident of $number:ty, $add:path;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct $name {
            /// What all inputs add up to.
            pub sum: $number,
            /// How many inputs there were.
            pub count: u64,
        }

        impl $name {
            /// The average; none when nothing was added.
            ///
            /// ```
            /// # use firesteel::{DoubleSum, LongSum};
            /// assert_eq!(LongSum { sum: 5, count: 2 }.average(), Some(2.5));
            /// assert_eq!(DoubleSum::default().average(), None);
            /// ```
            pub fn average(&self) -> Option<f64> {
                (self.count > 0).then(|| self.sum as f64 / self.count as f64)
            }
        }

        impl Accumulate for $name {
            type Input = $number;

            fn zero(&self) -> Self {
                Self::default()
            }

            fn is_zero(&self) -> bool {
                // Adding up to nothing is not the same as adding nothing.
                self.count == 0
            }

            fn add(&mut self, input: $number) {
                self.merge(Self { sum: input, count: 1 });
            }

            fn merge(&mut self, other: Self) {
                self.sum = $add(self.sum, other.sum);
                self.count += other.count;
            }

            fn show(&self, out: &mut dyn fmt::Write) -> fmt::Result {
                write!(out, "{}", self.sum)
            }
        }
    )*};
}

sums! {
    /// The sum and the count of whole numbers; wraps around like the machine's own addition.
    LongSum of i64, i64::wrapping_add;
    /// The sum and the count of floating-point numbers.
    DoubleSum of f64, std::ops::Add::add;
}

/// Everything that was added, in no particular order between tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collection<T>(pub Vec<T>);

impl<T> Default for Collection<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Data + fmt::Debug> Accumulate for Collection<T> {
    type Input = T;

    fn zero(&self) -> Self {
        Self::default()
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, input: T) {
        self.0.push(input);
    }

    fn merge(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    fn show(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behaviours: ACC-007.
    #[test]
    fn numbers_keep_sum_and_count_and_are_zero_only_if_nothing_was_added() {
        let mut sum = LongSum::default();
        assert!(sum.is_zero() && sum.average().is_none());

        sum.add(0);
        assert!(!sum.is_zero());
        let copy = sum;
        sum.add(5);
        let mut double = DoubleSum { sum: 1.5, count: 1 };
        double.merge(DoubleSum { sum: 2.5, count: 3 });

        assert_eq!((sum.sum, sum.count, sum.average()), (5, 2, Some(2.5)));
        assert_eq!((copy.sum, copy.count), (0, 1), "a copy is independent");
        assert_eq!(double.average(), Some(1.0));
        assert!(sum.zero().is_zero());
    }

    #[test]
    fn a_collection_merges_by_appending() {
        let mut one = Collection(vec![1]);
        one.merge(Collection(vec![2, 3]));

        assert_eq!(one.0, [1, 2, 3]);
    }
}
