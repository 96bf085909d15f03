//! Which finished things are kept: [`Retained`].

use std::collections::VecDeque;

/// The keys of what is over, the oldest first, up to a bound.
pub(super) struct Retained<K> {
    keys: VecDeque<K>,
    most: usize,
}

impl<K> Retained<K> {
    pub(super) fn new(most: usize) -> Self {
        Self { keys: VecDeque::new(), most }
    }

    /// Adds what has just ended; gives the one that must go for it, if there are too many.
    #[must_use]
    pub(super) fn push(&mut self, key: K) -> Option<K> {
        self.keys.push_back(key);
        if self.keys.len() > self.most { self.keys.pop_front() } else { None }
    }
}
