//! At most one attempt at a time may commit a partition.

use firesteel_scheduler::commit::CommitDecision;
use firesteel_types::{AttemptNumber, PartitionId, StageAttemptId, StageInfo};

use super::Judge;

/// Who may commit a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    set: StageAttemptId,
    number: AttemptNumber,
}

impl Judge {
    pub(super) fn see_commit_answer(
        &mut self,
        set: StageAttemptId,
        partition: PartitionId,
        number: AttemptNumber,
        decision: CommitDecision,
    ) {
        if decision == CommitDecision::Granted {
            let before = self.commits.insert((set.stage, partition), Holder { set, number });
            // A rollback takes the right from the attempts before it. A stage that is not known was made up by a liar.
            let is_rolled_back = |holder: &Holder| {
                let may = self.sets.get(&set).is_none_or(|known| self.may_roll_back(known.launch.rdd));
                may && holder.set.attempt < set.attempt
            };
            let before = before.filter(|holder| !is_rolled_back(holder));
            assert_eq!(before, None, "only one attempt may commit {partition} of {}", set.stage);
        }
    }

    /// An attempt failed, and with it its right.
    pub(super) fn lose_commit(&mut self, set: StageAttemptId, partition: PartitionId, number: AttemptNumber) {
        let key = (set.stage, partition);
        if self.commits.get(&key) == Some(&Holder { set, number }) {
            self.commits.remove(&key);
        }
    }

    /// Rights end with the stage. They outlive an attempt that is only repeated.
    pub(super) fn end_commits(&mut self, info: &StageInfo) {
        let repeats = |why: &str| why.starts_with("cannot fetch") || why.starts_with("rolled back");
        if !info.failure.as_deref().is_some_and(repeats) {
            self.commits.retain(|(stage, _), _| *stage != info.id.stage);
        }
    }
}
