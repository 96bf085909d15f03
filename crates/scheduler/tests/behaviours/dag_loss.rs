//! Executors and workers go: which map outputs go with them, and what is run again.

use firesteel_scheduler::{Effect, Event, SchedulerConfig, StageTaskKind, TaskOutcome, TaskStatus};
use firesteel_types::{ExecutorLossReason, Host};

use crate::harness::{World, fetch_failed, map_outcome, millis, pinned, placed, shuffled, source};

/// Outputs 0 and 1 of shuffle 0 are at executors 0 and 1, both on host h1, output 2 at executor 2 on h2. The
/// job is over.
fn three_outputs(config: SchedulerConfig) -> World {
    let mut world = World::with(config);
    let places = [(0, "h1"), (1, "h1"), (2, "h2")];
    world.executors(0, &["h1", "h1", "h2", "h3"], 1);
    world.rdds([pinned(0, &places), placed(shuffled(1, 1, 0, 0), &[(3, "h3")])]);
    world.submit_map_stage(1, 0);
    world.finish_maps(&[0, 1, 2], 1);
    world.assert_quiescent();
    world
}

/// How many map tasks a new job runs again.
fn rerun(mut world: World) -> u32 {
    let submitted = world.submit(1);
    let tasks = submitted.0.iter().find_map(|effect| match effect {
        Effect::PrepareStage(stage) => match stage.kind {
            StageTaskKind::ShuffleMap(_) => Some(stage.tasks),
            StageTaskKind::Result(_) => Some(0),
        },
        _ => None,
    });
    tasks.expect("some stage begins")
}

fn with_worker(host: &str) -> ExecutorLossReason {
    ExecutorLossReason::ProcessLost {
        message: "gone".to_owned(),
        worker_host: Some(host.into()),
        caused_by_app: false,
    }
}

/// Behaviours: DAG-037.
#[test]
fn an_executor_takes_its_outputs_with_it_unless_somebody_else_serves_them() {
    let service = || SchedulerConfig { shuffle_service: true, ..SchedulerConfig::default() };
    let reliable = || SchedulerConfig { reliable_shuffle: true, ..SchedulerConfig::default() };
    let after = |config: SchedulerConfig, reason: ExecutorLossReason| {
        let mut world = three_outputs(config);
        world.lose_with(0, reason);
        rerun(world)
    };
    let plain = || ExecutorLossReason::process_lost("gone");

    assert_eq!(after(SchedulerConfig::default(), plain()), 1);
    assert_eq!(after(SchedulerConfig::default(), with_worker("h1")), 2, "everything on the host goes");
    assert_eq!(after(service(), plain()), 0, "the service has them");
    assert_eq!(after(service(), with_worker("h1")), 2, "the service went with its worker");
    assert_eq!(after(reliable(), plain()), 0);
    assert_eq!(after(reliable(), with_worker("h1")), 0, "they are in reliable storage");
}

/// Behaviours: DAG-037.
#[test]
fn the_loss_of_an_executor_is_told_once() {
    let mut world = three_outputs(SchedulerConfig::default());

    let lost = world.lose(0);
    let again = world.lose(0);

    assert_eq!(lost.lines(), ["* executor-0 removed: gone", "remove blocks of executor-0"]);
    assert_eq!(again.lines(), ["remove blocks of executor-0", "* executor-0 removed: gone"]);
}

/// Behaviours: DAG-038.
#[test]
fn a_removed_worker_takes_every_output_on_its_host() {
    for config in
        [SchedulerConfig::default(), SchedulerConfig { shuffle_service: true, ..SchedulerConfig::default() }]
    {
        let mut world = three_outputs(config);

        let removed = world.send(Event::WorkerRemoved { host: Host::from("h1"), message: "gone".to_owned() });
        let unknown = world.send(Event::WorkerRemoved { host: Host::from("h9"), message: "gone".to_owned() });

        assert_eq!(removed.lines(), [""; 0]);
        assert_eq!(unknown.lines(), [""; 0]);
        assert_eq!(rerun(world), 2);
    }
}

/// Both outputs were at executor 0 and are made again there when an old report about it comes in.
///
/// Behaviours: DAG-039.
#[test]
fn a_failure_from_before_a_loss_does_not_remove_the_executor_again() {
    let mut world = World::new();
    world
        .executors(0, &["h1", "h2"], 2)
        .rdds([pinned(0, &[(0, "h1"), (0, "h1")]), placed(shuffled(1, 2, 0, 0), &[(1, "h2"), (1, "h2")])]);
    world.submit(1);
    world.finish_maps(&[0, 1], 2);
    let first = world.fail(2, fetch_failed(0, 0, 0, "h1"));
    let resubmitted = world.resubmit();
    world.finish_maps(&[4], 2);

    let second = world.fail(3, fetch_failed(0, 1, 0, "h1"));
    world.finish_maps(&[5], 2);
    let again = world.resubmit();
    let lost = world.lose(0);

    assert_eq!(first.lines_with("blocks"), ["remove blocks of executor-0"]);
    assert_eq!(resubmitted.partitions(), [0, 1]);
    assert_eq!(second.lines(), ["forget stage-1.0", "* attempt-3 ends: fetch failed"]);
    // The output that was made again in the meantime is still there.
    assert_eq!(
        again.lines_with("submitted"),
        ["* stage-0.2 submitted, 0 tasks", "* stage-1.1 submitted, 2 tasks"]
    );
    assert_eq!(lost.lines_with("blocks"), ["remove blocks of executor-0"], "a loss at a later epoch is news");
}

