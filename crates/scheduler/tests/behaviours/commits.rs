//! The right to commit through the whole scheduler.

use firesteel_scheduler::Event;
use firesteel_types::{AttemptNumber, PartitionId, StageAttemptId, StageId, TaskFailure};

use crate::harness::{Effects, World, source};

fn ask(world: &mut World, number: u32) -> Effects {
    let set = StageAttemptId::new(StageId(0), 0);
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

    // The holder is denied when it asks again, so it neither commits nor fails, and nobody else may.
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
