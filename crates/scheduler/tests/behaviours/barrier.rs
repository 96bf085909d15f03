//! Barrier stages: all tasks start at once or none does, and one failure fails them all.

use std::{collections::BTreeMap, sync::Arc};

use firesteel_scheduler::{Event, SchedulerConfig};
use firesteel_types::{
    ExecutorId, PreferredLocations, ProfileId, Properties, RddNode, Share, TaskFailure, TaskLocation,
};

use crate::{
    harness::{
        Effects, World, barrier, executor_spec, fetch_failed, map, millis, property, secs, shuffled, source,
    },
    profiles::register_task_profile,
};

fn places(effects: &Effects) -> Vec<(u32, u32)> {
    let mut places: Vec<_> =
        effects.launches().iter().map(|task| (task.partition.0, task.executor.0)).collect();
    places.sort_unstable();
    places
}

/// A source RDD that runs as a barrier and prefers a host for each partition.
fn preferring(id: u32, hosts: &[&str]) -> RddNode {
    let places: Arc<[_]> = hosts.iter().map(|host| vec![TaskLocation::from(*host)]).collect();
    RddNode { preferred: PreferredLocations::PerPartition(places), ..barrier(id, hosts.len() as u32) }
}

/// Behaviours: BAR-001.
#[test]
fn all_tasks_of_a_barrier_stage_start_in_one_round_or_none_does() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 2).rdds([source(0, 2), barrier(1, 3)]);
    world.submit(0);

    let submitted = world.submit(1);
    let one_free = world.finish(0);
    let revived = world.advance(secs(1));

    assert_eq!(submitted.attempts(), [0; 0], "two slots are free, and three are needed");
    assert_eq!(
        one_free.lines(),
        ["* attempt-0 ends", "deliver job-0 [0] = attempt-0"],
        "only its executor is offered"
    );
    let started: Vec<_> = revived.launches().iter().map(|task| task.partition.0).collect();
    assert_eq!(started, [0, 1, 2], "three slots are free");
    assert_eq!(revived.lines().len(), 6, "nothing but three starts and three launches");
}

/// Behaviours: BAR-001, RP-006.
#[test]
fn slots_of_executors_of_another_profile_do_not_count() {
    let mut world = World::new();
    let mut other = executor_spec(1, "h2", 4);
    other.profile = ProfileId(7);
    world.executors(0, &["h1"], 1);
    world.send(Event::ExecutorRegistered(other));
    world.send(Event::ExecutorLaunched { executor: ExecutorId(1) });
    world.rdds([barrier(0, 2)]);

    let submitted = world.submit(0);

    assert_eq!(submitted.lines(), ["warn: job-0 waits for 2 slots for its barrier stage; there are 1"]);
}

/// Behaviours: BAR-002.
#[test]
fn slots_are_counted_after_older_jobs_took_theirs() {
    let mut world = World::new();
    world.executors(0, &["h1"], 3).rdds([source(0, 4), barrier(1, 3)]);
    world.submit(0);
    world.submit(1);
    let mut launched = Vec::new();
    for attempt in 0..3 {
        launched.extend(world.finish(attempt).partitions());
    }
    assert_eq!(launched, [3], "the last task of the older job goes first");

    let waited = world.advance(secs(1));
    let last = world.finish(3);

    assert_eq!(waited.attempts(), [0; 0], "the older job left two slots");
    assert_eq!(last.attempts(), [4, 5, 6]);
}

/// Behaviours: BAR-002.
#[test]
fn scarce_resources_limit_the_slots() {
    let mut config = SchedulerConfig::default();
    let executor = config.default_profile.executor.get_or_insert_default();
    executor.resources = BTreeMap::from([("gpu".into(), 2)]);
    let mut world = World::with(config);
    let profile = register_task_profile(&mut world, "gpu", Share::addresses(1));
    for id in 0..2 {
        let mut spec = executor_spec(id, "h1", 4);
        spec.resources.insert("gpu".into(), vec!["0".into(), "1".into()]);
        world.send(Event::ExecutorRegistered(spec));
        world.send(Event::ExecutorLaunched { executor: ExecutorId(id) });
    }
    let with_gpu = |node: RddNode| RddNode { profile: Some(profile), ..node };
    world.rdds([with_gpu(source(0, 1)), with_gpu(barrier(1, 4)), with_gpu(barrier(2, 5))]);
    world.submit(0);

    let four = world.submit(1);
    let five = world.submit(2);
    let freed = world.finish(0);

    assert_eq!(four.attempts(), [0; 0], "three of the four gpus are free, and seven of the eight cores");
    assert_eq!(five.lines(), ["warn: job-2 waits for 5 slots for its barrier stage; there are 4"]);
    assert_eq!(freed.attempts(), [0; 0], "only one executor is offered");
    assert_eq!(world.advance(secs(1)).launches().len(), 4);
}