/// Behaviours: DAG-039.
#[test]
fn an_executor_that_comes_back_has_a_clean_record() {
    // With the service no output is lost, so that the epoch stays what it was.
    let config = SchedulerConfig { shuffle_service: true, ..SchedulerConfig::default() };
    let mut world = World::with(config);
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.lose(0);
    world.executor(0, "h1", 1);
    world.submit(1);

    let completed = world.finish_map(0, &[10]);

    assert_eq!(
        completed.lines_with("stage"),
        [
            "forget stage-0.0",
            "* stage-0.0 completed",
            "* stage-1.0 submitted, 1 tasks",
            "prepare stage-1.0 for job-0",
            "launch attempt-1 = stage-1.0 partition-0 try-0 on executor-0 Node",
        ]
    );
}

/// A fetch failure of another job writes executor 0 off while a map task of this job runs there.
///
/// Behaviours: DAG-040.
#[test]
fn a_success_from_an_executor_that_was_written_off_ends_the_task_without_an_output() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 2).rdds([
        pinned(0, &[(0, "h1"), (1, "h2")]),
        shuffled(1, 1, 0, 0),
        pinned(2, &[(0, "h1")]),
        placed(shuffled(3, 1, 1, 2), &[(1, "h2")]),
    ]);
    world.submit(3);
    world.finish_map(0, &[10]);
    world.submit(1);
    let (on_lost, other) = (world.attempt_of("stage-2.0", 0), world.attempt_of("stage-2.0", 1));
    world.fail(1, fetch_failed(1, 0, 0, "h1"));

    let late = world.finish_map(on_lost, &[10]);
    let drained = world.finish_map(other, &[10]);

    assert_eq!(late.lines(), [format!("* attempt-{on_lost} ends")]);
    assert_eq!(
        drained.lines(),
        [
            "forget stage-2.0".to_owned(),
            format!("* attempt-{other} ends"),
            "* stage-2.0 completed".to_owned(),
            "* stage-2.1 submitted, 1 tasks".to_owned(),
            "prepare stage-2.1 for shuffle-0".to_owned(),
            "* attempt-4 starts".to_owned(),
            "launch attempt-4 = stage-2.1 partition-0 try-0 on executor-0 Process".to_owned(),
        ]
    );
}

/// Behaviours: DAG-041.
#[test]
fn a_map_stage_may_finish_from_a_mix_of_attempts() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 4).rdds([
        pinned(0, &[(0, "h1")]),
        placed(shuffled(1, 3, 0, 0), &[(1, "h2"), (1, "h2"), (1, "h2")]),
        placed(shuffled(2, 1, 1, 1), &[(1, "h2")]),
    ]);
    world.submit(2);
    world.finish_maps(&[0], 3);
    world.fail(1, fetch_failed(0, 0, 0, "h1"));
    world.resubmit();
    // Attempts 2 and 3 of stage 1.0 still run when stage 1.1 begins with all three partitions, two of which get slots.
    let second = world.finish_maps(&[4], 3);

    let old = world.finish_maps(&[2], 1);
    let older = world.finish_maps(&[3], 1);
    let last = world.finish_maps(&[5], 1);

    assert_eq!(second.partitions(), [0, 1]);
    // Partition 1 is done, so its copy in the new attempt counts no more; partition 2 is launched where there is room.
    assert_eq!(
        old.lines(),
        [
            "* attempt-2 ends",
            "* attempt-7 starts",
            "launch attempt-7 = stage-1.1 partition-2 try-0 on executor-1 Process",
        ]
    );
    assert_eq!(older.lines(), ["forget stage-1.0", "* attempt-3 ends"]);
    assert_eq!(
        last.lines_with("stage"),
        [
            "* stage-1.1 completed",
            "* stage-2.0 submitted, 1 tasks",
            "prepare stage-2.0 for job-0",
            "launch attempt-8 = stage-2.0 partition-0 try-0 on executor-1 Process",
        ]
    );
}

