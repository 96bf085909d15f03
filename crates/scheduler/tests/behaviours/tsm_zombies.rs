//! Sets that launch nothing more, and attempts that are beaten by another one.

use firesteel_scheduler::{Cancel, Event, SpeculationConfig};
use firesteel_types::{StageId, TaskFailure};

use crate::harness::{World, fetch_failed, millis, secs, shuffled, source};

/// A map stage of two outputs on executor 0, and the reducers of `reducers` partitions begun.
fn reducers_begun(reducers: u32, cores: u32) -> World {
    let mut world = World::new();
    world.executors(0, &["h1"], cores).rdds([source(0, 2), shuffled(1, reducers, 0, 0)]);
    world.submit(1);
    let sizes = vec![1; reducers as usize];
    world.finish_map(0, &sizes);
    world.finish_map(1, &sizes);
    world
}

/// Behaviours: TSM-008, TSM-009, TSM-013.
#[test]
fn a_fetch_failure_closes_the_set_whose_other_tasks_run_on() {
    let mut world = reducers_begun(3, 2);

    let failed = world.fail(2, fetch_failed(0, 0, 0, "h1"));
    let other = world.finish(3);

    assert_eq!(
        failed.lines(),
        [
            "* attempt-2 ends: fetch failed",
            "* stage-1.0 failed: cannot fetch shuffle-0 for partition-0, map partition-0, from executor-0 on h1: \
             connection refused",
            "remove blocks of executor-0",
        ],
        "neither the failed task nor the third one is launched, though a core is free"
    );
    assert_eq!(
        other.lines(),
        ["forget stage-1.0", "* attempt-3 ends", "deliver job-0 [1] = attempt-3"],
        "a zombie takes results, and is removed with its last task"
    );
    let maps = world.advance(millis(200));
    assert_eq!(maps.partitions(), [0, 1], "both outputs went with the executor");
    world.finish_map(4, &[1, 1, 1]);
    let again = world.finish_map(5, &[1, 1, 1]);
    assert_eq!(again.partitions(), [0, 2], "the failed task runs in the next attempt only");
    world.finish(6);
    world.finish(7);
    world.assert_quiescent();
}

/// Behaviours: TSM-009, TSM-021, TSI-007, TSI-008.
#[test]
fn a_result_of_an_old_attempt_spares_the_active_one_the_partition() {
    let mut world = reducers_begun(3, 3);
    world.fail(2, fetch_failed(0, 0, 0, "h1"));
    world.advance(millis(200));
    world.finish_map(5, &[1, 1, 1]);
    // Two of three reducers of the new attempt are launched: partition 0 and 1; 3 and 4 still run in the old one.
    let begun = world.finish_map(6, &[1, 1, 1]);

    let spared = world.finish(4);
    let own_copy = world.finish(3);
    let first = world.finish(7);
    let beaten = world.finish(8);

    assert_eq!(
        begun.lines_with("launch"),
        ["launch attempt-7 = stage-1.1 partition-0 try-0 on executor-0 Node"],
        "one core is free"
    );
    assert_eq!(
        spared.lines(),
        [
            "* attempt-4 ends",
            "deliver job-0 [2] = attempt-4",
            "* attempt-8 starts",
            "launch attempt-8 = stage-1.1 partition-1 try-0 on executor-0 Node",
        ]
    );
    assert_eq!(
        own_copy.lines(),
        ["forget stage-1.0", "* attempt-3 ends", "deliver job-0 [1] = attempt-3"],
        "the copy in the active attempt is not killed"
    );
    assert_eq!(
        first.lines(),
        [
            "* attempt-7 ends",
            "deliver job-0 [0] = attempt-7",
            "* stage-1.1 completed",
            "* job-0 ends",
            "job-0 succeeded",
            "kill attempt-8 on executor-0: the stage is finished",
        ]
    );
    assert_eq!(beaten.lines(), ["forget stage-1.1", "* attempt-8 ends"]);
    world.assert_quiescent();
}