/// Behaviours: BAR-003.
#[test]
fn a_barrier_stage_that_is_placed_in_part_gives_everything_back_and_tries_again() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 2);
    // Three partitions want h1, which has two slots: the third waits for it.
    world.rdds([preferring(0, &["h1", "h1", "h1"]), source(1, 4)]);

    let submitted = world.submit(0);
    let free: Vec<_> = [0, 1].map(|id| world.scheduler.executor_status(ExecutorId(id))).into();
    let other = world.submit(1);

    assert_eq!(submitted.attempts(), [0; 0]);
    assert!(free.iter().flatten().all(|status| status.cpus_free == status.cpus), "nothing is held: {free:?}");
    assert_eq!(other.launches().len(), 4, "a younger job uses what the barrier stage could not");
    for attempt in 0..4 {
        world.finish(attempt);
    }
    assert_eq!(world.advance(secs(1)).attempts(), [0; 0], "it still waits for h1");
    assert_eq!(world.advance(secs(3)).launches().len(), 3, "and then takes any place");
    for attempt in 4..7 {
        world.finish(attempt);
    }
    world.assert_quiescent();
}

/// Behaviours: BAR-004.
#[test]
fn every_task_gets_the_addresses_of_all_ordered_by_partition() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2", "h3"], 1);
    world.rdds([preferring(0, &["h3", "h1", "h2"])]);

    let submitted = world.submit(0);

    assert_eq!(places(&submitted), [(0, 2), (1, 0), (2, 1)]);
    let expected: Arc<[Arc<str>]> = ["h3:2", "h1:0", "h2:1"].map(Arc::from).into();
    for task in submitted.launches() {
        assert_eq!(task.barrier, Some(expected.clone()));
    }
}

/// A barrier map stage of two tasks on one executor, read by a result stage. Both tasks run.
fn map_stage(properties: Properties) -> World {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([barrier(0, 2), shuffled(1, 1, 0, 0)]);
    world.submit_with(1, properties);
    world
}

/// Behaviours: BAR-005, BAR-006.
#[test]
fn one_failure_ends_the_other_tasks_and_the_map_stage_runs_again_as_a_whole() {
    let mut world = map_stage(Properties::default());
    world.finish_map(0, &[10]);

    let failed = world.panic(1);
    let again = world.advance(millis(200));

    let why = "barrier task 1 of stage-0.0 ended: boom";
    assert_eq!(
        failed.lines(),
        [
            "forget stage-0.0".to_owned(),
            "* attempt-1 ends: boom".to_owned(),
            format!("* stage-0.0 failed: {why}"),
        ],
        "the other task has finished, so there is no attempt to kill"
    );
    assert_eq!(again.partitions(), [0, 1], "the output of the task that had finished is gone too");
    world.finish_map(2, &[10]);
    world.finish_map(3, &[10]);
    world.finish(4);
    world.assert_quiescent();
}

/// Behaviours: BAR-005.
#[test]
fn the_kill_of_the_others_honours_the_jobs_setting() {
    for (setting, how) in [("false", ""), ("true", " with interrupt")] {
        let mut world = map_stage(property(Properties::INTERRUPT_ON_CANCEL, setting));

        let failed = world.fail(0, TaskFailure::CommitDenied);

        let why = "barrier task 0 of stage-0.0 ended: another attempt may commit this output";
        assert_eq!(
            failed.lines(),
            [
                "* attempt-0 ends: another attempt may commit this output".to_owned(),
                format!("* stage-0.0 failed: {why}"),
                format!("kill attempt-1 on executor-0{how}: {why}"),
            ]
        );
    }
}

