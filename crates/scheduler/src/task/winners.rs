//! Which attempt finished each task of a map set, and where.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use firesteel_types::{ExecutorId, TaskIndex, TaskInfo};

/// The attempts whose map outputs count, found by task and by executor.
///
/// The loss of an executor costs what it had finished, not what the whole set has.
#[derive(Debug, Default)]
pub(super) struct Winners {
    by_task: IndexMap<TaskIndex, TaskInfo, FxBuildHasher>,
    /// Tasks finished on each executor. A task that was won again elsewhere stays listed here until then.
    by_executor: BTreeMap<ExecutorId, Vec<TaskIndex>>,
}

impl Winners {
    /// An attempt wrote the output of its task.
    pub(super) fn add(&mut self, info: TaskInfo) {
        self.by_task.insert(info.index, info);
        self.by_executor.entry(info.executor).or_default().push(info.index);
    }

    /// Takes out those of an executor that `is_lost` says are gone with it, oldest first.
    pub(super) fn take_lost(
        &mut self,
        executor: ExecutorId,
        is_lost: impl Fn(&TaskInfo) -> bool,
    ) -> Vec<TaskInfo> {
        let mut lost = Vec::new();
        for index in self.by_executor.remove(&executor).unwrap_or_default() {
            let winner = self.by_task.get(&index);
            if winner.is_some_and(|info| info.executor == executor && is_lost(info)) {
                lost.extend(self.by_task.swap_remove(&index));
            }
        }
        lost.sort_unstable_by_key(|info| info.attempt);
        lost
    }
}