/// Behaviours: DAG-041.
#[test]
fn a_partition_completed_by_an_older_attempt_is_not_launched_again() {
    let mut world = World::new();
    world
        .executors(0, &["h1", "h2"], 2)
        .rdds([pinned(0, &[(0, "h1")]), placed(shuffled(1, 2, 0, 0), &[(1, "h2"), (1, "h2")])]);
    world.submit(1);
    world.finish_maps(&[0], 2);
    world.fail(1, fetch_failed(0, 0, 0, "h1"));
    world.resubmit();
    let second = world.finish_maps(&[3], 2);

    let old = world.finish(2);
    let last = world.finish(4);

    assert_eq!(second.partitions(), [0], "the old attempt holds the other slot");
    assert_eq!(old.lines(), ["forget stage-1.0", "* attempt-2 ends", "deliver job-0 [1] = attempt-2"]);
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-042.
#[test]
fn a_finished_map_task_whose_executor_dies_is_pending_again() {
    let mut world = World::new();
    let nodes = [pinned(0, &[(0, "h1"), (1, "h2")]), placed(shuffled(1, 1, 0, 0), &[(1, "h2")])];
    world.executors(0, &["h1", "h2"], 1).rdds(nodes);
    world.submit(1);
    let (on_lost, other) = (world.attempt_of("stage-0.0", 0), world.attempt_of("stage-0.0", 1));
    world.finish_map(on_lost, &[10]);

    let lost = world.lose(0);
    let finished = world.finish_map(other, &[10]);
    let rerun = world.finish_map(2, &[10]);

    assert_eq!(
        lost.lines(),
        [
            "* executor-0 removed: gone".to_owned(),
            format!("* attempt-{on_lost} resubmitted"),
            "remove blocks of executor-0".to_owned(),
        ]
    );
    // The stage cannot finish before the rerun.
    assert_eq!(
        finished.lines(),
        [
            format!("* attempt-{other} ends"),
            "* attempt-2 starts".to_owned(),
            "launch attempt-2 = stage-0.0 partition-0 try-1 on executor-1 Any".to_owned(),
        ]
    );
    assert_eq!(
        rerun.lines_with("stage"),
        [
            "forget stage-0.0",
            "* stage-0.0 completed",
            "* stage-1.0 submitted, 1 tasks",
            "prepare stage-1.0 for job-0",
            "launch attempt-3 = stage-1.0 partition-0 try-0 on executor-1 Process",
        ]
    );
}

/// Results are at the driver, so nothing of a result stage is lost with an executor.
///
/// Behaviours: DAG-042.
#[test]
fn a_finished_result_task_is_never_resubmitted() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([pinned(0, &[(0, "h1"), (1, "h2")])]);
    world.submit(0);
    let (on_lost, other) = (world.attempt_of("stage-0.0", 0), world.attempt_of("stage-0.0", 1));
    world.finish(on_lost);

    let lost = world.lose(0);
    let finished = world.finish(other);

    assert_eq!(lost.lines(), ["* executor-0 removed: gone", "remove blocks of executor-0"]);
    assert_eq!(finished.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: MOT-004.
#[test]
fn tasks_carry_the_epoch_of_their_set_and_it_rises_with_each_change() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 2), shuffled(1, 2, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[10, 10]);
    world.send(Event::WorkerRemoved { host: "h9".into(), message: "gone".to_owned() });
    world.finish_map(1, &[10, 10]);
    world.finish(2);
    // The second task of the set is launched after another change, and carries the epoch of its set all the same.
    world.send(Event::WorkerRemoved { host: "h9".into(), message: "gone".to_owned() });
    world.fail(3, fetch_failed(0, 1, 0, "h1"));
    world.resubmit();

    let epochs: Vec<_> = world.launched.values().map(|task| format!("{} {}", task.set, task.epoch)).collect();
    // 1: a worker is removed. 2: stage 0 completes. 3: another worker. 4: one output is unregistered, 5: the executor
    // is written off.
    assert_eq!(epochs, ["stage-0.0 0", "stage-0.0 0", "stage-1.0 2", "stage-1.0 2", "stage-0.1 5"]);
}

/// A map task that reports success but brings no output, or one of the wrong size, cannot complete its stage.
///
/// Behaviours: DAG-040.
#[test]
fn a_map_task_without_a_usable_output_fails_its_job() {
    for outcome in [TaskOutcome::default(), map_outcome(&[1, 2, 3], None)] {
        let mut world = World::new();
        world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
        world.submit(1);

        let finished = world.status(0, TaskStatus::Finished(outcome));

        assert_eq!(finished.lines_with("job-0 failed by stage-0").len(), 1, "{:?}", finished.lines());
        world.assert_quiescent();
    }
}

/// Behaviours: DAG-037, DAG-043.
#[test]
fn outputs_lost_while_nobody_reads_are_made_again_when_somebody_does() {
    let mut world = World::new();
    world
        .executors(0, &["h1", "h2"], 2)
        .rdds([pinned(0, &[(0, "h1"), (1, "h2")]), placed(shuffled(1, 1, 0, 0), &[(1, "h2")])]);
    world.submit(1);
    world.finish_maps(&[0, 1], 1);

    // The result task runs on executor 1 when executor 0 dies, and fails to fetch some time later.
    let lost = world.lose(0);
    let failed = world.fail(2, fetch_failed(0, 0, 0, "h1"));
    let resubmitted = world.advance(millis(200));

    assert_eq!(lost.lines(), ["* executor-0 removed: gone", "remove blocks of executor-0"]);
    assert_eq!(failed.lines_with("blocks"), [""; 0], "it was written off before");
    assert_eq!(
        resubmitted.lines_with("launch"),
        ["launch attempt-3 = stage-0.1 partition-0 try-0 on executor-1 Any"]
    );
}