/// Behaviours: BAR-005, BAR-006.
#[test]
fn a_lost_executor_fails_the_whole_attempt_even_if_its_tasks_had_finished() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([barrier(0, 2), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    let (done, left) = (world.executor_of(0).0, world.executor_of(1).0);
    world.finish_map(0, &[10]);

    let lost = world.lose(done);

    let why = "barrier task 0 of stage-0.0 ended: its output is lost";
    assert_eq!(
        lost.lines(),
        [
            format!("* executor-{done} removed: gone"),
            "* attempt-0 resubmitted".to_owned(),
            format!("* stage-0.0 failed: {why}"),
            format!("kill attempt-1 on executor-{left}: {why}"),
            format!("remove blocks of executor-{done}"),
        ]
    );
    world.fail(1, TaskFailure::killed("told to"));
    world.executor(2, "h3", 1);
    assert_eq!(world.advance(millis(200)).partitions(), [0, 1]);
}

/// Behaviours: BAR-005, BAR-006.
#[test]
fn a_fetch_failure_in_a_barrier_stage_ends_its_other_tasks() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2);
    let reader = RddNode { barrier: true, ..shuffled(1, 2, 0, 0) };
    world.rdds([source(0, 1), reader, shuffled(2, 1, 1, 1)]);
    world.submit(2);
    world.finish_map(0, &[10, 10]);

    let failed = world.fail(1, fetch_failed(0, 0, 0, "h1"));

    let why =
        "cannot fetch shuffle-0 for partition-0, map partition-0, from executor-0 on h1: connection refused";
    assert_eq!(
        failed.lines(),
        [
            "* attempt-1 ends: fetch failed".to_owned(),
            format!("* stage-1.0 failed: {why}"),
            "remove blocks of executor-0".to_owned(),
            format!("kill attempt-2 on executor-0: {why}"),
        ]
    );
    world.fail(2, TaskFailure::killed("told to"));
    let again = world.advance(millis(200));
    assert_eq!(again.lines_with("launch").len(), 1, "the lost map output");
    let map_again = again.attempts()[0];
    assert_eq!(world.finish_map(map_again, &[10, 10]).partitions(), [0, 1], "then the barrier as a whole");
}

/// Behaviours: BAR-006.
#[test]
fn a_failed_barrier_result_stage_fails_its_job() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([barrier(0, 2), map(1, 2, 0)]);
    world.submit(1);

    let failed = world.panic(0);

    let why = "barrier task 0 of stage-0.0 ended: boom";
    let reason = format!("a barrier result stage cannot be run again; {why}");
    assert_eq!(
        failed.lines(),
        [
            "* attempt-0 ends: boom".to_owned(),
            format!("* stage-0.0 failed: {why}"),
            format!("job-0 failed by stage-0: {reason}"),
            format!("* job-0 ends: job aborted due to stage failure: {reason}"),
            format!("kill attempt-1 on executor-0: {why}"),
            format!("kill attempt-1 on executor-0: job aborted due to stage failure: {reason}"),
        ]
    );
    world.fail(1, TaskFailure::killed("told to"));
    world.assert_quiescent();
}

/// Behaviours: BAR-007.
#[test]
fn each_failed_attempt_counts_once_and_the_fourth_fails_the_job() {
    let mut world = map_stage(Properties::default());
    let mut failures = Vec::new();
    for round in 0..4 {
        let first = 2 * round;
        failures.push(world.panic(first).lines_with("job-0 failed").len());
        let second = world.fail(first + 1, TaskFailure::panicked("me too"));
        assert_eq!(second.lines_with("stage-0").len(), 1, "only `forget`: {:?}", second.lines());
        world.advance(millis(200));
    }

    assert_eq!(failures, [0, 0, 0, 1]);
    assert_eq!(world.launched.len(), 8, "four attempts of two tasks");
    world.assert_quiescent();
}

/// Behaviours: BAR-007.
#[test]
fn a_late_failure_of_an_older_attempt_causes_no_further_retry() {
    let mut world = World::new();
    world.executors(0, &["h1"], 4).rdds([barrier(0, 2), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.panic(0);
    let again = world.advance(millis(200));
    assert_eq!(again.attempts(), [2, 3]);

    let late = world.panic(1);

    assert_eq!(
        late.lines(),
        [
            "forget stage-0.0",
            "* attempt-1 ends: boom",
            "ignored: stage-0.0 is not the latest attempt of its stage",
        ]
    );
    world.finish_map(2, &[10]);
    world.finish_map(3, &[10]);
    world.finish(4);
    world.assert_quiescent();
}