/// Behaviours: TSM-009, TSI-012.
#[test]
fn cancelling_a_stage_kills_the_tasks_of_all_its_attempts() {
    let mut world = reducers_begun(2, 2);
    world.fail(2, fetch_failed(0, 0, 0, "h1"));
    world.advance(millis(200));
    world.finish_map(4, &[1, 1]);
    world.finish_map(5, &[1, 1]);
    assert_eq!(world.launched[&firesteel_types::AttemptId(6)].set.to_string(), "stage-1.1");

    let cancelled = world.send(Event::CancelRequested { what: Cancel::Stage(StageId(1)), reason: None });
    let old = world.fail(3, TaskFailure::killed("cancelled"));
    let new = world.fail(6, TaskFailure::killed("cancelled"));

    assert_eq!(
        cancelled.lines(),
        [
            "* stage-1.1 failed: job-0 cancelled: stage-1 was cancelled",
            "job-0 failed: job-0 cancelled: stage-1 was cancelled",
            "* job-0 ends: job-0 cancelled: stage-1 was cancelled",
            "kill attempt-3 on executor-0: job-0 cancelled: stage-1 was cancelled",
            "kill attempt-6 on executor-0: job-0 cancelled: stage-1 was cancelled",
        ]
    );
    assert_eq!(old.lines(), ["forget stage-1.0", "* attempt-3 ends: killed: cancelled"]);
    assert_eq!(new.lines(), ["forget stage-1.1", "* attempt-6 ends: killed: cancelled"]);
    world.assert_quiescent();
}

/// A set of ten tasks on executor 0 of which nine succeeded after 1 s, and the last, attempt 9, has a copy,
/// attempt 10, on executor 1.
fn one_copy(is_map: bool) -> World {
    let mut world = World::config(|config| config.speculation = Some(SpeculationConfig::default()));
    world.executors(0, &["h1"], 10).rdds([source(0, 10), shuffled(1, 1, 0, 0)]);
    world.submit(u32::from(is_map));
    world.executor(1, "h2", 1);
    world.now += secs(1);
    for attempt in 0..9 {
        if is_map {
            world.finish_map(attempt, &[1])
        } else {
            world.finish(attempt)
        };
    }
    let copy = world.advance(secs(60));
    let launched = copy.lines_with("launch");
    assert_eq!(launched, ["launch attempt-10 = stage-0.0 partition-9 try-1 copy on executor-1 Process"]);
    world
}

/// Behaviours: TSM-011.
#[test]
fn the_attempt_that_finishes_first_has_the_other_one_killed_with_interrupt() {
    let mut world = one_copy(true);

    let won = world.finish_map(10, &[1]);
    let beaten = world.finish_map(9, &[1]);

    assert_eq!(
        won.lines()[..3],
        [
            "kill attempt-9 on executor-0 with interrupt: another attempt succeeded",
            "* attempt-10 ends",
            "* stage-0.0 completed",
        ]
    );
    assert_eq!(
        beaten.lines()[..2],
        ["forget stage-0.0", "* attempt-9 ends: killed: another attempt succeeded"],
        "a result that comes too late is not counted"
    );
}

/// Behaviours: TSM-012.
#[test]
fn kills_of_copies_do_not_count_as_failures() {
    let mut world = one_copy(false);
    // A copy goes to a host that has not seen the task yet, so each one needs another.
    let copy_again = |world: &mut World, host: u32| {
        world.executor(host, &format!("h{host}"), 1);
        world.advance(secs(1)).attempts()[0]
    };
    let mut copy = 10;
    for host in 3..8 {
        world.fail(copy, TaskFailure::killed("preempted"));
        copy = copy_again(&mut world, host);
    }

    for host in 8..11 {
        world.panic(copy);
        copy = copy_again(&mut world, host);
    }
    let fourth = world.panic(9);

    assert_eq!(fourth.lines_with("job-0 failed").len(), 1);
}

/// Behaviours: TSM-016.
#[test]
fn an_attempt_that_was_beaten_is_not_resubmitted() {
    let mut world = World::config(|config| config.speculation = Some(SpeculationConfig::default()));
    world.executors(0, &["h1"], 10).rdds([source(0, 11), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.now += secs(1);
    for attempt in 0..9 {
        world.finish_map(attempt, &[1]);
    }
    // Attempt 9 is slow, and so is attempt 10 of the last task: both get copies on h2.
    let copies = {
        world.executor(1, "h2", 2);
        world.advance(secs(60))
    };
    assert_eq!(copies.partitions(), [10, 9]);
    world.finish_map(copies.attempts()[1], &[1]);
    world.fail(9, TaskFailure::killed("another attempt succeeded"));

    let lost = world.lose(0);

    let resubmitted = lost.lines_with("resubmitted");
    assert_eq!(resubmitted.len(), 9, "{resubmitted:?}");
    assert!(!resubmitted.contains(&"* attempt-9 resubmitted".to_owned()));
}
