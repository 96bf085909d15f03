//! Numbers with a fraction as keys.

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
};

use serde::{Deserialize, Serialize};

/// A floating point number that can be sorted and grouped by.
///
/// The order is that of `total_cmp`: −0 before +0, and every NaN beyond infinity on the side of its sign. Two are equal
/// if their bits are.
///
/// ```
/// use firesteel::{Order, TotalOrd, prelude::*};
///
/// let ctx = Context::local(2)?;
/// let sorted = ctx.parallelize(vec![2.5, -1.0, f64::INFINITY, 0.5]).sort_by(|x| TotalOrd(*x), Order::Ascending)?;
/// assert_eq!(sorted.collect()?, [-1.0, 0.5, 2.5, f64::INFINITY]);
/// # Ok::<(), firesteel::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TotalOrd<T>(pub T);

macro_rules! total_ord {
    ($($number:ty),*) => {$(
        impl Ord for TotalOrd<$number> {
            #[inline]
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.total_cmp(&other.0)
            }
        }

        impl PartialOrd for TotalOrd<$number> {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl PartialEq for TotalOrd<$number> {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                self.0.to_bits() == other.0.to_bits()
            }
        }

        impl Eq for TotalOrd<$number> {}

        impl Hash for TotalOrd<$number> {
            #[inline]
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.to_bits().hash(state);
            }
        }

        impl From<$number> for TotalOrd<$number> {
            fn from(number: $number) -> Self {
                Self(number)
            }
        }
    )*};
}

total_ord!(f32, f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_means_neither_before_nor_after() {
        let numbers =
            [-f64::NAN, f64::NEG_INFINITY, -1.0, -0.0, 0.0, 1.0, f64::INFINITY, f64::NAN].map(TotalOrd);

        assert!(numbers.is_sorted_by(|a, b| a < b && a != b));
        assert!(numbers.iter().all(|x| x == x));
    }
}
