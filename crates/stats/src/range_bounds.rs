//! The bounds between the partitions of a range partitioner.

/// Chooses at most `partitions - 1` bounds such that the partitions between them weigh about the same.
///
/// A candidate is a sampled key with the number of rows it stands for. Keys up to a bound are in the partition
/// before it. Bounds ascend strictly: where one key outweighs a partition there are fewer.
///
/// ```
/// use firesteel_stats::determine_bounds;
///
/// let candidates = vec![("d", 1.0), ("a", 1.0), ("c", 1.0), ("b", 1.0)];
/// assert_eq!(determine_bounds(candidates, 2), ["b"]);
/// ```
pub fn determine_bounds<K: Ord>(mut candidates: Vec<(K, f64)>, partitions: u32) -> Vec<K> {
    // More partitions than candidates would leave some without any key.
    let partitions = candidates.len().min(partitions as usize);
    if partitions < 2 {
        return Vec::new();
    }
    candidates.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let step = candidates.iter().map(|(_, weight)| weight).sum::<f64>() / partitions as f64;
    let (mut weight_below, mut target) = (0.0, step);
    let mut bounds: Vec<K> = Vec::with_capacity(partitions - 1);
    for (key, weight) in candidates {
        weight_below += weight;
        let is_new = bounds.last().is_none_or(|last| *last < key);
        if weight_below >= target && is_new {
            bounds.push(key);
            target += step;
            if bounds.len() == partitions - 1 {
                break;
            }
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn weights_move_the_bounds() {
        let candidates = vec![(7, 2.0), (1, 1.0), (4, 1.0), (3, 1.0), (2, 1.0), (5, 1.0), (10, 3.0)];

        assert_eq!(determine_bounds(candidates.clone(), 3), [4, 7]);
        assert_eq!(determine_bounds(candidates.clone(), 2), [5]);
        assert!(determine_bounds(candidates, 1).is_empty());
    }

    #[test]
    fn without_candidates_there_are_no_bounds() {
        assert!(determine_bounds(Vec::<(u8, f64)>::new(), 10).is_empty());
    }

    #[test]
    fn duplicates_collapse_to_one_bound() {
        let same = vec![(5, 1.0); 100];
        let skewed: Vec<_> = same.iter().copied().chain((10..20).map(|key| (key, 1.0))).collect();

        assert_eq!(determine_bounds(same, 10), [5], "two partitions, one of them empty");
        assert_eq!(determine_bounds(skewed, 4), [5, 10, 11]);
    }

    proptest! {
        #[test]
        fn bounds_ascend_strictly_and_split_different_keys_evenly(
            keys in prop::collection::btree_set(0..10_000_u32, 1..400), partitions in 1..50_u32,
        ) {
            let candidates: Vec<_> = keys.iter().rev().map(|&key| (key, 2.0)).collect();

            let bounds = determine_bounds(candidates, partitions);

            prop_assert!(bounds.is_sorted_by(|a, b| a < b));
            prop_assert_eq!(bounds.len(), keys.len().min(partitions as usize) - 1);
            let mut sizes = vec![0_usize; bounds.len() + 1];
            for key in &keys {
                sizes[bounds.partition_point(|bound| bound < key)] += 1;
            }
            let even = keys.len() as f64 / sizes.len() as f64;
            prop_assert!(sizes.iter().all(|&size| (size as f64 - even).abs() <= 1.0), "{:?}", sizes);
        }
    }
}
