//! Groups of partitions that stand side by side.

use std::ops::Range;

/// No group to put a partition into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rows need at least one partition")]
pub struct CoalesceError;

/// Cuts partitions into `groups` runs of neighbours whose lengths differ by at most one.
///
/// There are never more groups than partitions.
///
/// ```
/// use firesteel_stats::group_neighbours;
///
/// assert_eq!(group_neighbours(10, 3)?, [0..3, 3..6, 6..10]);
/// assert_eq!(group_neighbours(2, 9)?, [0..1, 1..2]);
/// # Ok::<(), firesteel_stats::CoalesceError>(())
/// ```
pub fn group_neighbours(partitions: u32, groups: u32) -> Result<Vec<Range<u32>>, CoalesceError> {
    if groups == 0 {
        return Err(CoalesceError);
    }
    let groups = groups.min(partitions);
    let start = |group: u32| (u64::from(group) * u64::from(partitions) / u64::from(groups)) as u32;
    Ok((0..groups).map(|group| start(group)..start(group + 1)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Behaviours: RDD-013.
    #[test]
    fn ten_partitions_make_three_groups_of_three_three_and_four() {
        let sizes: Vec<usize> = group_neighbours(10, 3).unwrap().iter().map(ExactSizeIterator::len).collect();

        assert_eq!(sizes, [3, 3, 4]);
        assert_eq!(group_neighbours(5, 5).unwrap(), [0..1, 1..2, 2..3, 3..4, 4..5]);
        assert!(group_neighbours(0, 3).unwrap().is_empty());
        assert_eq!(group_neighbours(u32::MAX, 2).unwrap(), [0..2_147_483_647, 2_147_483_647..u32::MAX]);
        assert_eq!(group_neighbours(5, 0), Err(CoalesceError));
    }

    proptest! {
        /// Behaviours: RDD-013.
        #[test]
        fn groups_follow_each_other_and_differ_by_at_most_one(partitions in 0..2000_u32, groups in 1..300_u32) {
            let made = group_neighbours(partitions, groups).unwrap();

            prop_assert_eq!(made.len() as u32, groups.min(partitions));
            let mut end = 0;
            for group in &made {
                prop_assert_eq!(group.start, end);
                prop_assert!((partitions / made.len() as u32..=partitions.div_ceil(made.len() as u32))
                    .contains(&(group.end - group.start)));
                end = group.end;
            }
            prop_assert_eq!(end, partitions);
        }
    }
}
