//! Lineages that are very deep, very wide, or have very many paths, cost what they have RDDs.
//!
//! A walk that follows every path, or one that recurses, never ends here or exhausts the stack.

use firesteel_scheduler::{Cancel, Effect, Event};
use firesteel_types::{JobId, ListenerEvent, RddId, RddNode};

use crate::harness::{
    Effects, World, derived, map, one_to_one, persisted, pinned, shuffle_dependency, shuffled, source,
};

const DEEP: u32 = 10_000;

fn stages_started(effects: &Effects) -> usize {
    let start = effects.0.iter().find_map(|effect| match effect {
        Effect::Post(ListenerEvent::JobStart { stages, .. }) => Some(stages.len()),
        _ => None,
    });
    start.expect("a job starts")
}

/// Behaviours: DAG-004.
#[test]
fn a_chain_of_ten_thousand_narrow_rdds_is_one_stage() {
    let mut world = World::new();
    let chain = (1..DEEP).map(|id| map(id, 2, id - 1));
    world.executors(0, &["h1", "h2"], 1).rdds([pinned(0, &[(1, "h2"), (0, "h1")])].into_iter().chain(chain));

    let submitted = world.submit(DEEP - 1);

    assert_eq!(
        submitted.lines_with("launch"),
        [
            "launch attempt-0 = stage-0.0 partition-0 try-0 on executor-1 Process",
            "launch attempt-1 = stage-0.0 partition-1 try-0 on executor-0 Process",
        ]
    );
    world.finish(0);
    let last = world.finish(1);
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-004.
#[test]
fn rdds_registered_one_by_one_are_checked_for_cycles_without_walking_the_whole_lineage() {
    let mut world = World::new();
    world.rdds([source(0, 1)]);
    for id in 1..DEEP {
        world.rdds([map(id, 1, id - 1)]);
    }

    let cycle = world.send(Event::RddsRegistered(vec![map(1, 1, DEEP - 1)]));

    assert_eq!(cycle.lines(), ["ignored: rdd-1 is malformed: it depends on itself"]);
}

/// Behaviours: DAG-004, DAG-002.
#[test]
fn a_chain_of_ten_thousand_shuffles_is_ten_thousand_stages() {
    let mut world = World::new();
    let chain = (1..=DEEP).map(|id| shuffled(id, 1, id - 1, id - 1));
    world.executors(0, &["h1"], 1).rdds([source(0, 1)].into_iter().chain(chain));

    let submitted = world.submit(DEEP);

    assert_eq!(stages_started(&submitted), DEEP as usize + 1);
    assert_eq!(
        submitted.lines_with("launch"),
        ["launch attempt-0 = stage-0.0 partition-0 try-0 on executor-0 Process"]
    );
    let next = world.finish_map(0, &[1]);
    assert_eq!(
        next.lines_with("launch"),
        ["launch attempt-1 = stage-1.0 partition-0 try-0 on executor-0 Node"]
    );
    // The job needs the stage at the bottom, which takes a walk through all of them.
    world.panic(1);
    world.panic(2);
    world.panic(3);
    let failed = world.panic(4);
    assert_eq!(failed.lines_with("job-0 failed").len(), 1);
    world.assert_quiescent();
}

/// Behaviours: DAG-004, DAG-047.
#[test]
fn exponentially_many_narrow_paths_are_walked_once() {
    const LEVELS: u32 = 40;
    let mut world = World::new();
    let twice = |id: u32| derived(id, 2, vec![one_to_one(id - 1), one_to_one(id - 1)]);
    world.executors(0, &["h1"], 2).rdds([persisted(source(0, 2))].into_iter().chain((1..=LEVELS).map(twice)));
    // One partition is cached, so that locations are looked for, and those of the other on every path in vain. (A task
    // without preference is launched as if it were local.)
    world.cache(0, &[0]);

    let submitted = world.submit(LEVELS);

    assert_eq!(
        submitted.lines_with("launch"),
        [
            "launch attempt-0 = stage-0.0 partition-0 try-0 on executor-0 Process",
            "launch attempt-1 = stage-0.0 partition-1 try-0 on executor-0 Process",
        ]
    );
}

/// Behaviours: DAG-004, DAG-003.
#[test]
fn exponentially_many_paths_through_shuffles_are_walked_once() {
    const LEVELS: u32 = 40;
    let mut world = World::new();
    let twice = |id: u32| {
        derived(id, 1, vec![shuffle_dependency(2 * id, id - 1, 1), shuffle_dependency(2 * id + 1, id - 1, 1)])
    };
    world.executors(0, &["h1"], 2).rdds([source(0, 1)].into_iter().chain((1..=LEVELS).map(twice)));

    let submitted = world.submit(LEVELS);

    assert_eq!(stages_started(&submitted), 2 * LEVELS as usize + 1);
    assert_eq!(
        submitted.lines_with("launch"),
        [
            "launch attempt-0 = stage-0.0 partition-0 try-0 on executor-0 Process",
            "launch attempt-1 = stage-1.0 partition-0 try-0 on executor-0 Process",
        ]
    );
    // To the end, two map stages at a time.
    for attempt in 0..2 * u64::from(LEVELS) {
        world.finish_map(attempt, &[1]);
    }
    let last = world.finish(2 * u64::from(LEVELS));
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-004.
#[test]
fn a_union_of_ten_thousand_shuffles_is_one_stage_with_ten_thousand_parents() {
    let mut world = World::new();
    let dependencies = (0..DEEP).map(|shuffle| shuffle_dependency(shuffle, shuffle, 1)).collect();
    let sources = (0..DEEP).map(|id| source(id, 1));
    world.executors(0, &["h1"], 1).rdds(sources.chain([derived(DEEP, 1, dependencies)]));

    let submitted = world.submit(DEEP);

    assert_eq!(stages_started(&submitted), DEEP as usize + 1);
    assert_eq!(submitted.lines_with("submitted").len(), DEEP as usize);
    let cancelled = world.cancel(Cancel::Job(JobId(0)));
    assert_eq!(
        cancelled.lines_with("job-0 failed"),
        ["job-0 failed: job-0 cancelled: cancelled by the user"]
    );
}

/// Behaviours: DAG-004.
#[test]
fn a_barrier_stage_of_ten_thousand_rdds_is_checked_in_one_walk() {
    let mut world = World::new();
    let opens = RddNode { barrier: true, ..source(0, 1) };
    let chain = (1..DEEP).map(|id| map(id, 1, id - 1));
    world.executors(0, &["h1"], 1).rdds([opens].into_iter().chain(chain));

    let submitted = world.submit(DEEP - 1);

    assert_eq!(submitted.lines_with("launch").len(), 1);
    assert_eq!(submitted.launches()[0].barrier.as_ref().map(|addresses| addresses.len()), Some(1));
}

/// Behaviours: DAG-004.
#[test]
fn dropping_a_deep_lineage_leaves_nothing_of_it() {
    let mut world = World::new();
    let chain = (1..DEEP).map(|id| map(id, 1, id - 1));
    world.executors(0, &["h1"], 1).rdds([source(0, 1)].into_iter().chain(chain));
    world.submit(DEEP - 1);

    // While a job runs, what it may need stays.
    world.send(Event::RddsDropped((0..DEEP).map(RddId).collect()));
    let finished = world.finish(0);
    let gone = world.submit(DEEP - 1);

    assert_eq!(finished.lines_with("succeeded"), ["job-0 succeeded"]);
    assert_eq!(gone.lines(), [format!("job-1 failed: rdd-{} is not registered", DEEP - 1)]);
}
