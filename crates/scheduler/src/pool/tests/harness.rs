//! What the tests share.

pub(super) use firesteel_types::{JobId, StageAttemptId, StageId};

pub(super) use super::super::{PoolDescription, PoolTree, SchedulingMode, SetKey};

pub(super) fn pool(name: &str, mode: SchedulingMode, min_share: u32, weight: u32) -> PoolDescription {
    PoolDescription { mode, weight, min_share, ..PoolDescription::new(name) }
}

pub(super) fn tree(root_mode: SchedulingMode, pools: &[PoolDescription]) -> PoolTree {
    PoolTree::new(root_mode, pools).unwrap()
}

/// Adds a schedulable set whose key is its stage's number.
pub(super) fn add(tree: &mut PoolTree, stage: u32, job: u32, pool: Option<&str>) -> SetKey {
    let key = SetKey(stage);
    tree.add_set(key, StageAttemptId::new(StageId(stage), 0), JobId(job), pool);
    tree.set_schedulable(key, true);
    tree.check_invariants();
    key
}

/// A whole round, as the numbers of the keys visited.
pub(super) fn round(tree: &mut PoolTree) -> Vec<u32> {
    tree.begin_round();
    let visited = std::iter::from_fn(|| tree.next_set()).map(|key| key.0).collect();
    tree.end_round();
    tree.check_invariants();
    visited
}

/// One round after another, each launching one task of the first set; `pending` counts tasks by key.
pub(super) fn launch_one_by_one(tree: &mut PoolTree, pending: &mut [u32], rounds: usize) -> Vec<u32> {
    let mut launched = Vec::new();
    for _ in 0..rounds {
        tree.begin_round();
        let Some(key) = tree.next_set() else { break };
        tree.add_running(key, 1);
        pending[key.0 as usize] -= 1;
        tree.set_schedulable(key, pending[key.0 as usize] > 0);
        tree.end_round();
        tree.check_invariants();
        launched.push(key.0);
    }
    launched
}
