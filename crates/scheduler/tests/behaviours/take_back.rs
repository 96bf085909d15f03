//! Tasks that were sent ahead of a free slot are taken back when that is of use, and leave no trace.

use firesteel_scheduler::Event;
use firesteel_types::{AttemptId, ExecutorId, Properties, TaskFailure};

use crate::{
    harness::{World, fetch_failed, millis, property, secs, shuffled, source},
    keep_ahead::{keeping_ahead, two_wait},
};

/// Executor 0 runs attempt 1 and has attempts 2 and 3 waiting; everything else is done, and executor 1 comes idle.
fn one_idle() -> World {
    let mut world = World::with(keeping_ahead());
    world.executors(0, &["h1"], 1).rdds([source(0, 8)]);
    world.submit(0);
    world.finish_in(0, 1000);
    world.executor(1, "h2", 1);
    for attempt in 4..8 {
        world.finish_in(attempt, 10);
    }
    world
}

#[test]
fn a_queue_that_does_not_move_is_taken_back_when_somebody_is_idle() {
    let mut world = one_idle();

    let look = world.scheduler.next_deadline().map(|at| at.since(world.now));
    let early = world.advance(millis(2));
    let asked = world.advance(millis(2));
    let returned = world.return_tasks(0, &[2, 3]);

    assert_eq!(look, Some(millis(2)));
    assert_eq!(early.lines(), [""; 0], "tasks took half a millisecond, so that it may still move on");
    assert_eq!(asked.lines(), ["take [attempt-2, attempt-3] back from executor-0"]);
    assert_eq!(
        returned.lines(),
        ["* attempt-8 starts", "launch attempt-8 = stage-0.0 partition-2 try-0 on executor-1 Process"],
        "nothing failed: it is the first try still"
    );
    world.finish(8);
    world.finish(9);
    world.finish(1);
    world.assert_quiescent();
}

#[test]
fn what_has_begun_is_not_returned_and_goes_on() {
    let mut world = one_idle();
    world.advance(millis(4));

    let returned = world.return_tasks(0, &[3]);
    let later = world.advance(millis(4));
    let began = world.finish_in(1, 1000);

    assert_eq!(returned.attempts(), [8]);
    assert_eq!(later.lines(), [""; 0], "no executor is asked twice");
    assert_eq!(began.lines_with("starts"), ["* attempt-2 starts"]);
}

#[test]
fn nothing_is_taken_back_while_everybody_is_busy() {
    let mut world = two_wait();

    let later = world.advance(secs(1));

    assert_eq!(later.lines(), [""; 0]);
    assert!(world.scheduler.next_deadline().is_none_or(|at| at.since(world.now) > secs(1)));
}

#[test]
fn a_set_with_the_older_claim_has_the_queue_of_another_taken_back() {
    let mut world = World::with(keeping_ahead());
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 3, 0, 0), source(2, 40)]);
    world.submit(1);
    world.executor(1, "h2", 1);
    world.submit(2);
    let ahead = world.finish_in(1, 1000);

    let reducers = world.finish_map(0, &[1, 1, 1]);
    let asked = world.advance(millis(3));

    assert_eq!(ahead.ahead(), [3, 4]);
    assert_eq!(reducers.attempts(), [5], "two reducers of the older job wait");
    assert_eq!(asked.lines(), ["take [attempt-3, attempt-4] back from executor-1"]);
}

#[test]
fn a_pool_that_wants_its_share_has_the_queue_of_another_taken_back() {
    let mut config = keeping_ahead();
    config.pools.mode = firesteel_scheduler::pool::SchedulingMode::Fair;
    let mut world = World::with(config);
    world.executors(0, &["h1"], 2).rdds([source(0, 40), source(1, 1)]);
    world.submit_with(0, property(Properties::POOL, "a"));
    world.finish_in(0, 2000);

    let came = world.submit_with(1, property(Properties::POOL, "b"));
    let asked = world.advance(millis(4));
    let returned = world.return_tasks(0, &[3, 4]);
    let ended = world.finish_in(1, 2000);

    assert_eq!(came.lines_with("take"), [""; 0], "four milliseconds are not much to wait");
    assert_eq!(asked.lines(), ["take [attempt-3, attempt-4] back from executor-0"]);
    assert_eq!(returned.lines(), [""; 0]);
    assert_eq!(
        ended.lines_with("launch"),
        [
            "launch attempt-5 = stage-1.0 partition-0 try-0 on executor-0 Process",
            "launch attempt-6 = stage-0.0 partition-3 try-0 on executor-0 Process ahead",
            "launch attempt-7 = stage-0.0 partition-4 try-0 on executor-0 Process ahead",
        ],
        "b has nothing that waits any more"
    );
}

