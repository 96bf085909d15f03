//! The levels of a tree aggregation.

/// A tree without a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the depth of a tree aggregation must be at least 1")]
pub struct TreeDepthError;

/// Gives how many partitions are left after each extra shuffle of a tree aggregation of about this depth.
///
/// With `s = max(ceil(n^(1 / depth)), 2)` a level merges `s` partitions into one, as long as merging on the driver
/// alone would have more to do than the level and the driver after it. Empty if no level pays. In a level with `m`
/// partitions the result of partition `i` goes to partition `i % m`.
///
/// ```
/// use firesteel_stats::tree_levels;
///
/// assert_eq!(tree_levels(100, 2), Ok(vec![10]));
/// assert!(tree_levels(100, 0).is_err());
/// ```
pub fn tree_levels(partitions: u32, depth: u32) -> Result<Vec<u32>, TreeDepthError> {
    if depth == 0 {
        return Err(TreeDepthError);
    }
    let scale = root_ceil(partitions, depth).max(2);
    let mut levels = Vec::new();
    let mut left = partitions;
    while u64::from(left) > u64::from(scale) + u64::from(left.div_ceil(scale)) {
        left /= scale;
        levels.push(left);
    }
    Ok(levels)
}

/// The least number whose `degree`-th power is at least `value`, in whole numbers: 64^(1/3) is 4 and not 3.99….
fn root_ceil(value: u32, degree: u32) -> u32 {
    let reaches = |root: u32| root.checked_pow(degree).is_none_or(|power| power >= value);
    let (mut low, mut high) = (0, value);
    while low < high {
        let middle = low + (high - low) / 2;
        if reaches(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Behaviours: RDD-009.
    #[test]
    fn levels_are_those_of_the_formula() {
        let levels = |partitions, depth| tree_levels(partitions, depth).unwrap();

        assert!(levels(0, 2).is_empty());
        assert!(levels(1, 2).is_empty());
        assert!(levels(4, 2).is_empty(), "2 + 2 is not less than 4");
        assert!(levels(5, 2).is_empty(), "3 + 2 is not less than 5");
        assert_eq!(levels(6, 2), [2], "3 + 2");
        assert!(levels(100, 1).is_empty(), "one level is the driver alone");
        assert_eq!(levels(100, 2), [10]);
        assert_eq!(levels(1000, 3), [100, 10]);
        assert_eq!(levels(1001, 3), [91, 8]);
        assert_eq!(levels(64, 3), [16, 4]);
        assert_eq!(levels(1000, 10), [500, 250, 125, 62, 31, 15, 7, 3], "a scale of 2 at least");
        assert_eq!(levels(u32::MAX, 2), [65_535]);
        assert_eq!(tree_levels(10, 0), Err(TreeDepthError));
    }

    #[test]
    fn roots_of_powers_are_whole() {
        for root in 2..1000_u32 {
            assert_eq!(root_ceil(root.pow(3), 3), root);
            assert_eq!(root_ceil(root.pow(3) + 1, 3), root + 1);
        }
        assert_eq!([root_ceil(0, 3), root_ceil(1, 3), root_ceil(2, 40)], [0, 1, 2]);
        assert_eq!(root_ceil(u32::MAX, 1), u32::MAX);
    }

    proptest! {
        #[test]
        fn levels_shrink_to_a_few_partitions(partitions: u32, depth in 1..12_u32) {
            let levels = tree_levels(partitions, depth).unwrap();

            prop_assert!(levels.is_sorted_by(|a, b| a > b && *b >= 1));
            prop_assert!(levels.len() < 33);
            // The driver merges no more than the next level would cost.
            let scale = root_ceil(partitions, depth).max(2);
            let left = levels.last().copied().unwrap_or(partitions);
            prop_assert!(u64::from(left) <= u64::from(scale) + u64::from(left.div_ceil(scale)));
        }
    }
}
