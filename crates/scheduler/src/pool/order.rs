//! [`OrderKey`]: the place of a child among its siblings, as two integers.
//!
//! Both modes are turned into numbers once, when a count changes, so that siblings are compared as
//! integers. The ratios of the FAIR mode are kept exactly: two different fractions whose denominators are below
//! 2^32 differ by more than 2^-64, so 64 bits after the point tell them apart, and equal fractions have equal
//! digits. Where the counts come from is the tree's affair.

use std::ops::Range;

use firesteel_types::{JobId, StageAttemptId};

use super::tree::SetKey;

/// What every task set's name begins with.
pub(super) const SET_PREFIX: &str = "TaskSet_";

/// Bits of a tie that order pools whose names fall into the same gap between the names of task sets.
const LABEL_BITS: u32 = 40;

/// The labels that pools may have.
pub(super) const POOL_LABELS: Range<u64> = 1 << 32..1 << LABEL_BITS;

/// A name's text code has this many characters of four bits: the longest name of a task set has 21 behind its
/// prefix, and one more tells it from a longer pool name.
const CODE_CHARS: u32 = 22;

/// The place of a child in its pool; smaller goes first. No two children of a pool have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OrderKey {
    rank: u128,
    tie: u128,
}

impl OrderKey {
    /// Behind every child, for those that take no part.
    pub(super) const NEVER: Self = Self { rank: u128::MAX, tie: u128::MAX };

    /// A pool inside a FIFO pool: before all task sets, in the order of creation. Spark gives pools priority 0 and
    /// stage −1, which has the same effect.
    pub(super) fn fifo_pool(created: u32) -> Self {
        Self { rank: 0, tie: u128::from(created) }
    }

    /// A task set inside a FIFO pool: by job, then stage, then attempt.
    pub(super) fn fifo_set(priority: JobId, id: StageAttemptId, key: SetKey) -> Self {
        let rank =
            1 << 96 | u128::from(priority.0) << 64 | u128::from(id.stage.0) << 32 | u128::from(id.attempt);
        Self { rank, tie: u128::from(key.0) }
    }

    /// Any child of a FAIR pool. `name` is from [`name_tie`].
    pub(super) fn fair(running: u32, min_share: u32, weight: u32, name: u128) -> Self {
        let (class, ratio) = if running < min_share {
            (0, exact_ratio(running, min_share))
        } else if weight > 0 {
            (1, exact_ratio(running, weight))
        } else {
            (2, 0) // An infinite ratio, however little runs.
        };
        Self { rank: class << 96 | ratio, tie: name }
    }
}

/// `numerator / denominator` with 64 bits after the point, by long division in base 2^32.
fn exact_ratio(numerator: u32, denominator: u32) -> u128 {
    let (numerator, denominator) = (u64::from(numerator), u64::from(denominator));
    let whole = numerator / denominator;
    let rest = numerator % denominator;
    if rest == 0 {
        return u128::from(whole) << 64;
    }
    let high = (rest << 32) / denominator;
    let low = (((rest << 32) % denominator) << 32) / denominator;
    u128::from(whole) << 64 | u128::from(high << 32 | low)
}

/// The number that orders `name` among task sets and pools as its text would.
///
/// The text code decides between two task sets and between a task set and a pool; `label`, which grows with
/// the text, decides between pools. A task set's label is its key: those are below [`POOL_LABELS`], so that no
/// two ties are ever equal.
pub(super) fn name_tie(name: &str, label: u64) -> u128 {
    debug_assert!(label < POOL_LABELS.end, "a label fits in its bits");
    text_code(name) << LABEL_BITS | u128::from(label)
}

/// Four bits for each character behind the prefix, up to the first that no task set's name has.
fn text_code(name: &str) -> u128 {
    let Some(rest) = name.strip_prefix(SET_PREFIX) else {
        // Before or behind every task set's name, the digits of which are never all 0 or all 15.
        return if name < SET_PREFIX { 0 } else { (1 << (CODE_CHARS * 4)) - 1 };
    };
    let mut code = 0;
    let mut room = CODE_CHARS;
    for byte in rest.bytes().take(CODE_CHARS as usize) {
        let (digit, ends) = match byte {
            0..b'.' => (1, true),
            b'.' => (2, false),
            b'/' => (3, true),
            b'0'..=b'9' => (u128::from(byte - b'0') + 4, false),
            _ => (14, true),
        };
        room -= 1;
        code |= digit << (room * 4);
        if ends {
            break;
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Behaviours: POOL-002.
        #[test]
        fn exact_ratios_compare_as_cross_multiplication_does(
            a in any::<u32>(), b in 1..=u32::MAX, c in any::<u32>(), d in 1..=u32::MAX,
        ) {
            let expected = (u64::from(a) * u64::from(d)).cmp(&(u64::from(c) * u64::from(b)));

            prop_assert_eq!(exact_ratio(a, b).cmp(&exact_ratio(c, d)), expected);
        }

        /// Behaviours: POOL-002.
        #[test]
        fn text_codes_never_contradict_the_text(
            a in "(TaskSet_|TaskSet|a|Z)?[-./0-9:]{0,3}[0-9]{0,23}",
            b in "(TaskSet_|TaskSet|a|Z)?[-./0-9:]{0,3}[0-9]{0,23}",
            stage in any::<u32>(), attempt in any::<u32>(),
        ) {
            let set = format!("TaskSet_{stage}.{attempt}");

            if a < b {
                prop_assert!(text_code(&a) <= text_code(&b));
            }
            prop_assert_eq!(text_code(&a).cmp(&text_code(&set)), a.cmp(&set));
        }
    }

    #[test]
    fn the_closest_fractions_are_told_apart() {
        let (large, larger) = (u32::MAX - 1, u32::MAX);

        assert!(exact_ratio(large - 1, large) < exact_ratio(large, larger));
        assert_eq!(exact_ratio(1, 3), exact_ratio(1_000_000_000, 3_000_000_000));
    }

    #[test]
    fn a_pool_without_weight_goes_behind_the_busiest_with_one() {
        assert!(OrderKey::fair(u32::MAX, 0, 1, 9) < OrderKey::fair(0, 0, 0, 1));
        assert!(OrderKey::fair(0, 1, 0, 9) < OrderKey::fair(0, 0, 1, 1), "its minimum share still counts");
    }
}
