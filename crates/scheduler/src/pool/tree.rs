//! [`PoolTree`]: the pools, the task sets in them, and what changes them.
//!
//! Walking the tree is in `round.rs`, looking at it in `view.rs`.

use std::fmt;
use std::sync::Arc;

use firesteel_types::{JobId, StageAttemptId};
use serde::{Deserialize, Serialize};

use super::description::PoolDescription;
use super::mode::SchedulingMode;
use super::names::{Labelled, PoolNames};
use super::order::{OrderKey, SET_PREFIX, name_tie};
use super::queue::{ChildQueue, Slot};
use super::round::Round;

/// The pool of every job that names none.
pub const DEFAULT_POOL: &str = "default";

/// A task set in the tree: a small number that the tree's owner chooses, such as an index into its own table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SetKey(pub u32);

impl SetKey {
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for SetKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "set-{}", self.0)
    }
}

/// Why the configured pools cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum PoolError {
    /// A job that names the pool could mean either.
    #[error("pool `{name}` is configured twice: give every pool a name of its own, also inside other pools")]
    DuplicateName { name: String },

    /// No job could name the pool.
    #[error("a pool inside `{parent}` has no name: give it one")]
    Unnamed { parent: String },
}

/// The pools of an application and their task sets, always in the order in which they get resources.
///
/// Each pool keeps a queue of the children that have something to launch, and only the children whose counts
/// change are moved in it, so a change costs O(depth × log siblings), a step of a round the same, and a task set
/// without pending tasks nothing. During a round ([`begin_round`](Self::begin_round)) the counts change at once
/// but no entry moves, which is what makes the round's order the one of its beginning.
///
/// A key that is not in the tree, or is added twice, is a mistake of the owner and panics.
///
/// ```
/// # use firesteel_scheduler::pool::{PoolDescription, PoolTree, SchedulingMode, SetKey};
/// # use firesteel_types::{JobId, StageAttemptId, StageId};
/// let mut tree = PoolTree::new(SchedulingMode::Fair, &[PoolDescription::new("etl")])?;
/// tree.add_set(SetKey(0), StageAttemptId::new(StageId(0), 0), JobId(0), Some("etl"));
/// tree.add_set(SetKey(1), StageAttemptId::new(StageId(1), 0), JobId(1), None);
/// tree.set_schedulable(SetKey(0), true);
/// tree.set_schedulable(SetKey(1), true);
/// tree.add_running(SetKey(1), 3);
///
/// tree.begin_round();
/// assert_eq!(tree.next_set(), Some(SetKey(0)), "etl runs fewer tasks than default");
/// assert_eq!(tree.next_set(), Some(SetKey(1)));
/// assert_eq!(tree.next_set(), None);
/// tree.end_round();
/// # Ok::<(), firesteel_scheduler::pool::PoolError>(())
/// ```
#[derive(Debug, Clone)]
pub struct PoolTree {
    /// The root is the first. Pools are never removed, so an id stays valid.
    pub(super) pools: Vec<Pool>,
    pub(super) names: PoolNames,
    pub(super) sets: Vec<Option<Set>>,
    pub(super) round: Round,
}

/// A pool's place in the table of pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PoolId(u32);

impl PoolId {
    pub(super) const ROOT: Self = Self(0);

    pub(super) fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("there are fewer than 2^32 pools"))
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug, Clone)]
pub(super) struct Pool {
    pub(super) name: Arc<str>,
    pub(super) mode: SchedulingMode,
    pub(super) weight: u32,
    pub(super) min_share: u32,
    /// None for the root only.
    pub(super) parent: Option<PoolId>,
    pub(super) depth: u32,
    /// The sum over all children.
    pub(super) running: u32,
    /// How many sets anywhere below have pending tasks.
    pub(super) schedulable_sets: u32,
    /// The children with pending tasks.
    pub(super) queue: ChildQueue,
    name_tie: u128,
    place: Place,
}

#[derive(Debug, Clone)]
pub(super) struct Set {
    pub(super) id: StageAttemptId,
    pub(super) priority: JobId,
    pub(super) pool: PoolId,
    pub(super) running: u32,
    pub(super) schedulable: bool,
    name_tie: u128,
    place: Place,
}

/// Where a child stands in its parent's queue, which lags behind its counts during a round.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    slot: Option<Slot>,
    /// Whether the child waits for the end of the round to be moved.
    waits: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Child {
    Pool(PoolId),
    Set(SetKey),
}

