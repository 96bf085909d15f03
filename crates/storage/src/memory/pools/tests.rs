//! The examples of the catalogue, and random histories judged by the rules themselves.

use proptest::{collection::vec, prelude::*};

use super::*;

/// A budget of 1000, half of it storage's region.
fn pools() -> Pools {
    Pools::new(MemoryConf { budget: 1000, storage_fraction: 0.5 })
}

fn exactly(bytes: u64) -> Request {
    Request { needed: bytes, wanted: bytes }
}

impl Pools {
    fn ask(&mut self, share: ShareId, bytes: u64) -> Claim {
        self.claim(share, exactly(bytes), Eviction::Allowed)
    }

    fn hold(&mut self, bytes: u64) -> ShareId {
        let share = self.join();
        assert_eq!(self.ask(share, bytes), Claim::Granted(bytes));
        share
    }

    fn cache(&mut self, bytes: u64) {
        assert_eq!(self.claim_storage(bytes), StorageClaim::Granted);
    }
}

/// Behaviours: MEM-002.
#[test]
fn execution_takes_what_is_free_and_then_evicts_what_storage_borrowed() {
    let mut pools = pools();
    pools.cache(750);
    let task = pools.join();

    assert_eq!(pools.ask(task, 100), Claim::Granted(100));
    assert_eq!(pools.ask(task, 200), Claim::Evict(50));
    pools.release_storage(50);
    assert_eq!(pools.ask(task, 200), Claim::Granted(200));
    assert_eq!((pools.storage(), pools.execution()), (700, 300));
}

/// Behaviours: MEM-002.
#[test]
fn execution_evicts_nothing_from_the_region_of_storage() {
    let mut pools = pools();
    pools.cache(400);
    let task = pools.hold(300);

    assert_eq!(pools.ask(task, 400), Claim::Granted(300));
    assert_eq!(pools.storage(), 400);
}

/// Behaviours: MEM-002.
#[test]
fn execution_evicts_no_further_than_to_the_region() {
    let mut pools = pools();
    pools.cache(800);
    let task = pools.join();

    assert_eq!(pools.ask(task, 900), Claim::Evict(300));
    pools.release_storage(300);
    assert_eq!(pools.ask(task, 900), Claim::Granted(500));
}

#[test]
fn execution_evicts_no_more_than_the_task_may_have() {
    let mut pools = pools();
    pools.cache(800);
    let (task, _other) = (pools.join(), pools.join());

    assert_eq!(pools.ask(task, 900), Claim::Evict(50), "half of 500 is its most, and 200 are free");
}

#[test]
fn blocks_that_cannot_be_evicted_leave_a_task_with_less_instead_of_waiting_for_ever() {
    let mut pools = pools();
    pools.cache(900);
    let task = pools.join();

    assert_eq!(pools.claim(task, exactly(300), Eviction::Exhausted), Claim::Granted(100));
}

/// Behaviours: MEM-003.
#[test]
fn storage_borrows_what_is_free_but_never_evicts_execution() {
    let mut pools = pools();
    pools.hold(800);

    pools.cache(100);
    assert_eq!(pools.claim_storage(250), StorageClaim::Refused);
    assert_eq!((pools.storage(), pools.execution()), (100, 800));
}

#[test]
fn storage_evicts_its_own_blocks_when_that_makes_enough_room() {
    let mut pools = pools();
    pools.hold(200);
    pools.cache(750);

    assert_eq!(pools.claim_storage(100), StorageClaim::Evict(50));
    assert_eq!(pools.claim_storage(800), StorageClaim::Evict(750));
    assert_eq!(pools.claim_storage(801), StorageClaim::Refused);
}

