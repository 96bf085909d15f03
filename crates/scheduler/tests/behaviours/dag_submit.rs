//! When stages are submitted, in which order, and with what.

use firesteel_scheduler::{Effect, Event};
use firesteel_types::{
    ListenerEvent, PreferredLocations, Properties, RddId, RddNode, StageAttemptId, StageId,
};

use crate::harness::{
    World, derived, fetch_failed, metadata_failed, pinned, shuffle_dependency, shuffled, source,
};

/// Behaviours: DAG-007, DAG-008.
#[test]
fn missing_parents_go_first_in_ascending_order_and_release_the_child_when_the_last_completes() {
    let mut world = World::new();
    world.executors(0, &["h1"], 4).rdds([
        source(0, 1),
        source(1, 2),
        derived(2, 1, vec![shuffle_dependency(5, 0, 1), shuffle_dependency(3, 1, 1)]),
    ]);

    let submitted = world.submit(2);
    let first = world.finish_map(0, &[1]);
    let second = world.finish_map(1, &[1]);
    let third = world.finish_map(2, &[1]);

    assert_eq!(
        submitted.lines(),
        [
            "* job-0 starts [stage-0.0, stage-1.0, stage-2.0]",
            "* stage-0.0 submitted, 1 tasks",
            "* stage-1.0 submitted, 2 tasks",
            "prepare stage-0.0 for shuffle-5",
            "prepare stage-1.0 for shuffle-3",
            "* attempt-0 starts",
            "launch attempt-0 = stage-0.0 partition-0 try-0 on executor-0 Process",
            "* attempt-1 starts",
            "launch attempt-1 = stage-1.0 partition-0 try-0 on executor-0 Process",
            "* attempt-2 starts",
            "launch attempt-2 = stage-1.0 partition-1 try-0 on executor-0 Process",
        ]
    );
    assert_eq!(first.lines(), ["forget stage-0.0", "* attempt-0 ends", "* stage-0.0 completed"]);
    assert_eq!(second.lines(), ["* attempt-1 ends"]);
    assert_eq!(
        third.lines(),
        [
            "forget stage-1.0",
            "* attempt-2 ends",
            "* stage-1.0 completed",
            "* stage-2.0 submitted, 1 tasks",
            "prepare stage-2.0 for job-0",
            "* attempt-3 starts",
            "launch attempt-3 = stage-2.0 partition-0 try-0 on executor-0 Process",
        ]
    );
}

/// Behaviours: DAG-007.
#[test]
fn children_and_failed_stages_are_submitted_in_the_order_of_the_jobs_that_made_them() {
    let mut world = World::new();
    world.executors(0, &["h1"], 4).rdds([source(0, 1), shuffled(1, 1, 0, 0), shuffled(2, 1, 1, 1)]);
    // Job 0 makes stages 0, 1 and 2; job 1 makes stage 3, which reads shuffle 0 like stage 1.
    world.submit(2);
    world.submit(1);

    let released = world.finish_map(0, &[1]);
    let (of_map, of_result) = (world.attempt_of("stage-1.0", 0), world.attempt_of("stage-3.0", 0));
    world.fail(of_result, metadata_failed(0));
    world.fail(of_map, metadata_failed(0));
    let resubmitted = world.resubmit();

    assert_eq!(
        released.lines_with("submitted"),
        ["* stage-1.0 submitted, 1 tasks", "* stage-3.0 submitted, 1 tasks"]
    );
    assert_eq!(
        resubmitted.lines_with("submitted"),
        [
            "* stage-0.1 submitted, 0 tasks",
            "* stage-1.1 submitted, 1 tasks",
            "* stage-3.1 submitted, 1 tasks",
        ]
    );
}

