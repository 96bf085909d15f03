//! How often a stage may fail before it is given up.

use firesteel_scheduler::{Event, ExecutorConfig, Scaling, SchedulerConfig, StageConfig};
use firesteel_types::ExecutorId;

use crate::harness::{Effects, World, fetch_failed, metadata_failed, pinned, placed, shuffled};

/// One map task on executor 0 and `readers` result tasks on executor 1.
fn reading(config: SchedulerConfig, readers: u32) -> World {
    let mut world = World::with(config);
    let places = vec![(1, "h2"); readers as usize];
    world
        .executors(0, &["h1", "h2"], 4)
        .rdds([pinned(0, &[(0, "h1")]), placed(shuffled(1, readers, 0, 0), &places)]);
    world.submit(1);
    world.finish_maps(&[0], readers as usize);
    world
}

/// The reader's current attempt fails to fetch; the map output is made again and the reader starts anew.
fn fail_and_recover(world: &mut World, stage: u32, shuffle: u32, round: u32) -> Effects {
    let attempt = world.attempt_of(&format!("stage-{stage}.{round}"), 0);
    let failed = world.fail(attempt, fetch_failed(shuffle, 0, 0, "h1"));
    let mut effects = world.resubmit();
    while let Some(task) = effects.launches().first().filter(|task| task.set.stage.0 < stage) {
        let rerun = task.attempt.0;
        effects = world.finish_map(rerun, &[10]);
    }
    failed
}

const GIVEN_UP: &str = "stage-1 failed 4 attempts in a row, which is the most that firesteel.stage.maxConsecutiveAttempts \
                        allows; the last: cannot fetch shuffle-0 for partition-0, map partition-0, from executor-0 on h1: \
                        connection refused";

