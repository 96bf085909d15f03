//! The tree against a model that sorts everything from scratch before each round.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::harness::SchedulingMode::{Fair, Fifo};
use super::harness::*;

const KEYS: u32 = 12;
const POOLS: [&str; 8] = ["alpha", "beta", "gamma", "TaskSet_1", "inner-fair", "inner-fifo", "new", "zeta"];

#[derive(Debug, Clone)]
enum Step {
    Add { key: u32, stage: u32, attempt: u32, job: u32, pool: Option<usize> },
    Remove { key: u32 },
    Schedulable { key: u32, schedulable: bool },
    Running { key: u32, change: i32 },
    BeginRound,
    Visit,
    EndRound,
}

fn step() -> impl Strategy<Value = Step> {
    let key = || 0..KEYS;
    prop_oneof![
        3 => (key(), 0..30u32, 0..3u32, 0..4u32, prop::option::of(0..POOLS.len()))
            .prop_map(|(key, stage, attempt, job, pool)| Step::Add { key, stage, attempt, job, pool }),
        1 => key().prop_map(|key| Step::Remove { key }),
        4 => (key(), prop::bool::weighted(0.7))
            .prop_map(|(key, schedulable)| Step::Schedulable { key, schedulable }),
        6 => (key(), -3..6).prop_map(|(key, change)| Step::Running { key, change }),
        2 => Just(Step::BeginRound),
        6 => Just(Step::Visit),
        1 => Just(Step::EndRound),
    ]
}

fn pools() -> Vec<PoolDescription> {
    let children = vec![pool("inner-fair", Fair, 2, 3), pool("inner-fifo", Fifo, 0, 0)];
    vec![
        PoolDescription { children: children.clone(), ..pool("alpha", Fair, 3, 2) },
        PoolDescription {
            children: vec![pool("TaskSet_1", Fair, 0, 1), pool("last", Fifo, 1, 1)],
            ..pool("beta", Fifo, 1, 1)
        },
        pool("gamma", Fair, 0, 7),
    ]
}

#[derive(Debug, Clone, Copy)]
struct ModelSet {
    /// Tells a set from an earlier one under the same key.
    serial: usize,
    id: StageAttemptId,
    job: u32,
    pool: usize,
    running: u32,
    schedulable: bool,
}

#[derive(Debug)]
struct ModelPool {
    name: String,
    mode: SchedulingMode,
    min_share: u32,
    weight: u32,
    parent: Option<usize>,
}

#[derive(Debug, Default)]
struct Model {
    pools: Vec<ModelPool>,
    sets: BTreeMap<u32, ModelSet>,
    serials: usize,
    /// What is left of the open round.
    round: Option<Vec<(u32, usize)>>,
}

/// A child as the comparator sees it.
struct Schedulable {
    name: String,
    priority: u32,
    stage: i64,
    attempt: u32,
    running: u32,
    min_share: u32,
    weight: u32,
    leaves: Vec<(u32, usize)>,
}

impl Model {
    fn new(root: SchedulingMode, described: &[PoolDescription]) -> Self {
        let mut model = Self::default();
        model.pools.push(ModelPool {
            name: String::new(),
            mode: root,
            min_share: 0,
            weight: 1,
            parent: None,
        });
        if root == Fair {
            model.describe(0, described);
            model.describe(0, &[PoolDescription::new("default")]);
        }
        model
    }

    fn describe(&mut self, parent: usize, described: &[PoolDescription]) {
        for pool in described {
            self.pools.push(ModelPool {
                name: pool.name.clone(),
                mode: pool.mode,
                min_share: pool.min_share,
                weight: pool.weight,
                parent: Some(parent),
            });
            self.describe(self.pools.len() - 1, &pool.children);
        }
    }

    fn pool_for(&mut self, name: Option<&str>) -> usize {
        if self.pools[0].mode == Fifo {
            return 0;
        }
        let name = name.unwrap_or("default");
        let found = self.pools.iter().skip(1).position(|pool| pool.name == name);
        found.map_or_else(
            || {
                self.describe(0, &[PoolDescription::new(name)]);
                self.pools.len() - 1
            },
            |position| position + 1,
        )
    }

    fn running_of(&self, pool: usize) -> u32 {
        let sets: u32 = self.sets.values().filter(|set| set.pool == pool).map(|set| set.running).sum();
        let inner = (0..self.pools.len()).filter(|&inner| self.pools[inner].parent == Some(pool));
        sets + inner.map(|inner| self.running_of(inner)).sum::<u32>()
    }

    /// The schedulable sets below a pool, in order; the sort is stable, as Spark's is.
    fn sorted(&self, pool: usize) -> Vec<(u32, usize)> {
        let inner = (0..self.pools.len()).filter(|&inner| self.pools[inner].parent == Some(pool));
        let pools = inner.map(|inner| Schedulable {
            name: self.pools[inner].name.clone(),
            priority: 0,
            stage: -1,
            attempt: 0,
            running: self.running_of(inner),
            min_share: self.pools[inner].min_share,
            weight: self.pools[inner].weight,
            leaves: self.sorted(inner),
        });
        let sets = self.sets.iter().filter(|(_, set)| set.pool == pool).map(|(&key, set)| Schedulable {
            name: format!("TaskSet_{}.{}", set.id.stage.0, set.id.attempt),
            priority: set.job,
            stage: i64::from(set.id.stage.0),
            attempt: set.id.attempt,
            running: set.running,
            min_share: 0,
            weight: 1,
            leaves: set.schedulable.then_some((key, set.serial)).into_iter().collect(),
        });
        let mut children: Vec<_> = pools.chain(sets).collect();
        match self.pools[pool].mode {
            Fifo => children.sort_by_key(|child| (child.priority, child.stage, child.attempt)),
            Fair => children.sort_by(fair),
        }
        children.into_iter().flat_map(|child| child.leaves).collect()
    }