/// Behaviours: MEM-004.
#[test]
fn two_tasks_with_half_each_get_nothing_more_at_once() {
    let mut pools = pools();
    let (first, second) = (pools.join(), pools.join());
    assert_eq!(pools.ask(first, 500), Claim::Granted(500));
    assert_eq!(pools.ask(second, 500), Claim::Granted(500));

    assert_eq!(pools.ask(first, 100), Claim::Granted(0));
    assert_eq!(pools.ask(second, 100), Claim::Granted(0));
}

/// Behaviours: MEM-004.
#[test]
fn a_task_below_half_of_its_share_waits_and_one_at_half_does_not() {
    let mut pools = pools();
    let first = pools.hold(1000);
    let second = pools.join();

    assert_eq!(pools.ask(second, 250), Claim::Wait);
    pools.release(first, 249);
    assert_eq!(pools.ask(second, 250), Claim::Wait);
    pools.release(first, 1);
    assert_eq!(pools.ask(second, 250), Claim::Granted(250));
    assert_eq!(pools.ask(second, 100), Claim::Granted(0));
}

/// Behaviours: MEM-004.
#[test]
fn a_task_above_its_share_gets_nothing_rather_than_less_than_nothing() {
    let mut pools = pools();
    let first = pools.hold(700);
    let second = pools.join();
    assert_eq!(pools.ask(second, 300), Claim::Granted(300));

    assert_eq!(pools.ask(first, 300), Claim::Granted(0));
}

/// Behaviours: MEM-004.
#[test]
fn a_share_is_a_part_of_execution_at_its_largest() {
    let mut pools = pools();
    pools.cache(800);
    assert_eq!(pools.share_among(1), 500, "all that is not protected");
    pools.release_storage(700);
    assert_eq!(pools.share_among(2), 450);
}

#[test]
fn what_is_only_wanted_neither_evicts_nor_waits() {
    let mut pools = pools();
    pools.cache(900);
    let task = pools.join();
    assert_eq!(
        pools.claim(task, Request { needed: 10, wanted: 400 }, Eviction::Allowed),
        Claim::Granted(100)
    );

    let mut pools = self::pools();
    pools.hold(950);
    let late = pools.join();
    let modest = Request { needed: 10, wanted: 400 };
    assert_eq!(pools.claim(late, modest, Eviction::Allowed), Claim::Granted(50));
}