/// Behaviours: DAG-032, DAG-033.
#[test]
fn four_failed_attempts_in_a_row_abort_the_stage_and_nothing_else() {
    let mut world = reading(SchedulerConfig::default(), 1);
    for round in 0..3 {
        let failed = fail_and_recover(&mut world, 1, 0, round);
        assert_eq!(failed.lines_with("job-0"), [""; 0]);
    }

    let fourth = fail_and_recover(&mut world, 1, 0, 3);

    let message =
        "cannot fetch shuffle-0 for partition-0, map partition-0, from executor-0 on h1: connection refused";
    assert_eq!(
        fourth.lines(),
        [
            "forget stage-1.3".to_owned(),
            "* attempt-7 ends: fetch failed".to_owned(),
            format!("* stage-1.3 failed: {message}"),
            format!("job-0 failed by stage-1: {GIVEN_UP}"),
            format!("* job-0 ends: job aborted due to stage failure: {GIVEN_UP}"),
            "remove blocks of executor-0".to_owned(),
        ]
    );
    world.assert_quiescent();

    // A later job over the same shuffle recovers from fetch failures as usual.
    let next = world.submit(1);
    assert_eq!(next.lines_with("submitted"), ["* stage-2.0 submitted, 1 tasks"]);
    world.finish_map(8, &[10]);
    world.fail(9, fetch_failed(0, 0, 0, "h1"));
    let again = world.resubmit();
    assert_eq!(again.lines_with("submitted"), ["* stage-2.1 submitted, 1 tasks"]);
    world.finish_map(10, &[10]);
    let last = world.finish(11);
    assert_eq!(last.lines_with("succeeded"), ["job-1 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-032.
#[test]
fn many_failures_of_one_attempt_count_once() {
    let mut world = reading(SchedulerConfig::default(), 4);

    for attempt in 1..5 {
        world.fail(attempt, fetch_failed(0, 0, 0, "h1"));
    }
    let resubmitted = world.resubmit();

    assert_eq!(resubmitted.lines_with("submitted"), ["* stage-0.1 submitted, 1 tasks"]);
}

/// Behaviours: DAG-032.
#[test]
fn a_completion_clears_the_count() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 4).rdds([
        pinned(0, &[(0, "h1")]),
        placed(shuffled(1, 1, 0, 0), &[(1, "h2")]),
        placed(shuffled(2, 1, 1, 1), &[(1, "h2")]),
    ]);
    world.submit(2);
    world.finish_maps(&[0], 1);
    // Stage 1 fails three times, completes, and fails three times again before it completes for good.
    for round in 0..3 {
        fail_and_recover(&mut world, 1, 0, round);
    }
    let attempt = world.attempt_of("stage-1.3", 0);
    world.finish_maps(&[attempt], 1);
    let reader = world.attempt_of("stage-2.0", 0);
    world.fail(reader, fetch_failed(1, 0, 1, "h2"));
    world.resubmit();
    for round in 4..7 {
        let failed = fail_and_recover(&mut world, 1, 0, round);
        assert_eq!(failed.lines_with("job-0"), [""; 0], "round {round}");
    }

    let attempt = world.attempt_of("stage-1.7", 0);
    world.finish_maps(&[attempt], 1);
    let reader = world.attempt_of("stage-2.1", 0);
    let last = world.finish(reader);

    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-032.
#[test]
fn each_stage_counts_its_own_failures() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 4).rdds([
        pinned(0, &[(0, "h1")]),
        placed(shuffled(1, 1, 0, 0), &[(1, "h2")]),
        placed(shuffled(2, 1, 1, 1), &[(1, "h2")]),
    ]);
    world.submit(2);
    world.finish_maps(&[0], 1);
    // Three failures of stage 1, then three of stage 2, make six, and none is the fourth of its stage.
    for round in 0..3 {
        fail_and_recover(&mut world, 1, 0, round);
    }
    let attempt = world.attempt_of("stage-1.3", 0);
    world.finish_maps(&[attempt], 1);
    for round in 0..3 {
        let reader = world.attempt_of(&format!("stage-2.{round}"), 0);
        let failed = world.fail(reader, metadata_failed(1));
        world.resubmit();
        assert_eq!(failed.lines_with("job-0"), [""; 0], "round {round}");
    }

    let reader = world.attempt_of("stage-2.3", 0);
    let last = world.finish(reader);

    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-032.
#[test]
fn attempts_in_all_can_be_limited_too() {
    let stages = StageConfig { attempts_max: 2, ..StageConfig::default() };
    let mut world = reading(SchedulerConfig { stages, ..SchedulerConfig::default() }, 1);
    fail_and_recover(&mut world, 1, 0, 0);

    let reader = world.attempt_of("stage-1.1", 0);
    let failed = world.fail(reader, metadata_failed(0));

    let reason = "stage-1 was submitted 2 times, which is the most that firesteel.stage.maxAttempts allows; the last: \
                  cannot fetch shuffle-0 for partition-0: no locations";
    assert_eq!(failed.lines_with("job-0 failed"), [format!("job-0 failed by stage-1: {reason}")]);
    world.assert_quiescent();
}

fn decommission(world: &mut World, executor: u32) {
    world.send(Event::ScalingRequested(Scaling::Decommission {
        executors: vec![ExecutorId(executor)],
        worker_host: None,
        adjust_target: false,
        by_executor: true,
    }));
}

/// Fails the reader `rounds` times against executor 0, which is on its way out.
fn fail_against_decommissioned(config: SchedulerConfig, removed: bool, rounds: u32) -> Vec<String> {
    let mut world = reading(config, 1);
    decommission(&mut world, 0);
    if removed {
        world.lose(0);
    }
    let mut lines = Vec::new();
    for round in 0..rounds {
        let reader = world.attempt_of(&format!("stage-1.{round}"), 0);
        lines.extend(world.fail(reader, fetch_failed(0, 0, 0, "h1")).lines_with("job-0 failed"));
        let resubmitted = world.resubmit();
        if let Some(task) = resubmitted.launches().first().filter(|task| task.set.stage.0 == 0) {
            let rerun = task.attempt.0;
            world.finish_map(rerun, &[10]);
        }
    }
    lines
}

/// Behaviours: DAG-034.
#[test]
fn failures_against_a_decommissioned_executor_are_retried_and_not_counted() {
    let retained = SchedulerConfig {
        executors: ExecutorConfig { retained_decommissioned: 5, ..ExecutorConfig::default() },
        ..SchedulerConfig::default()
    };
    let counting = SchedulerConfig {
        stages: StageConfig { ignore_decommission_fetch_failures: false, ..StageConfig::default() },
        ..SchedulerConfig::default()
    };
    let given_up = [format!("job-0 failed by stage-1: {GIVEN_UP}")];

    assert_eq!(fail_against_decommissioned(SchedulerConfig::default(), false, 10), [""; 0]);
    assert_eq!(fail_against_decommissioned(retained, true, 10), [""; 0]);
    assert_eq!(
        fail_against_decommissioned(SchedulerConfig::default(), true, 4),
        given_up,
        "it was forgotten"
    );
    assert_eq!(fail_against_decommissioned(counting, false, 4), given_up);
}
