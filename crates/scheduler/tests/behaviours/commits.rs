//! The right to commit through the whole scheduler.

use firesteel_scheduler::Event;
use firesteel_types::{AttemptNumber, PartitionId, StageAttemptId, StageId, TaskFailure};

use crate::harness::{Effects, World, fetch_failed, indeterminate, pinned, placed, shuffled, source};

fn ask(world: &mut World, number: u32) -> Effects {
    ask_of(world, StageAttemptId::new(StageId(0), 0), number)
}

fn ask_of(world: &mut World, set: StageAttemptId, number: u32) -> Effects {
    world.send(Event::CommitRequested { set, partition: PartitionId(0), number: AttemptNumber(number) })
}

const HELD: &str = "HeldBy { holder: Committer { stage_attempt: 0, number: try-0 } }";

/// Behaviours: COMMIT-005.
#[test]
fn a_denied_commit_is_no_failure_and_the_task_is_tried_again_without_end() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    assert_eq!(ask(&mut world, 0).lines(), ["commit stage-0.0 partition-0 try-0: Granted"]);

    // The holder is denied when it asks again, so it neither commits nor fails, and no other attempt may.
    for number in 0..20 {
        let denied = ask(&mut world, number);
        let retried = world.fail(u64::from(number), TaskFailure::CommitDenied);

        let next = number + 1;
        assert_eq!(denied.lines(), [format!("commit stage-0.0 partition-0 try-{number}: Denied({HELD})")]);
        assert_eq!(
            retried.lines(),
            [
                format!("* attempt-{number} ends: another attempt may commit this output"),
                format!("* attempt-{next} starts"),
                format!("launch attempt-{next} = stage-0.0 partition-0 try-{next} on executor-0 Process"),
            ]
        );
    }
}

/// Behaviours: COMMIT-002, COMMIT-005.
#[test]
fn the_next_attempt_may_commit_when_the_holder_is_lost_with_its_executor() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    ask(&mut world, 0);
    world.lose(0);
    world.executor(1, "h2", 1);

    let late = ask(&mut world, 0);
    let next = ask(&mut world, 1);
    world.finish(1);
    let after = ask(&mut world, 2);

    assert_eq!(late.lines(), ["commit stage-0.0 partition-0 try-0: Denied(AttemptFailed)"]);
    assert_eq!(next.lines(), ["commit stage-0.0 partition-0 try-1: Granted"]);
    assert_eq!(after.lines(), ["commit stage-0.0 partition-0 try-2: Denied(StageNotRunning)"]);
    world.assert_quiescent();
}

/// Attempt 1 of the result stage may commit and hangs. Attempt 2 cannot fetch, so the indeterminate map stage runs anew,
/// and the result stage too.
#[test]
fn a_holder_whose_stage_was_rolled_back_is_not_in_the_way_of_the_new_run() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 2).rdds([
        indeterminate(pinned(0, &[(0, "h1")])),
        placed(shuffled(1, 2, 0, 0), &[(1, "h2"), (1, "h2")]),
    ]);
    world.submit(1);
    world.finish_maps(&[0], 2);
    let (first, second) = (StageAttemptId::new(StageId(1), 0), StageAttemptId::new(StageId(1), 1));
    assert_eq!(ask_of(&mut world, first, 0).lines(), ["commit stage-1.0 partition-0 try-0: Granted"]);

    world.fail(2, fetch_failed(0, 0, 0, "h1"));
    let zombie = ask_of(&mut world, first, 1);
    let rerun = world.resubmit().attempts();
    world.finish_maps(&rerun, 2);
    let next = ask_of(&mut world, second, 0);

    assert_eq!(zombie.lines(), ["commit stage-1.0 partition-0 try-1: Denied(RolledBack)"]);
    assert_eq!(next.lines(), ["commit stage-1.1 partition-0 try-0: Granted"]);
}