#[test]
fn a_younger_job_does_not_have_an_older_ones_queue_taken_back() {
    let mut world = two_wait();
    world.rdds([source(1, 1)]);
    world.submit(1);

    assert_eq!(world.advance(secs(1)).lines(), [""; 0]);
}

#[test]
fn a_set_that_is_closed_begins_nothing_more() {
    let mut world = World::with(keeping_ahead());
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 40, 0, 0)]);
    world.submit(1);
    world.finish_maps(&[0], 40);
    world.finish_in(1, 1000);

    let failed = world.fail(2, fetch_failed(0, 0, 0, "h1"));
    let returned = world.return_tasks(0, &[4]);
    let begun = world.finish_in(3, 1000);

    assert_eq!(failed.lines_with("starts"), ["* attempt-3 starts"], "its executor has begun it by now");
    assert_eq!(failed.lines_with("take"), ["take [attempt-4] back from executor-0"]);
    assert_eq!(returned.lines(), [""; 0]);
    assert_eq!(begun.lines_with("attempt-3 ends").len(), 1);
}

#[test]
fn an_attempt_that_was_taken_for_begun_may_still_be_returned() {
    let mut world = one_idle();
    world.advance(millis(4));
    let began = world.finish_in(1, 1000);

    let returned = world.return_tasks(0, &[2, 3]);

    assert_eq!(began.lines_with("starts"), ["* attempt-2 starts"]);
    assert_eq!(
        returned.lines_with("ends"),
        ["* attempt-2 ends: killed: taken back before it began"],
        "no listener was told of attempt-3"
    );
    let again: Vec<_> =
        returned.launches().iter().map(|task| (task.partition.0, task.number.0, task.ahead)).collect();
    assert_eq!(again, [(2, 1, false), (3, 0, false)], "no failure is counted");
}

#[test]
fn only_what_was_sent_ahead_to_that_executor_can_be_returned() {
    let mut world = two_wait();
    world.executor(1, "h2", 1);

    let got_a_slot = world.return_tasks(0, &[1]);
    let elsewhere = world.return_tasks(1, &[2]);
    let unknown = world.return_tasks(0, &[77]);
    world.send(Event::ExecutorDisconnected { executor: ExecutorId(0) });
    let silent = world.return_tasks(0, &[2]);

    assert_eq!(got_a_slot.lines(), ["ignored: attempt-1 does not wait on its executor"]);
    assert_eq!(elsewhere.lines(), ["ignored: attempt-2 does not run on executor-1"]);
    assert_eq!(unknown.lines(), ["ignored: attempt-77 is not running"]);
    assert_eq!(silent.lines(), ["ignored: contact with executor-0 was lost"]);
}

#[test]
fn nothing_more_is_sent_ahead_behind_what_is_to_go() {
    let mut world = two_wait();
    let (attempt, interrupt, reason) = (AttemptId(3), false, "by hand".to_owned());
    world.send(Event::TaskKillRequested { attempt, interrupt, reason });

    let before = world.finish_in(1, 1000);
    let after = world.fail(3, TaskFailure::killed("by hand"));

    assert_eq!(before.attempts(), [0; 0]);
    assert_eq!(after.ahead(), [4, 5]);
}

#[test]
fn a_right_to_commit_does_not_stay_with_an_attempt_that_nobody_knew_had_begun() {
    let mut world = two_wait();
    let ask = |world: &mut World, attempt: u64| {
        let task = &world.launched[&AttemptId(attempt)];
        let (set, partition, number) = (task.set, task.partition, task.number);
        world.send(Event::CommitRequested { set, partition, number })
    };
    // Attempt 1 has ended, which is not known here yet.
    let first = ask(&mut world, 2);
    world.lose(0);
    world.executor(1, "h2", 4);

    let again = world.attempt_of("stage-0.0", 2);
    let second = ask(&mut world, again);

    assert_eq!(first.lines(), ["commit stage-0.0 partition-2 try-0: Granted"]);
    assert_eq!(second.lines(), ["commit stage-0.0 partition-2 try-1: Granted"]);
}
