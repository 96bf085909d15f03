//! The order in which listeners hear of things.

use std::collections::BTreeMap;

use firesteel_scheduler::{Cancel, Effect, Event};
use firesteel_types::{AttemptId, ListenerEvent, TaskFailure};

use crate::harness::{Effects, World, fetch_failed, millis, secs, shuffled, source};

/// How many starts and ends of each attempt were told.
fn starts_and_ends<'a>(all: impl IntoIterator<Item = &'a Effects>) -> BTreeMap<AttemptId, (u32, u32)> {
    let mut counts: BTreeMap<_, (u32, u32)> = BTreeMap::new();
    for effect in all.into_iter().flat_map(|effects| &effects.0) {
        match effect {
            Effect::Post(ListenerEvent::TaskStart { task, .. }) => {
                counts.entry(task.attempt).or_default().0 += 1
            }
            Effect::Post(ListenerEvent::TaskEnd { task, .. }) => {
                counts.entry(task.attempt).or_default().1 += 1
            }
            _ => (),
        }
    }
    counts
}

/// Behaviours: LIS-004.
#[test]
fn listeners_hear_of_a_job_from_its_start_to_its_end_in_order() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);

    let mut told = world.submit(0).lines_with("*");
    told.extend(world.running(0).lines_with("*"));
    told.extend(world.finish(0).lines_with("*"));

    assert_eq!(
        told,
        [
            "* job-0 starts [stage-0.0]",
            "* stage-0.0 submitted, 1 tasks",
            "* attempt-0 starts",
            "* attempt-0 ends",
            "* stage-0.0 completed",
            "* job-0 ends",
        ]
    );
}

/// Behaviours: LIS-004.
#[test]
fn every_start_of_a_task_has_one_end_whatever_happens() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 4).rdds([source(0, 3), shuffled(1, 3, 0, 0)]);
    let mut all = vec![world.submit(1)];
    all.push(world.panic(0));
    all.push(world.finish_map(1, &[1, 1, 1]));
    all.push(world.finish_map(2, &[1, 1, 1]));
    all.push(world.finish_map(3, &[1, 1, 1]));
    let (executor, host) = if world.executor_of(1).0 == 0 { (0, "h1") } else { (1, "h2") };
    all.push(world.fail(4, fetch_failed(0, 1, executor, host)));
    all.push(world.finish(5));
    all.push(world.finish(5));
    all.push(world.lose(executor));
    all.push(world.advance(millis(200)));
    all.push(world.cancel(Cancel::All));
    all.push(world.send(Event::ContextStopped));
    let left: Vec<_> = starts_and_ends(&all).into_iter().filter(|(_, counts)| counts.1 == 0).collect();
    for (attempt, _) in &left {
        all.push(world.fail(attempt.0, TaskFailure::killed("told to")));
        all.push(world.fail(attempt.0, TaskFailure::killed("told to")));
    }
    all.push(world.lose(1 - executor));
    all.push(world.advance(secs(500)));

    let counts = starts_and_ends(&all);

    assert!(!left.is_empty(), "some tasks ran when the job was cancelled");
    assert!(counts.len() > 6);
    for (attempt, counts) in counts {
        assert_eq!(counts, (1, 1), "{attempt}");
    }
    world.assert_quiescent();
}
