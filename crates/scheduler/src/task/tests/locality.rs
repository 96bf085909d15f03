//! Which task takes an offer, and when a set may go further from its data.

use std::time::Duration;

use firesteel_types::{ExecutorId, Locality, Locality::*, TaskIndex};

use super::harness::Bench;
use crate::{
    config::{LocalityConfig, SchedulerConfig},
    task::offer::{Answer, Picked},
};

const WAIT: Duration = Duration::from_secs(3);

/// Executors 0 and 1 on h1 and h2.
const HOSTS: &[&str] = &["h1", "h2"];

/// Behaviours: LOC-007.
#[test]
fn a_set_offered_directly_goes_to_the_next_level_after_each_wait() {
    let mut bench =
        Bench::new(HOSTS, &[&["executor_h1_0"], &["executor_h2_1"], &["h1", "executor_h2_1"], &[]]);

    assert_eq!(bench.offer(0, Any), Some((0, Process)));
    assert_eq!(bench.offer(0, Process), None);
    bench.advance(WAIT);
    assert_eq!(bench.offer(0, Node), Some((2, Node)));
    assert_eq!(bench.offer(1, Node), Some((1, Process)));
    assert_eq!(bench.offer(1, Node), None);
    assert_eq!(bench.offer(1, NoPref), Some((3, Process)), "a task without preference counts as local");
}

/// Behaviours: LOC-003, LOC-004.
#[test]
fn the_nearest_task_takes_the_offer_and_no_preference_goes_before_rack_and_any() {
    let mut config =
        SchedulerConfig { locality: LocalityConfig::wait(Duration::ZERO), ..SchedulerConfig::default() };
    config.locality.racks = true;
    let tasks: &[&[&str]] = &[&["h9"], &["h3"], &[], &["h1"], &["executor_h1_0"], &["executor_h1_7"]];
    let mut bench = Bench::with(config, &["h1", "h3"], tasks);
    for host in ["h1", "h3"] {
        bench.executors.hosts.set_rack(&host.into(), Some("rack1"));
    }
    bench.set.resolve_racks(&mut bench.executors);

    let taken: Vec<_> = std::iter::from_fn(|| bench.offer(0, Any)).collect();

    assert_eq!(
        taken,
        [(4, Process), (3, Node), (5, Node), (2, Process), (1, Rack), (0, Any)],
        "task 5 prefers another executor of the host, so it is local to the node"
    );
}

/// Behaviours: LOC-003.
#[test]
fn an_offer_takes_nothing_beyond_the_level_it_is_made_at() {
    let config =
        SchedulerConfig { locality: LocalityConfig::wait(Duration::ZERO), ..SchedulerConfig::default() };
    let mut bench = Bench::with(config, HOSTS, &[&["h2"], &["h1"], &[]]);

    assert_eq!(bench.offer(0, Process), None);
    assert_eq!(bench.offer(0, Node), Some((1, Node)));
    assert_eq!(bench.offer(0, Node), None);
    assert_eq!(bench.offer(0, NoPref), Some((2, Process)));
    assert_eq!(bench.offer(0, Rack), None);
    assert_eq!(bench.offer(0, Any), Some((0, Any)));
}

/// Behaviours: LOC-004.
#[test]
fn a_cached_file_is_process_local_on_every_executor_of_its_host() {
    let mut bench =
        Bench::new(&["h1", "h1", "h2"], &[&["hdfs_cache_h1"], &["hdfs_cache_h1"], &["hdfs_cache_h3"]]);

    assert_eq!(bench.offer(1, Process), Some((0, Process)));
    assert_eq!(bench.offer(0, Process), Some((1, Process)));
    assert_eq!(bench.offer(0, Process), None, "no executor is alive on h3");
}

/// Behaviours: LOC-005, LOC-006.
#[test]
fn waits_are_used_up_level_by_level_and_several_may_end_at_once() {
    let tasks: &[&[&str]] = &[&["executor_h1_0"], &["executor_h1_0"], &["h2"]];
    let mut bench = Bench::new(HOSTS, tasks);

    let at_once = bench.allowed();
    let just_before = bench.advance(Duration::from_millis(2999)).allowed();
    let after_one = bench.advance(Duration::from_millis(2)).allowed();
    let just_before_two = bench.advance(Duration::from_millis(2998)).allowed();
    let after_two = bench.advance(Duration::from_millis(1)).allowed();
    let mut late = Bench::new(HOSTS, tasks);
    let after_both = late.advance(WAIT * 2).allowed();

    assert_eq!([at_once, just_before, after_one], [Process, Process, Node]);
    assert_eq!([just_before_two, after_two], [Node, Any], "the second wait began when the first was over");
    assert_eq!(after_both, Any);
}

/// Behaviours: LOC-006.
#[test]
fn a_level_that_no_task_waits_for_is_left_at_once_and_the_next_wait_begins_then() {
    let mut bench = Bench::new(HOSTS, &[&["executor_h1_0"], &["h2"], &["h2"]]);
    bench.advance(Duration::from_secs(2));
    assert_eq!(bench.offer(0, Process), Some((0, Process)));

    let moved = bench.allowed();
    let before = bench.advance(Duration::from_millis(2999)).allowed();
    let after = bench.advance(Duration::from_millis(1)).allowed();

    assert_eq!([moved, before, after], [Node, Node, Any]);
}

