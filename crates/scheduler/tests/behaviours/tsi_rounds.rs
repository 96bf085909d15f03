//! Rounds of offers: who is asked, in which order, and what each executor can take.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_scheduler::Event;
use firesteel_types::{Cpus, ExecutorId, ExecutorRequest, Share};

use crate::harness::{World, executor_spec, located, secs, source};

/// Behaviours: TSI-002.
#[test]
fn the_same_executor_is_not_always_chosen() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([source(0, 1)]);
    let mut chosen = BTreeMap::new();

    for attempt in 0..100 {
        world.submit(0);
        *chosen.entry(world.executor_of(attempt)).or_insert(0) += 1;
        world.finish(attempt);
    }

    let counts: Vec<i32> = chosen.into_values().collect();
    assert_eq!(counts.iter().sum::<i32>(), 100);
    assert!(counts.len() == 2 && counts.iter().all(|count| *count > 20), "{counts:?}");
    world.assert_quiescent();
}

/// Behaviours: TSI-003.
#[test]
fn tasks_are_spread_over_the_executors() {
    for seed in 0..10 {
        let mut world = World::config(|config| config.seed = seed);
        world.executors(0, &["h1", "h2", "h3"], 4).rdds([source(0, 6)]);

        let submitted = world.submit(0);

        let mut places: Vec<_> = submitted.launches().iter().map(|task| task.executor.0).collect();
        let first: BTreeSet<_> = places[..3].iter().copied().collect();
        assert_eq!(first.len(), 3, "one each in the first sweep: {places:?}");
        places.sort_unstable();
        assert_eq!(places, [0, 0, 1, 1, 2, 2]);
        assert_eq!(submitted.partitions(), [0, 1, 2, 3, 4, 5]);
    }
}

/// Behaviours: TSI-003.
#[test]
fn sweeps_go_on_until_every_local_place_is_full() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2", "h3"], 3);
    let mut places: Vec<&[&str]> = vec![&["h2"]; 5];
    places.extend([["h3"].as_slice(); 2]);
    world.rdds([located(0, &places)]);

    let submitted = world.submit(0);

    let mut launched: Vec<_> =
        submitted.launches().iter().map(|task| (task.executor.0, task.partition.0)).collect();
    launched.sort_unstable();
    assert_eq!(launched, [(1, 0), (1, 1), (1, 2), (2, 5), (2, 6)], "the rest waits for h2");
}

/// Behaviours: TSI-004.
#[test]
fn an_executor_with_fewer_cpus_than_a_task_needs_gets_none() {
    let mut world = World::config(|config| config.default_profile.task_cpus = Cpus::cores(2));
    world.executors(0, &["h1"], 1).rdds([source(0, 4)]);

    let too_small = world.submit(0);
    let large = world.executor(1, "h2", 5);

    assert_eq!(too_small.attempts(), [0; 0]);
    assert_eq!(
        large.lines_with("launch"),
        [
            "launch attempt-0 = stage-0.0 partition-0 try-0 on executor-1 Process",
            "launch attempt-1 = stage-0.0 partition-1 try-0 on executor-1 Process",
        ],
        "5 cores are two tasks of 2"
    );
    let launched = &world.launched[&firesteel_types::AttemptId(0)];
    assert_eq!(launched.cpus, Cpus::cores(2));
}

/// Behaviours: TSI-004.
#[test]
fn every_custom_resource_must_be_free_too() {
    let mut world = World::config(|config| {
        let resources = BTreeMap::from([("gpu".into(), 2)]);
        config.default_profile.executor = Some(ExecutorRequest { cores: None, memory_mib: 1024, resources });
        config.default_profile.task_resources.insert("gpu".into(), Share::addresses(1));
    });
    world.rdds([source(0, 3)]);
    world.submit(0);
    let mut spec = executor_spec(0, "h1", 8);
    spec.resources = BTreeMap::from([("gpu".into(), vec!["a".into(), "b".into()])]);
    world.send(Event::ExecutorRegistered(spec));

    let ready = world.send(Event::ExecutorLaunched { executor: ExecutorId(0) });
    let without = world.executor(1, "h2", 8);
    let freed = world.finish(0);

    assert_eq!(ready.partitions(), [0, 1], "two addresses, whatever the cores");
    assert_eq!(without.attempts(), [0; 0], "no address at all");
    assert_eq!(freed.partitions(), [2]);
}

/// A job of two tasks in an otherwise idle cluster: each is placed where it belongs.
#[test]
fn two_tasks_find_their_places_among_ten_thousand_executors() {
    let mut world = World::new();
    let join = |id: u32| {
        let spec = executor_spec(id, &format!("h{}", id / 4), 64);
        [Event::ExecutorRegistered(spec), Event::ExecutorLaunched { executor: ExecutorId(id) }]
    };
    world.scheduler.handle_all(world.now, (0..10_000).flat_map(join), &mut Vec::new());
    world.rdds([
        source(0, 2),
        located(1, &[&["h77"], &["h77"]]),
        located(2, &[["executor_h9_39"].as_slice(); 64]),
    ]);

    let anywhere = world.submit(0);
    let on_host = world.submit(1);
    let on_one = world.submit(2);

    assert_eq!(anywhere.partitions(), [0, 1]);
    let hosts: Vec<_> = on_host.launches().iter().map(|task| task.executor.0 / 4).collect();
    assert_eq!(hosts, [77, 77]);
    assert_eq!(on_one.launches().len(), 64);
    assert!(on_one.launches().iter().all(|task| task.executor == ExecutorId(39)));
    for attempt in 0..68 {
        world.finish(attempt);
    }
    world.assert_quiescent();
}

/// Behaviours: TSI-018.
#[test]
fn a_job_that_gets_nothing_is_warned_about_every_15_seconds() {
    let mut world = World::new();
    world.rdds([source(0, 1)]);
    world.submit(0);

    let deadline = world.scheduler.next_deadline();
    let early = world.advance(secs(14));
    let first = world.advance(secs(1));
    let second = world.advance(secs(15));
    world.executor(0, "h1", 1);
    let launched = world.advance(secs(15));

    let warning =
        "warn: no executor has taken a task yet; check that executors are registered and large enough";
    assert_eq!(deadline, Some(firesteel_types::Timestamp::from_secs(1015)));
    assert_eq!(early.lines(), [""; 0]);
    assert_eq!(first.lines(), [warning]);
    assert_eq!(second.lines(), [warning]);
    assert_eq!(launched.lines(), [""; 0]);
    world.finish(0);
    world.submit(0);
    assert_eq!(world.advance(secs(15)).lines(), [""; 0], "the application has had resources");
}

/// Behaviours: TSI-018.
#[test]
fn local_mode_does_not_warn() {
    let mut world = World::config(|config| config.local = true);
    world.rdds([source(0, 1)]);
    world.submit(0);

    assert_eq!(world.advance(secs(60)).lines(), [""; 0]);
}
