//! [`Round`]: the lazy walk over the task sets in the order that held when it began.
//!
//! During a round no child gets another key and none joins a queue, so the queues themselves are the snapshot.
//! A child that has been visited is left out of its queue, once the one behind it is asked for, and put back
//! when the round ends.

use super::queue::Slot;
use super::tree::{Child, PoolId, PoolTree, SetKey};

/// The state of the walk. Its buffers are kept from round to round.
#[derive(Debug, Clone, Default)]
pub(super) struct Round {
    open: bool,
    /// The pools from the root down to the one being walked.
    path: Vec<Cursor>,
    /// Children that are moved to where their counts put them when the round ends. A set that has been removed
    /// may still be here.
    pub(super) waiting: Vec<Child>,
}

#[derive(Debug, Clone, Copy)]
struct Cursor {
    pool: PoolId,
    /// The child visited last.
    visited: Option<(Slot, Child)>,
}

impl Round {
    pub(super) fn is_open(&self) -> bool {
        self.open
    }
}

impl PoolTree {
    /// Begins an offer round. Until it ends, the order is the one of now.
    pub fn begin_round(&mut self) {
        assert!(!self.round.open, "one offer round ends before the next begins");
        self.round.open = true;
        self.round.path.clear();
        self.round.path.push(Cursor { pool: PoolId::ROOT, visited: None });
    }

    /// The next task set of the round.
    ///
    /// Task sets that were not schedulable when the round began are not visited, nor are those that have
    /// been removed or have ceased to be schedulable since.
    pub fn next_set(&mut self) -> Option<SetKey> {
        assert!(self.round.open, "task sets are visited within an offer round");
        loop {
            let cursor = *self.round.path.last()?;
            if let Some((slot, child)) = cursor.visited {
                self.leave_out(cursor.pool, slot, child);
            }
            let next = self.pool(cursor.pool).queue.first();
            let Some((_, child)) = next else {
                self.round.path.pop();
                continue;
            };
            self.round.path.last_mut()?.visited = next;
            match child {
                Child::Pool(id) => {
                    if self.pool(id).schedulable_sets > 0 {
                        self.round.path.push(Cursor { pool: id, visited: None });
                    }
                }
                Child::Set(key) => {
                    if self.set(key).schedulable {
                        return Some(key);
                    }
                }
            }
        }
    }

    fn leave_out(&mut self, pool: PoolId, slot: Slot, child: Child) {
        let queue = &mut self.pools[pool.index()].queue;
        // A set that was removed after its visit has left its slot already.
        if queue.holds(slot) {
            queue.leave_out(slot);
            self.wait_for_end(child);
        }
    }

    /// Ends the round: everyone visited is put back, and everyone whose counts changed moves to the new place.
    pub fn end_round(&mut self) {
        assert!(self.round.open, "a round ends once");
        self.round.open = false;
        while let Some(child) = self.round.waiting.pop() {
            self.place(child);
        }
    }
}