/// Behaviours: MEM-006.
#[test]
fn a_task_that_leaves_gives_everything_back() {
    let mut pools = pools();
    let first = pools.hold(600);
    let second = pools.hold(400);
    assert_eq!(pools.release(second, 500), 400, "at most what it holds");

    pools.leave(first);
    pools.leave(second);
    assert_eq!((pools.tasks(), pools.execution()), (0, 0));
    assert_eq!(pools.hold(1000), ShareId(2));
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Join,
    Leave(usize),
    Claim { task: usize, needed: u64, extra: u64, evicted_percent: u64 },
    Release(usize, u64),
    Cache { bytes: u64, evicted_percent: u64 },
    Drop(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = prop_oneof![0..50_u64, 0..1200_u64];
    let percent = prop_oneof![Just(100_u64), 0..=100_u64];
    let claim = (0..8_usize, bytes.clone(), 0..300_u64, percent.clone()).prop_map(
        |(task, needed, extra, evicted_percent)| Step::Claim { task, needed, extra, evicted_percent },
    );
    let step = prop_oneof![
        2 => Just(Step::Join),
        1 => (0..8_usize).prop_map(Step::Leave),
        6 => claim,
        2 => (0..8_usize, bytes.clone()).prop_map(|(task, bytes)| Step::Release(task, bytes)),
        3 => (bytes.clone(), percent)
            .prop_map(|(bytes, evicted_percent)| Step::Cache { bytes, evicted_percent }),
        1 => bytes.prop_map(Step::Drop),
    ];
    vec(step, 0..120)
}

/// A block store that holds one byte per block and may fail to evict all of what it is asked for.
fn evict(pools: &mut Pools, bytes: u64, percent: u64) {
    pools.release_storage(bytes * percent / 100);
}

fn check_claim(pools: &mut Pools, share: ShareId, request: Request, percent: u64) {
    let most = pools.share_among(pools.tasks());
    let (held, storage) = (pools.held(share), pools.storage);
    let mut claim = pools.claim(share, request, Eviction::Allowed);
    if let Claim::Evict(bytes) = claim {
        assert!(bytes > 0 && storage - bytes >= pools.region, "the region is safe");
        assert!(pools.free() + bytes <= request.needed, "no more than is needed");
        evict(pools, bytes, percent);
        claim = pools.claim(share, request, Eviction::Exhausted);
    }
    let least = (pools.budget - pools.storage) / (2 * pools.tasks() as u64);
    match claim {
        Claim::Evict(_) => panic!("asked to evict what cannot be evicted"),
        Claim::Wait => assert!(held < least && pools.free() < request.needed),
        Claim::Granted(bytes) => {
            assert!(bytes <= request.needed.max(request.wanted));
            assert!(bytes == 0 || held + bytes <= most);
            let is_short = bytes < request.needed;
            assert!(!is_short || held + bytes >= least, "a short grant only from half of the share on");
            assert!(!is_short || held + bytes >= most || pools.free() == 0, "nothing is held back");
        }
    }
}

fn check_cache(pools: &mut Pools, bytes: u64, percent: u64) {
    let (storage, execution) = (pools.storage, pools.execution);
    match pools.claim_storage(bytes) {
        StorageClaim::Granted => assert_eq!(pools.storage, storage + bytes),
        StorageClaim::Refused => {
            assert!(bytes > pools.budget - execution, "not even an empty store had room")
        }
        StorageClaim::Evict(missing) => {
            assert_eq!(missing, bytes - pools.free());
            assert!(missing <= storage);
            evict(pools, missing, percent);
            let again = pools.claim_storage(bytes);
            assert_eq!(again == StorageClaim::Granted, missing * percent / 100 == missing);
        }
    }
    assert_eq!(pools.execution, execution);
}

/// If every task waited for memory at the same time, nothing would ever be released.
fn someone_can_go_on(pools: &Pools) -> bool {
    let least = (pools.budget - pools.storage) / (2 * pools.tasks().max(1) as u64);
    pools.tasks() == 0 || pools.shares.values().any(|&held| held + pools.free() >= least)
}

proptest! {
    /// Behaviours: MEM-002, MEM-003, MEM-004.
    #[test]
    fn no_history_breaks_the_rules(steps in steps(), region in 0..=1000_u64) {
        let mut pools = Pools::new(MemoryConf { budget: 1000, storage_fraction: 0.5 });
        pools.region = region;
        let mut tasks = Vec::new();
        for step in steps {
            match step {
                Step::Join if tasks.len() < 8 => tasks.push(pools.join()),
                Step::Leave(task) if task < tasks.len() => pools.leave(tasks.remove(task)),
                Step::Claim { task, needed, extra, evicted_percent } if task < tasks.len() => {
                    let request = Request { needed, wanted: needed + extra };
                    check_claim(&mut pools, tasks[task], request, evicted_percent);
                }
                Step::Release(task, bytes) if task < tasks.len() => {
                    let held = pools.held(tasks[task]);
                    prop_assert_eq!(pools.release(tasks[task], bytes), bytes.min(held));
                }
                Step::Cache { bytes, evicted_percent } => check_cache(&mut pools, bytes, evicted_percent),
                Step::Drop(bytes) => pools.release_storage(bytes.min(pools.storage)),
                Step::Join | Step::Leave(_) | Step::Claim { .. } | Step::Release(..) => {}
            }
            prop_assert_eq!(pools.execution, pools.shares.values().sum::<u64>());
            prop_assert!(pools.storage + pools.execution <= pools.budget);
            prop_assert_eq!(pools.tasks(), tasks.len());
            prop_assert!(someone_can_go_on(&pools));
        }
    }
}