    /// How the innermost pool that holds both of two sets orders what is in it.
    fn mode_between(&self, a: u32, b: u32) -> SchedulingMode {
        let path = |key: u32| {
            std::iter::successors(Some(self.sets[&key].pool), |&pool| self.pools[pool].parent)
                .collect::<Vec<_>>()
        };
        let (of_a, of_b) = (path(a), path(b));
        let shared = of_a.iter().find(|pool| of_b.contains(pool)).expect("the root holds every set");
        self.pools[*shared].mode
    }

    fn apply(&mut self, step: &Step, tree: &mut PoolTree) {
        match *step {
            Step::Add { key, stage, attempt, job, pool } => {
                let id = StageAttemptId::new(StageId(stage), attempt);
                if self.sets.contains_key(&key) || self.sets.values().any(|set| set.id == id) {
                    return;
                }
                let name = pool.map(|pool| POOLS[pool]);
                tree.add_set(SetKey(key), id, JobId(job), name);
                let pool = self.pool_for(name);
                self.serials += 1;
                let set = ModelSet { serial: self.serials, id, job, pool, running: 0, schedulable: false };
                self.sets.insert(key, set);
            }
            Step::Remove { key } => {
                if self.sets.remove(&key).is_some() {
                    tree.remove_set(SetKey(key));
                }
            }
            Step::Schedulable { key, schedulable } => {
                if let Some(set) = self.sets.get_mut(&key) {
                    set.schedulable = schedulable;
                    tree.set_schedulable(SetKey(key), schedulable);
                }
            }
            Step::Running { key, change } => {
                if let Some(set) = self.sets.get_mut(&key)
                    && let Some(running) = set.running.checked_add_signed(change)
                {
                    set.running = running;
                    tree.add_running(SetKey(key), change);
                }
            }
            Step::BeginRound => {
                if self.round.is_none() {
                    self.round = Some(self.sorted(0));
                    tree.begin_round();
                }
            }
            Step::Visit => {
                if self.round.is_some() {
                    assert_eq!(tree.next_set(), self.visit().map(SetKey));
                }
            }
            Step::EndRound => {
                if self.round.take().is_some() {
                    tree.end_round();
                }
            }
        }
    }

    fn visit(&mut self) -> Option<u32> {
        let left = self.round.as_mut().expect("visited in a round");
        while !left.is_empty() {
            let (key, serial) = left.remove(0);
            if self.sets.get(&key).is_some_and(|set| set.serial == serial && set.schedulable) {
                return Some(key);
            }
        }
        None
    }
}

fn fair(a: &Schedulable, b: &Schedulable) -> Ordering {
    let needy = |child: &Schedulable| child.running < child.min_share;
    let ratios = |of_a: u32, of_b: u32| {
        (u64::from(a.running) * u64::from(of_b)).cmp(&(u64::from(b.running) * u64::from(of_a)))
    };
    let order = match (needy(a), needy(b)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (true, true) => ratios(a.min_share.max(1), b.min_share.max(1)),
        (false, false) => match (a.weight, b.weight) {
            (0, 0) => Ordering::Equal,
            (0, _) => Ordering::Greater,
            (_, 0) => Ordering::Less,
            (of_a, of_b) => ratios(of_a, of_b),
        },
    };
    order.then_with(|| a.name.cmp(&b.name))
}

proptest! {
    /// Behaviours: POOL-001, POOL-002, POOL-004, POOL-005, POOL-009.
    #[test]
    fn the_tree_visits_what_sorting_from_scratch_would(
        root_is_fair in prop::bool::weighted(0.85),
        steps in prop::collection::vec(step(), 1..250),
    ) {
        let root = if root_is_fair { Fair } else { Fifo };
        let mut tree = tree(root, &pools());
        let mut model = Model::new(root, &pools());

        for step in steps {
            model.apply(&step, &mut tree);
            tree.check_invariants();
        }

        model.apply(&Step::EndRound, &mut tree);
        let order: Vec<_> = model.sorted(0).into_iter().map(|(key, _)| key).collect();
        prop_assert_eq!(round(&mut tree), order.clone());
        let first = order.first().copied();
        prop_assert_eq!(tree.first(), first.map(SetKey));
        let shares = |first: u32| order[1..].iter().any(|&other| model.mode_between(first, other) == Fair);
        prop_assert_eq!(tree.sole_claimant(), first.filter(|&first| !shares(first)).map(SetKey));
        for (place, &a) in order.iter().enumerate() {
            for (other, &b) in order.iter().enumerate() {
                prop_assert_eq!(tree.is_before(SetKey(a), SetKey(b)), place < other);
            }
        }
    }
}