/// Behaviours: LOC-005.
#[test]
fn every_level_has_its_own_wait_and_no_preference_and_any_have_none() {
    let secs = Duration::from_secs;
    let config = LocalityConfig { process: secs(1), node: secs(2), rack: secs(4), racks: true };

    let waits = Locality::ALL.map(|level| config.at(level));
    let defaults = Locality::ALL.map(|level| LocalityConfig::default().at(level));

    assert_eq!(waits, [secs(1), secs(2), secs(0), secs(4), secs(0)]);
    assert_eq!(defaults, [secs(3), secs(3), secs(0), secs(3), secs(0)]);
}

/// Behaviours: LOC-010, SPEC-009.
#[test]
fn a_second_copy_takes_an_offer_that_no_waiting_task_wants_and_never_on_the_same_host() {
    let mut bench = Bench::new(&["h1", "h2", "h2"], &[&["executor_h1_0"], &["executor_h2_1"], &[]]);
    bench.offer(0, Process);
    bench.speculate(0);

    let same_host = bench.pick(0, Node);
    let local = bench.pick(1, Any);
    let without_preference = bench.pick(1, NoPref);
    let delayed = bench.pick(1, Any);
    let anywhere = bench.advance(WAIT * 2).pick(1, Any);
    let again = bench.pick(2, Any);

    let picked =
        |index: u32, locality, speculative| Some(Picked { index: TaskIndex(index), locality, speculative });
    assert_eq!(same_host, None);
    assert_eq!(local, picked(1, Process, false), "ordinary tasks go first");
    assert_eq!(without_preference, picked(2, Process, false));
    assert_eq!(
        delayed,
        picked(0, Any, true),
        "no ordinary task waits at any level, so nothing is waited for"
    );
    assert_eq!([anywhere, again], [None, None], "one copy is enough");
}

/// Behaviours: LOC-010.
#[test]
fn copies_and_tasks_without_preference_go_after_node_local_tasks() {
    let mut bench = Bench::new(HOSTS, &[&[], &["h1"], &["h2"], &["h1"]]);
    bench.offer(1, Node);
    bench.speculate(2);

    let node: Vec<_> = std::iter::from_fn(|| bench.offer(0, Node)).collect();
    let rest: Vec<_> =
        std::iter::from_fn(|| bench.pick(0, NoPref)).map(|p| (p.index.0, p.speculative)).collect();
    let copy = bench.pick(0, Any).map(|p| (p.index.0, p.speculative));

    assert_eq!(node, [(1, Node), (3, Node)]);
    assert_eq!(rest, [(0, false)]);
    assert_eq!(copy, Some((2, true)));
}

/// Behaviours: LOC-012.
#[test]
fn only_an_offer_at_any_level_with_tasks_left_counts_as_refused_by_delay() {
    let mut bench = Bench::new(HOSTS, &[&["h1"]]);

    let at_node = bench.answer(1, Node);
    let at_any = bench.answer(1, Any);
    let taken = bench.offer(0, Any);
    let nothing_left = bench.answer(1, Any);
    let mut zombie = Bench::new(HOSTS, &[&["h1"]]);
    zombie.set.is_zombie = true;
    let by_zombie = zombie.answer(1, Any);

    assert_eq!([at_node, at_any], [Answer::Nothing, Answer::RefusedByDelay]);
    assert_eq!(taken, Some((0, Node)));
    assert_eq!([nothing_left, by_zombie], [Answer::Nothing, Answer::Nothing]);
}

/// Behaviours: LOC-012.
#[test]
fn a_refusal_by_an_excluded_place_is_not_one_by_delay() {
    use firesteel_types::TaskFailure;
    let exclusion = Some(crate::exclusion::ExclusionConfig::enabled());
    let config = SchedulerConfig { exclusion, ..SchedulerConfig::default() };
    let mut bench = Bench::with(config, HOSTS, &[&["h1"], &["h1"], &["h1"]]);
    let list = bench.set.excludelist.as_mut().unwrap();
    for task in [0, 1] {
        let now = firesteel_types::Timestamp::ZERO;
        let failure = TaskFailure::panicked("boom");
        list.on_task_failed(now, ExecutorId(0), &"h1".into(), TaskIndex(task), &failure, &mut Vec::new());
    }

    assert_eq!(bench.answer(0, Any), Answer::Nothing);
    assert_eq!(bench.answer(1, Any), Answer::RefusedByDelay);
}

/// Behaviours: TSM-002.
#[test]
fn waiting_tasks_are_taken_from_the_lowest_index_and_a_task_put_back_goes_first() {
    let mut bench = Bench::new(HOSTS, &[[].as_slice(); 5]);
    let first: Vec<_> = (0..3).filter_map(|_| bench.offer(0, Any)).map(|(index, _)| index).collect();
    bench.set.stop(TaskIndex(1), firesteel_types::AttemptId(1));
    bench.set.add_pending(TaskIndex(1), &mut bench.executors);

    let rest: Vec<_> = std::iter::from_fn(|| bench.offer(1, Any)).map(|(index, _)| index).collect();

    assert_eq!(first, [0, 1, 2]);
    assert_eq!(rest, [1, 3, 4]);
}
