//! Queries on the pool tree: counts, pools, the order of task sets, and the consistency check.

use super::mode::SchedulingMode;
use super::order::OrderKey;
use super::tree::{Child, Pool, PoolId, PoolTree, SetKey};

/// A pool as the UI and `explain` show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolView<'t> {
    /// Its name; the root's is empty.
    pub name: &'t str,
    /// How it orders its children.
    pub mode: SchedulingMode,
    /// Its weight against its siblings.
    pub weight: u32,
    /// Its minimum share.
    pub min_share: u32,
    /// Tasks running in all sets below it.
    pub running: u32,
    /// Task sets below it that have pending tasks.
    pub schedulable_sets: u32,
    /// The pool it is in; `None` for the root.
    pub parent: Option<&'t str>,
}

impl PoolTree {
    /// Every pool: the root, then the others in the order of their creation.
    pub fn pools(&self) -> impl Iterator<Item = PoolView<'_>> {
        self.pools.iter().map(|pool| PoolView {
            name: &pool.name,
            mode: pool.mode,
            weight: pool.weight,
            min_share: pool.min_share,
            running: pool.running,
            schedulable_sets: pool.schedulable_sets,
            parent: pool.parent.map(|parent| &*self.pool(parent).name),
        })
    }

    /// Whether any task set has pending tasks.
    pub fn has_schedulable(&self) -> bool {
        self.pools[0].schedulable_sets > 0
    }

    /// The task set that would be offered resources first in a round that began now.
    pub fn first(&self) -> Option<SetKey> {
        self.walk_down(|_, _| true)
    }

    /// The same, if it would also be offered any resources that become free next: no pool on the way shares (FAIR)
    /// between it and others with pending tasks.
    pub fn sole_claimant(&self) -> Option<SetKey> {
        self.walk_down(|pool, below| match pool.mode {
            SchedulingMode::Fifo => true,
            SchedulingMode::Fair => pool.schedulable_sets == below,
        })
    }

    /// The first set, if every pool on the way to it, with the number of sets that wait in its first child, will do.
    fn walk_down(&self, will_do: impl Fn(&Pool, u32) -> bool) -> Option<SetKey> {
        let mut pool = self.pool(PoolId::ROOT);
        loop {
            match pool.queue.first()?.1 {
                Child::Set(key) => return will_do(pool, 1).then_some(key),
                Child::Pool(id) => {
                    let child = self.pool(id);
                    if !will_do(pool, child.schedulable_sets) {
                        return None;
                    }
                    pool = child;
                }
            }
        }
    }

    /// The name of the pool that holds a task set; empty for the root.
    pub fn pool_of(&self, key: SetKey) -> &str {
        &self.pool(self.set(key).pool).name
    }

    /// How many tasks of a set run.
    pub fn running(&self, key: SetKey) -> u32 {
        self.set(key).running
    }

    /// Whether `a` would be offered resources before `b` in a round that began now, had both pending tasks.
    pub fn is_before(&self, a: SetKey, b: SetKey) -> bool {
        let (mut child_a, mut child_b) = (Child::Set(a), Child::Set(b));
        let (mut pool_a, mut pool_b) = (self.set(a).pool, self.set(b).pool);
        while pool_a != pool_b {
            let (depth_a, depth_b) = (self.pool(pool_a).depth, self.pool(pool_b).depth);
            if depth_a >= depth_b {
                (child_a, pool_a) = self.raise(pool_a);
            }
            if depth_b >= depth_a {
                (child_b, pool_b) = self.raise(pool_b);
            }
        }
        self.present_key(child_a) < self.present_key(child_b)
    }

    fn raise(&self, pool: PoolId) -> (Child, PoolId) {
        (Child::Pool(pool), self.pool(pool).parent.expect("two different pools are not both the root"))
    }

    fn present_key(&self, child: Child) -> OrderKey {
        match child {
            Child::Pool(id) => self.pool_key(id),
            Child::Set(key) => self.set_key(key),
        }
    }

    /// Whether no task set is left, nothing runs, and no round is open.
    pub fn is_quiescent(&self) -> bool {
        !self.round.is_open()
            && self.sets.iter().all(Option::is_none)
            && self.pools.iter().all(|pool| pool.running == 0 && pool.schedulable_sets == 0)
    }

    /// Panics unless every pool's counts are the sums of its children's and, outside a round, its queue
    /// holds exactly its schedulable children at their present places.
    ///
    /// It looks at everything, so the tree does not call it by itself: its owner does, after each event in
    /// debug builds.
    pub fn check_invariants(&self) {
        let mut running = vec![0; self.pools.len()];
        let mut schedulable = vec![0; self.pools.len()];
        let mut queued = vec![Vec::new(); self.pools.len()];
        for (index, set) in self.sets.iter().enumerate() {
            let Some(set) = set else { continue };
            let parent = set.pool.index();
            running[parent] += set.running;
            schedulable[parent] += u32::from(set.schedulable);
            if set.schedulable {
                let key = SetKey(index as u32);
                queued[parent].push((self.set_key(key), Child::Set(key)));
            }
        }
        // A pool is created after the one it is in, so backwards every sum is complete before it is passed on.
        for (index, pool) in self.pools.iter().enumerate().rev() {
            assert_eq!(pool.running, running[index], "running tasks of pool `{}`", pool.name);
            assert_eq!(pool.schedulable_sets, schedulable[index], "schedulable sets of pool `{}`", pool.name);
            let Some(parent) = pool.parent else { continue };
            running[parent.index()] += running[index];
            schedulable[parent.index()] += schedulable[index];
            if pool.schedulable_sets > 0 {
                let id = PoolId::new(index);
                queued[parent.index()].push((self.pool_key(id), Child::Pool(id)));
            }
        }
        if self.round.is_open() {
            return;
        }
        for (pool, expected) in self.pools.iter().zip(queued) {
            pool.queue.check(expected, &pool.name);
        }
    }
}
