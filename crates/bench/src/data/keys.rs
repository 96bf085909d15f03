//! Keys from the index of a row.

/// Spreads consecutive numbers over 64 bits: Knuth's multiplier, the golden ratio of 2³².
const SPREAD: u64 = 2_654_435_761;

/// A key below `keys` for row `x`.
#[inline]
pub fn spread(x: u64, keys: u64) -> u64 {
    x.wrapping_mul(SPREAD) % keys
}

/// A key to sort by: each row has its own, and they are in no order.
#[inline]
pub fn scrambled(x: u64) -> i64 {
    x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407).cast_signed()
}

/// The edge `x` of a graph with `nodes` nodes.
#[inline]
pub fn edge(x: u64, nodes: u64) -> (u64, u64) {
    (spread(x, nodes), x.wrapping_mul(40_503).wrapping_add(12_345) % nodes)
}

/// A key below `keys`, where every second row has the same.
#[inline]
pub fn skewed(x: u64, keys: u64) -> u64 {
    if x.is_multiple_of(2) { 0 } else { spread(x, keys) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_below_their_bound_and_are_all_used() {
        let mut seen = vec![false; 1000];
        (0..1000).for_each(|x| seen[spread(x, 1000) as usize] = true);

        assert!(seen.iter().all(|seen| *seen));
    }

    #[test]
    fn keys_to_sort_by_are_positive_and_negative_and_all_different() {
        let mut keys: Vec<i64> = (0..1000).map(scrambled).collect();
        let negative = keys.iter().filter(|key| **key < 0).count();
        keys.sort_unstable();
        keys.dedup();

        assert_eq!(keys.len(), 1000);
        assert!((400..600).contains(&negative), "{negative}");
    }

    #[test]
    fn half_of_the_skewed_rows_have_one_key() {
        assert!((0..1000).filter(|x| skewed(*x, 1000) == 0).count() >= 500);
    }
}
