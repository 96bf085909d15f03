//! Moving cached partitions to other executors before this process ends.

use std::time::Duration;

use super::BlockManager;
use crate::block::{BlockId, LockOwner, Wait};

/// What one round of moving partitions did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigrationRound {
    /// Copied to a peer and removed here.
    pub moved: Vec<BlockId>,
    /// Still here: no peer took it, or it was in use.
    pub kept: Vec<BlockId>,
}

/// Whether to look for more blocks after a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// Yes.
    Yes,
    /// The process ends now.
    No,
}

impl BlockManager {
    /// How long after a round the next one begins.
    pub const MIGRATION_INTERVAL: Duration = Duration::from_secs(30);

    /// Moves cached partitions away round by round, since running tasks may still add some.
    ///
    /// `pause` waits for the given time and returns whether to go on.
    pub fn migrate_partitions(
        &self,
        is_cancelled: &dyn Fn() -> bool,
        mut pause: impl FnMut(&MigrationRound, Duration) -> Again,
    ) {
        loop {
            let round = self.migrate_once(Wait::UnlessCancelled(is_cancelled));
            tracing::info!(
                moved = round.moved.len(),
                kept = round.kept.len(),
                "moved cached partitions away"
            );
            if pause(&round, Self::MIGRATION_INTERVAL) == Again::No {
                return;
            }
        }
    }

    /// Moves each cached partition to a peer that does not have it; what no peer takes stays.
    pub fn migrate_once(&self, wait: Wait<'_>) -> MigrationRound {
        let mut round = MigrationRound::default();
        for id in self.locks.ids(|id| id.rdd().is_some()) {
            // A partition that is just being computed is left to the next round.
            match self.move_away(id, wait) {
                Some(true) => round.moved.push(id),
                Some(false) => round.kept.push(id),
                None => {}
            }
        }
        round
    }

    /// Whether a block was moved; `None` if it is not here any more.
    fn move_away(&self, id: BlockId, wait: Wait<'_>) -> Option<bool> {
        let lock = match self.read_lock(id, LockOwner::unique(), Wait::Never) {
            Ok(lock) => lock?,
            Err(_) => return Some(false),
        };
        let holders = self.directory.locations(id).holders;
        let is_copied = self.spread(id, lock.level(), &holders, 1) == 1;
        drop(lock);
        Some(is_copied && self.remove(id, wait).is_ok())
    }
}