/// Behaviours: DAG-008, DAG-040.
#[test]
fn a_map_stage_that_lacks_outputs_at_its_end_is_submitted_again_and_the_child_keeps_waiting() {
    let mut world = World::new();
    let places = [(0, "h1"), (1, "h2")];
    world.executors(0, &["h1", "h2"], 2).rdds([pinned(0, &places), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    let (on_first, on_second) = (world.attempt_of("stage-0.0", 0), world.attempt_of("stage-0.0", 1));
    world.finish_map(on_first, &[10]);
    // The files of the first executor's worker are gone, though the executor lives.
    world.send(Event::WorkerRemoved { host: "h1".into(), message: "gone".to_owned() });

    let drained = world.finish_map(on_second, &[10]);
    let completed = world.finish_map(2, &[10]);

    assert_eq!(
        drained.lines(),
        [
            "forget stage-0.0".to_owned(),
            format!("* attempt-{on_second} ends"),
            "* stage-0.0 completed".to_owned(),
            "* stage-0.1 submitted, 1 tasks".to_owned(),
            "prepare stage-0.1 for shuffle-0".to_owned(),
            "* attempt-2 starts".to_owned(),
            "launch attempt-2 = stage-0.1 partition-0 try-0 on executor-0 Process".to_owned(),
        ]
    );
    assert_eq!(completed.lines_with("stage-1.0 submitted"), ["* stage-1.0 submitted, 1 tasks"]);
}

/// Behaviours: DAG-013.
#[test]
fn preferred_locations_that_fail_abort_the_stage_after_it_was_announced() {
    let mut world = World::new();
    let failing =
        RddNode { preferred: PreferredLocations::Failed("no such table".to_owned()), ..source(0, 2) };
    world.executors(0, &["h1"], 1).rdds([failing, shuffled(1, 1, 0, 0), source(2, 1)]);

    let submitted = world.submit(1);
    let next = world.submit(2);

    let failed = "job aborted due to stage failure: preferred locations of rdd-0 failed: no such table";
    assert_eq!(
        submitted.lines(),
        [
            "* job-0 starts [stage-0.0, stage-1.0]".to_owned(),
            "* stage-0.0 submitted, 2 tasks".to_owned(),
            format!("* stage-0.0 failed: {failed}"),
            "job-0 failed by stage-0: preferred locations of rdd-0 failed: no such table".to_owned(),
            format!("* job-0 ends: {failed}"),
        ]
    );
    assert_eq!(next.partitions(), [0]);
    world.finish(0);
    world.assert_quiescent();
}

/// Behaviours: DAG-015.
#[test]
fn a_stage_is_prepared_once_for_each_attempt() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 3), shuffled(1, 2, 0, 0)]);
    let mut effects = world.submit(1).0;
    effects.extend(world.finish_maps(&[0, 1, 2], 2).0);

    effects.extend(world.fail(3, fetch_failed(0, 1, 0, "h1")).0);
    effects.extend(world.resubmit().0);

    let prepared: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::PrepareStage(stage) => Some(format!("{} {} {:?}", stage.set, stage.rdd, stage.kind)),
            _ => None,
        })
        .collect();
    assert_eq!(
        prepared,
        [
            "stage-0.0 rdd-0 ShuffleMap(shuffle-0)",
            "stage-1.0 rdd-1 Result(job-0)",
            "stage-0.1 rdd-0 ShuffleMap(shuffle-0)",
        ]
    );
}

/// Behaviours: DAG-015.
#[test]
fn a_stage_that_cannot_be_serialized_is_aborted_without_retry() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 2)]);
    world.submit(0);
    let event = |attempt: u32| Event::StageNotSerializable {
        set: StageAttemptId::new(StageId(0), attempt),
        message: "a socket".to_owned(),
    };

    let wrong = world.send(event(1));
    let failed = world.send(event(0));
    let again = world.send(event(0));
    world.fail(0, firesteel_types::TaskFailure::killed("the stage was aborted"));
    let next = world.submit(0);

    let reason = "job aborted due to stage failure: task not serializable: a socket";
    assert_eq!(wrong.lines(), ["ignored: stage-0.1 is not active"]);
    assert_eq!(
        failed.lines(),
        [
            format!("* stage-0.0 failed: {reason}"),
            "job-0 failed by stage-0: task not serializable: a socket".to_owned(),
            format!("* job-0 ends: {reason}"),
            format!("kill attempt-0 on executor-0: {reason}"),
        ]
    );
    assert_eq!(again.lines(), ["ignored: stage-0.0 is not active"]);
    assert_eq!(next.partitions(), [0]);
}

