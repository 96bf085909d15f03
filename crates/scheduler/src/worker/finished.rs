//! What has ended on this worker, kept for people to look at.
//!
//! [`FinishedList`] is bounded: when full, the oldest tenth goes.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::deploy::{DriverStateChange, ExecutorStateChange, Grant};

/// An executor that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishedExecutor {
    /// How it ended.
    pub change: ExecutorStateChange,
    /// What it held.
    pub grant: Grant,
}

/// A driver that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishedDriver {
    /// How it ended.
    pub change: DriverStateChange,
    /// What it held.
    pub grant: Grant,
}

/// The last ones that ended, oldest first.
#[derive(Clone, Debug)]
pub(super) struct FinishedList<T> {
    entries: VecDeque<T>,
    retained: usize,
}

impl<T> FinishedList<T> {
    /// An empty list that keeps at most `retained` entries.
    pub(super) fn new(retained: usize) -> Self {
        Self { entries: VecDeque::new(), retained }
    }

    /// Adds one; past the limit the oldest tenth is dropped, and at least one, so that dropping is rare.
    pub(super) fn push(&mut self, entry: T) {
        self.entries.push_back(entry);
        let len = self.entries.len();
        if len > self.retained {
            self.entries.drain(..(len / 10).max(1));
        }
    }

    /// Every entry, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(retained: usize, pushed: u32) -> Vec<u32> {
        let mut list = FinishedList::new(retained);
        (1..=pushed).for_each(|entry| list.push(entry));
        list.iter().copied().collect()
    }

    /// Behaviours: WORK-006.
    #[test]
    fn a_full_list_drops_its_oldest_tenth() {
        assert_eq!(after(2, 5), [4, 5], "a short list drops one at a time");
        assert_eq!(after(30, 30).len(), 30);
        assert_eq!(after(30, 31), (4..=31).collect::<Vec<_>>());
        assert_eq!(after(0, 3), []);
    }
}
