//! [`PoolNames`]: finds pools by name, and numbers them in the order of their names.
//!
//! The numbers leave gaps, so that a new pool rarely changes those of others and comparing two pools by name
//! is comparing two integers.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::order::POOL_LABELS;
use super::tree::PoolId;

/// The gap left when a name comes before or behind all others.
const STRIDE: u64 = 1 << 20;

/// All pools but the root, by name.
#[derive(Debug, Clone, Default)]
pub(super) struct PoolNames {
    by_name: BTreeMap<Arc<str>, Named>,
}

#[derive(Debug, Clone, Copy)]
struct Named {
    pool: PoolId,
    label: u64,
}

/// What a new name means for the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Labelled {
    /// The new pool has this label and all others keep theirs.
    Alone(u64),
    /// There was no gap left, so every pool has a new label.
    All,
}

impl PoolNames {
    pub(super) fn find(&self, name: &str) -> Option<PoolId> {
        self.by_name.get(name).map(|named| named.pool)
    }

    /// Every name with its pool and label, in the order of both.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, PoolId, u64)> {
        self.by_name.iter().map(|(name, named)| (&**name, named.pool, named.label))
    }

    /// Adds a name that is not there yet.
    pub(super) fn insert(&mut self, name: Arc<str>, pool: PoolId) -> Labelled {
        let before = self.by_name.range::<str, _>((Bound::Unbounded, Bound::Excluded(&*name))).next_back();
        let behind = self.by_name.range::<str, _>((Bound::Excluded(&*name), Bound::Unbounded)).next();
        let label = label_between(before.map(|(_, named)| named.label), behind.map(|(_, named)| named.label));
        let named = Named { pool, label: label.unwrap_or(0) };
        let replaced = self.by_name.insert(name, named);
        assert!(replaced.is_none(), "a pool's name is looked up before a pool is made");
        match label {
            Some(label) => Labelled::Alone(label),
            None => self.relabel(),
        }
    }

    fn relabel(&mut self) -> Labelled {
        let gap = (POOL_LABELS.end - POOL_LABELS.start) / (self.by_name.len() as u64 + 1);
        assert!(gap > 0, "there are fewer pools than labels");
        for (position, named) in (1..).zip(self.by_name.values_mut()) {
            named.label = POOL_LABELS.start + position * gap;
        }
        Labelled::All
    }
}

/// A label strictly between two others.
fn label_between(before: Option<u64>, behind: Option<u64>) -> Option<u64> {
    match (before, behind) {
        (None, None) => Some(POOL_LABELS.start.midpoint(POOL_LABELS.end)),
        (Some(before), None) if POOL_LABELS.end - before > STRIDE => Some(before + STRIDE),
        (None, Some(behind)) if behind - POOL_LABELS.start > STRIDE => Some(behind - STRIDE),
        (before, behind) => {
            let (low, high) = (before.unwrap_or(POOL_LABELS.start), behind.unwrap_or(POOL_LABELS.end));
            let middle = low.midpoint(high);
            (middle > low).then_some(middle)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behaviours: POOL-002.
    #[test]
    fn labels_follow_the_names_also_when_a_gap_is_used_up() {
        let mut names = PoolNames::default();
        names.insert("a".into(), PoolId::new(0));
        names.insert("b".into(), PoolId::new(1));

        // Each of these names lies between "a" and the one before it, and so halves the same gap.
        let outcomes: Vec<_> = (b'A'..=b'Z')
            .rev()
            .zip(2..)
            .map(|(letter, id)| names.insert(format!("a{}", char::from(letter)).into(), PoolId::new(id)))
            .collect();

        assert!(outcomes.contains(&Labelled::All), "26 halvings use up a gap of 2^20");
        let labels: Vec<_> = names.iter().map(|(_, _, label)| label).collect();
        assert!(labels.is_sorted_by(|a, b| a < b), "{labels:?}");
        assert!(labels.iter().all(|label| POOL_LABELS.contains(label)));
    }
}
