//! Facts about the right to commit.

use firesteel_types::{AttemptNumber, ExecutorId, PartitionId, StageId, TaskEndReason, TaskFailure};

use super::{CommitDecision, CommitDenial, Committer, OutputCommitCoordinator};

const STAGE: StageId = StageId(1);
const PARTITION: PartitionId = PartitionId(2);

fn started() -> OutputCommitCoordinator {
    let mut coordinator = OutputCommitCoordinator::default();
    coordinator.on_stage_started(STAGE, PartitionId(9));
    coordinator
}

fn ask(coordinator: &mut OutputCommitCoordinator, stage_attempt: u32, number: u32) -> CommitDecision {
    coordinator.ask(STAGE, stage_attempt, PARTITION, AttemptNumber(number))
}

fn end(coordinator: &mut OutputCommitCoordinator, stage_attempt: u32, number: u32, reason: &TaskEndReason) {
    coordinator.on_task_ended(STAGE, stage_attempt, PARTITION, AttemptNumber(number), reason);
}

fn held_by(stage_attempt: u32, number: u32) -> CommitDecision {
    let holder = Committer { stage_attempt, number: AttemptNumber(number) };
    CommitDecision::Denied(CommitDenial::HeldBy { holder })
}

fn failed() -> TaskEndReason {
    TaskEndReason::Failed(TaskFailure::panicked("boom"))
}

/// Behaviours: COMMIT-001.
#[test]
fn the_first_to_ask_may_commit_and_nobody_after_it() {
    let mut coordinator = started();

    let answers = [0, 1, 0].map(|number| ask(&mut coordinator, 0, number));
    end(&mut coordinator, 0, 0, &TaskEndReason::Success);

    assert_eq!(answers, [CommitDecision::Granted, held_by(0, 0), held_by(0, 0)]);
    assert_eq!(ask(&mut coordinator, 0, 1), held_by(0, 0), "a success keeps the right");
    assert_eq!(coordinator.ask(STAGE, 0, PartitionId(3), AttemptNumber(1)), CommitDecision::Granted);
}

/// Behaviours: COMMIT-002.
#[test]
fn only_the_failure_of_the_holder_frees_the_right() {
    let mut coordinator = started();
    ask(&mut coordinator, 0, 0);

    end(&mut coordinator, 0, 1, &failed());
    assert_eq!(ask(&mut coordinator, 0, 2), held_by(0, 0));
    end(&mut coordinator, 0, 0, &failed());

    assert_eq!(ask(&mut coordinator, 0, 3), CommitDecision::Granted);
    assert_eq!(ask(&mut coordinator, 0, 4), held_by(0, 3));
}

/// Behaviours: COMMIT-002.
#[test]
fn every_other_way_to_end_frees_the_right_too() {
    let lost =
        TaskFailure::ExecutorLost { executor: ExecutorId(1), caused_by_app: false, reason: "gone".into() };
    for reason in [
        TaskEndReason::Resubmitted,
        TaskEndReason::Failed(TaskFailure::killed("cancelled")),
        TaskEndReason::Failed(lost),
    ] {
        let mut coordinator = started();
        ask(&mut coordinator, 0, 0);

        end(&mut coordinator, 0, 0, &reason);

        assert_eq!(ask(&mut coordinator, 0, 1), CommitDecision::Granted, "{reason:?}");
    }
}

/// Behaviours: COMMIT-003.
#[test]
fn an_attempt_known_to_have_failed_never_commits() {
    let mut coordinator = started();
    end(&mut coordinator, 0, 0, &failed());

    let late = ask(&mut coordinator, 0, 0);

    assert_eq!(late, CommitDecision::Denied(CommitDenial::AttemptFailed));
    assert_eq!(ask(&mut coordinator, 0, 1), CommitDecision::Granted);
}

/// Behaviours: COMMIT-004.
#[test]
fn attempts_of_another_stage_attempt_are_other_committers() {
    let mut coordinator = started();
    ask(&mut coordinator, 0, 0);
    coordinator.on_stage_started(STAGE, PartitionId(9));

    assert_eq!(ask(&mut coordinator, 1, 0), held_by(0, 0), "the stage goes on with its rights");
    end(&mut coordinator, 1, 0, &failed());
    assert_eq!(ask(&mut coordinator, 1, 1), held_by(0, 0), "another one's failure frees nothing");
    end(&mut coordinator, 0, 0, &failed());

    assert_eq!(ask(&mut coordinator, 2, 0), CommitDecision::Granted, "it never failed");
}

/// Behaviours: COMMIT-005.
#[test]
fn a_denied_commit_frees_nothing_and_is_no_failure() {
    let mut coordinator = started();
    ask(&mut coordinator, 0, 0);
    let denied = TaskEndReason::Failed(TaskFailure::CommitDenied);

    end(&mut coordinator, 0, 0, &denied);
    end(&mut coordinator, 0, 1, &denied);

    assert_eq!(
        ask(&mut coordinator, 0, 1),
        held_by(0, 0),
        "the right stands for ever if its holder does not end"
    );
    end(&mut coordinator, 0, 0, &failed());
    assert_eq!(ask(&mut coordinator, 0, 1), CommitDecision::Granted, "the denied attempt did not fail");
}

/// An attempt that read the old rows neither keeps its right nor gets one, also where it has not failed.
#[test]
fn attempts_of_a_stage_that_was_rolled_back_neither_hold_nor_get_the_right() {
    let mut coordinator = started();
    ask(&mut coordinator, 0, 0);
    coordinator.ask(STAGE, 1, PartitionId(3), AttemptNumber(0));

    coordinator.on_stage_rolled_back(STAGE, 0);
    coordinator.on_stage_started(STAGE, PartitionId(9));

    let zombie = ask(&mut coordinator, 0, 0);
    assert_eq!(zombie, CommitDecision::Denied(CommitDenial::RolledBack));
    assert_eq!(ask(&mut coordinator, 1, 0), CommitDecision::Granted, "the old holder is not in its way");
    end(&mut coordinator, 0, 0, &failed());
    assert_eq!(ask(&mut coordinator, 1, 1), held_by(1, 0), "and its end frees nothing");
    let later = Committer { stage_attempt: 1, number: AttemptNumber(0) };
    assert_eq!(coordinator.holder(STAGE, PartitionId(3)), Some(later), "later attempts keep theirs");
}

#[test]
fn public_commits_for_a_stage_that_is_not_running() {
    let mut coordinator = started();
    ask(&mut coordinator, 0, 0);
    let denied = CommitDecision::Denied(CommitDenial::StageNotRunning);

    assert_eq!(coordinator.ask(StageId(8), 0, PARTITION, AttemptNumber(0)), denied);
    coordinator.on_stage_ended(STAGE);
    end(&mut coordinator, 0, 0, &failed());

    assert_eq!(ask(&mut coordinator, 0, 0), denied);
    assert_eq!(coordinator.holder(STAGE, PARTITION), None);
    assert!(coordinator.is_quiescent());
}

#[test]
fn public_commits_a_partition_the_stage_does_not_have() {
    let mut coordinator = started();

    let answers =
        [9, 10].map(|partition| coordinator.ask(STAGE, 0, PartitionId(partition), AttemptNumber(0)));

    assert_eq!(answers, [CommitDecision::Granted, CommitDecision::Denied(CommitDenial::UnknownPartition)]);
}