/// Behaviours: DAG-017.
#[test]
fn every_submission_takes_the_next_attempt_number_also_one_without_tasks() {
    let mut world = World::new();
    world.executors(0, &["h1"], 2).rdds([source(0, 1), shuffled(1, 5, 0, 0)]);

    let mut effects = world.submit_partitions(1, &[4, 2]).0;
    effects.extend(world.finish_map(0, &[1; 5]).0);
    effects.extend(world.finish(1).0);
    effects.extend(world.fail(2, metadata_failed(0)).0);
    effects.extend(world.resubmit().0);
    effects.extend(world.finish(3).0);

    let stages: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Post(ListenerEvent::StageSubmitted { info, .. }) => {
                let timed = info.submitted.is_some();
                Some(format!("{} submitted with {} tasks, timed: {timed}", info.id, info.tasks))
            }
            Effect::Post(ListenerEvent::StageCompleted { info }) => {
                Some(format!("{} completed with {} tasks, failed: {:?}", info.id, info.tasks, info.failure))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        stages,
        [
            "stage-0.0 submitted with 1 tasks, timed: true",
            "stage-0.0 completed with 1 tasks, failed: None",
            "stage-1.0 submitted with 2 tasks, timed: true",
            "stage-1.0 completed with 2 tasks, failed: Some(\"cannot fetch shuffle-0 for partition-0: no locations\")",
            "stage-0.1 submitted with 0 tasks, timed: false",
            "stage-0.1 completed with 0 tasks, failed: None",
            "stage-1.1 submitted with 1 tasks, timed: true",
            "stage-1.1 completed with 1 tasks, failed: None",
        ]
    );
    world.assert_quiescent();
}

/// Behaviours: DAG-001, DAG-017.
#[test]
fn a_shuffle_of_an_rdd_without_partitions_is_complete_from_the_start() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 0), shuffled(1, 1, 0, 0)]);

    let submitted = world.submit(1);

    assert_eq!(
        submitted.lines(),
        [
            "* job-0 starts [stage-0.0, stage-1.0]",
            "* stage-1.0 submitted, 1 tasks",
            "prepare stage-1.0 for job-0",
            "* attempt-0 starts",
            "launch attempt-0 = stage-1.0 partition-0 try-0 on executor-0 Process",
        ]
    );
}

/// Behaviours: DAG-007.
#[test]
fn rdds_that_are_dropped_while_a_job_uses_them_stay_until_it_ends() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    world.send(Event::RddsDropped(vec![RddId(0), RddId(1)]));
    world.finish_map(0, &[1]);

    world.fail(1, fetch_failed(0, 0, 0, "h1"));
    let resubmitted = world.resubmit();
    world.finish_map(2, &[1]);
    let last = world.finish(3);
    let gone = world.submit(1);

    assert_eq!(resubmitted.lines_with("submitted"), ["* stage-0.1 submitted, 1 tasks"]);
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    assert_eq!(gone.lines(), ["job-1 failed: rdd-1 is not registered"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-046.
#[test]
fn properties_of_the_job_reach_the_tasks_of_each_of_its_stages() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    let properties = Properties::default().with(Properties::DESCRIPTION, "count words");

    let mut effects = world.submit_with(1, properties).0;
    effects.extend(world.finish_map(0, &[1]).0);

    let described: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::PrepareStage(stage) => {
                Some((stage.set.to_string(), stage.properties.get(Properties::DESCRIPTION)))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        described,
        [("stage-0.0".to_owned(), Some("count words")), ("stage-1.0".to_owned(), Some("count words"))]
    );
}