impl PoolTree {
    /// Makes the tree of the configured pools.
    ///
    /// Under a FAIR root there is always a pool [`DEFAULT_POOL`]. A FIFO root has no pools at all: as in Spark,
    /// it holds all task sets itself and the configured pools are not looked at.
    pub fn new(root_mode: SchedulingMode, pools: &[PoolDescription]) -> Result<Self, PoolError> {
        let mut tree = Self {
            pools: Vec::new(),
            names: PoolNames::default(),
            sets: Vec::new(),
            round: Round::default(),
        };
        let root = PoolDescription { mode: root_mode, ..PoolDescription::new("") };
        tree.pools.push(Pool::new(&root, "".into(), None));
        match root_mode {
            SchedulingMode::Fifo => {}
            SchedulingMode::Fair => {
                tree.add_configured(pools)?;
                if tree.names.find(DEFAULT_POOL).is_none() {
                    tree.add_pool(PoolId::ROOT, &PoolDescription::new(DEFAULT_POOL));
                }
            }
        }
        Ok(tree)
    }

    /// Level by level, so that siblings are created in the order of their description.
    fn add_configured(&mut self, pools: &[PoolDescription]) -> Result<(), PoolError> {
        let mut level = vec![(PoolId::ROOT, pools)];
        while !level.is_empty() {
            let mut below = Vec::new();
            for (parent, children) in level {
                for child in children {
                    if child.name.is_empty() {
                        return Err(PoolError::Unnamed { parent: self.pool(parent).name.to_string() });
                    }
                    if self.names.find(&child.name).is_some() {
                        return Err(PoolError::DuplicateName { name: child.name.clone() });
                    }
                    below.push((self.add_pool(parent, child), child.children.as_slice()));
                }
            }
            level = below;
        }
        Ok(())
    }

    fn add_pool(&mut self, parent: PoolId, description: &PoolDescription) -> PoolId {
        let id = PoolId::new(self.pools.len());
        let name: Arc<str> = description.name.as_str().into();
        let depth = self.pool(parent).depth + 1;
        self.pools.push(Pool::new(description, Arc::clone(&name), Some((parent, depth))));
        match self.names.insert(name, id) {
            Labelled::Alone(label) => {
                let pool = &mut self.pools[id.index()];
                pool.name_tie = name_tie(&pool.name, label);
            }
            Labelled::All => {
                for (name, id, label) in self.names.iter() {
                    self.pools[id.index()].name_tie = name_tie(name, label);
                }
                for index in 1..self.pools.len() {
                    self.settle(Child::Pool(PoolId::new(index)));
                }
            }
        }
        id
    }

    /// Adds a task set without running tasks; it is not offered anything until it is made so by
    /// [`set_schedulable`](Self::set_schedulable).
    ///
    /// `pool` is the job's `scheduler.pool` property. A name that is not known makes a new pool below the root
    /// with default settings. A FIFO root ignores it.
    pub fn add_set(&mut self, key: SetKey, id: StageAttemptId, priority: JobId, pool: Option<&str>) {
        let pool = match self.pool(PoolId::ROOT).mode {
            SchedulingMode::Fifo => PoolId::ROOT,
            SchedulingMode::Fair => {
                let name = pool.unwrap_or(DEFAULT_POOL);
                self.names
                    .find(name)
                    .unwrap_or_else(|| self.add_pool(PoolId::ROOT, &PoolDescription::new(name)))
            }
        };
        let name = format!("{SET_PREFIX}{}.{}", id.stage.0, id.attempt);
        let set = Set {
            id,
            priority,
            pool,
            running: 0,
            schedulable: false,
            name_tie: name_tie(&name, u64::from(key.0)),
            place: Place::default(),
        };
        if self.sets.len() <= key.index() {
            self.sets.resize(key.index() + 1, None);
        }
        let replaced = self.sets[key.index()].replace(set);
        assert!(replaced.is_none(), "{key:?} is in the tree already");
    }

    /// Takes a task set out, with the tasks it still runs.
    pub fn remove_set(&mut self, key: SetKey) {
        self.add_running(key, -self.running(key).cast_signed());
        self.set_schedulable(key, false);
        let set = self.sets[key.index()].take().expect("the key was found above");
        // Also during a round: a set that is gone cannot come back to its place, and the key may be used again.
        if let Some(slot) = set.place.slot {
            self.pools[set.pool.index()].queue.remove(slot);
        }
    }

    /// Sets whether a task set has pending tasks and may launch them.
    pub fn set_schedulable(&mut self, key: SetKey, schedulable: bool) {
        let set = self.set_mut(key);
        if set.schedulable == schedulable {
            return;
        }
        set.schedulable = schedulable;
        let mut at = Some(set.pool);
        self.settle(Child::Set(key));
        while let Some(id) = at {
            let pool = &mut self.pools[id.index()];
            if schedulable {
                pool.schedulable_sets += 1;
            } else {
                pool.schedulable_sets -= 1;
            }
            at = pool.parent;
            if at.is_some() {
                self.settle(Child::Pool(id));
            }
        }
    }

    /// Adds to the running tasks of a set and of every pool above it; negative when tasks end.
    pub fn add_running(&mut self, key: SetKey, change: i32) {
        let set = self.set_mut(key);
        set.running = counted(set.running, change);
        let pool = set.pool;
        match self.pool(pool).mode {
            SchedulingMode::Fifo => {} // The place does not depend on what runs.
            SchedulingMode::Fair => self.settle(Child::Set(key)),
        }
        let mut at = Some(pool);
        while let Some(id) = at {
            let pool = &mut self.pools[id.index()];
            pool.running = counted(pool.running, change);
            at = pool.parent;
            if at.is_some() {
                self.settle(Child::Pool(id));
            }
        }
    }

    /// Moves a child to where its counts put it, or notes that this is to be done when the round ends.
    fn settle(&mut self, child: Child) {
        if self.round.is_open() {
            self.wait_for_end(child);
        } else {
            self.place(child);
        }
    }

    /// Has a child moved to where its counts put it when the round ends.
    pub(super) fn wait_for_end(&mut self, child: Child) {
        let place = self.place_of(child);
        if !place.waits {
            place.waits = true;
            self.round.waiting.push(child);
        }
    }

    /// Moves a child to where its counts put it.
    pub(super) fn place(&mut self, child: Child) {
        let (parent, stood, wanted) = match child {
            Child::Pool(id) => {
                let pool = self.pool(id);
                let parent = pool.parent.expect("the root has no siblings and is never settled");
                (parent, pool.place.slot, (pool.schedulable_sets > 0).then(|| self.pool_key(id)))
            }
            Child::Set(key) => {
                let Some(Some(set)) = self.sets.get(key.index()) else {
                    return; // Removed while it waited for the end of the round.
                };
                (set.pool, set.place.slot, set.schedulable.then(|| self.set_key(key)))
            }
        };
        let queue = &mut self.pools[parent.index()].queue;
        let slot = match (stood, wanted) {
            (None, None) => None,
            (None, Some(key)) => Some(queue.insert(key, child)),
            (Some(slot), Some(key)) => {
                queue.set_key(slot, key);
                stood
            }
            (Some(slot), None) => {
                queue.remove(slot);
                None
            }
        };
        *self.place_of(child) = Place { slot, waits: false };
    }

    fn place_of(&mut self, child: Child) -> &mut Place {
        match child {
            Child::Pool(id) => &mut self.pools[id.index()].place,
            Child::Set(key) => &mut self.set_mut(key).place,
        }
    }

    /// Where a pool other than the root belongs among its siblings by its present counts.
    pub(super) fn pool_key(&self, id: PoolId) -> OrderKey {
        let pool = self.pool(id);
        let parent = pool.parent.expect("only pools with siblings are ordered");
        match self.pool(parent).mode {
            SchedulingMode::Fifo => OrderKey::fifo_pool(id.0),
            SchedulingMode::Fair => OrderKey::fair(pool.running, pool.min_share, pool.weight, pool.name_tie),
        }
    }

    /// Where a task set belongs among its siblings by its present counts.
    pub(super) fn set_key(&self, key: SetKey) -> OrderKey {
        let set = self.set(key);
        match self.pool(set.pool).mode {
            SchedulingMode::Fifo => OrderKey::fifo_set(set.priority, set.id, key),
            SchedulingMode::Fair => OrderKey::fair(
                set.running,
                PoolDescription::DEFAULT_MIN_SHARE,
                PoolDescription::DEFAULT_WEIGHT,
                set.name_tie,
            ),
        }
    }

    pub(super) fn pool(&self, id: PoolId) -> &Pool {
        &self.pools[id.index()]
    }

    #[track_caller]
    pub(super) fn set(&self, key: SetKey) -> &Set {
        self.sets.get(key.index()).and_then(Option::as_ref).expect("the owner names task sets that it added")
    }

    #[track_caller]
    fn set_mut(&mut self, key: SetKey) -> &mut Set {
        self.sets
            .get_mut(key.index())
            .and_then(Option::as_mut)
            .expect("the owner names task sets that it added")
    }
}

impl Pool {
    fn new(description: &PoolDescription, name: Arc<str>, above: Option<(PoolId, u32)>) -> Self {
        Self {
            name,
            mode: description.mode,
            weight: description.weight,
            min_share: description.min_share,
            parent: above.map(|(parent, _)| parent),
            depth: above.map_or(0, |(_, depth)| depth),
            running: 0,
            schedulable_sets: 0,
            queue: ChildQueue::default(),
            name_tie: 0,
            place: Place::default(),
        }
    }
}

fn counted(running: u32, change: i32) -> u32 {
    running.checked_add_signed(change).expect("no more tasks end than were started")
}
