//! Exclusion in the whole scheduler: failed tasks keep away from where they failed.

use firesteel_scheduler::{Event, SchedulerConfig, exclusion::ExclusionConfig};
use firesteel_types::{ExecutorId, TaskFailure};

use crate::harness::{World, fetch_failed, located, millis, secs, shuffled, source};

fn excluding(change: impl FnOnce(&mut ExclusionConfig)) -> SchedulerConfig {
    let mut exclusion = ExclusionConfig::enabled();
    change(&mut exclusion);
    SchedulerConfig { exclusion: Some(exclusion), ..SchedulerConfig::default() }
}

/// Behaviours: EXCL-005.
#[test]
fn a_failed_task_does_not_go_back_to_where_it_failed_though_its_data_is_there() {
    let mut world = World::with(excluding(|_| ()));
    world.executors(0, &["h1"], 1).rdds([located(0, &[&["executor_h1_0"]])]);
    world.submit(0);
    world.executor(1, "h2", 1);

    let failed = world.panic(0);
    let waited_for_process = world.advance(secs(3));
    let waited = world.advance(secs(3));

    assert_eq!(failed.lines(), ["* attempt-0 ends: boom"], "executor 0 is refused, and executor 1 not near");
    assert_eq!(waited_for_process.lines(), [""; 0]);
    assert_eq!(
        waited.lines_with("launch"),
        ["launch attempt-1 = stage-0.0 partition-0 try-1 on executor-1 Any"]
    );
    world.finish(1);
    world.assert_quiescent();
}

/// Behaviours: EXCL-006.
#[test]
fn failures_that_are_nobodys_fault_exclude_nothing() {
    let mut world = World::with(excluding(|_| ()));
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    let harmless = [
        TaskFailure::killed("by hand"),
        TaskFailure::CommitDenied,
        TaskFailure::ExecutorShuttingDown,
        TaskFailure::ExecutorLost {
            executor: ExecutorId(0),
            caused_by_app: false,
            reason: "preempted".into(),
        },
    ];

    for (attempt, failure) in (0..).zip(harmless) {
        let failed = world.fail(attempt, failure);

        assert_eq!(failed.launches()[0].executor, ExecutorId(0), "the same executor takes it again");
    }
}

/// Behaviours: EXCL-006.
#[test]
fn a_fetch_failure_excludes_nothing_by_default() {
    let mut world = World::with(excluding(|_| ()));
    world.executors(0, &["h1"], 2).rdds([source(0, 1), shuffled(1, 2, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1, 1]);

    let failed = world.fail(1, fetch_failed(0, 0, 0, "h1"));

    assert_eq!(failed.lines_with("excluded"), [""; 0]);
    assert_eq!(world.advance(millis(200)).partitions(), [0], "the map task goes to the same executor");
}

/// A job of two tasks that each fail once on executor 0, and the job succeeds on executor 1.
fn two_failures_on_executor_0(world: &mut World, rdd: u32) -> Vec<String> {
    world.executors(0, &["h1"], 2).rdds([source(rdd, 2)]);
    world.submit(rdd);
    world.executor(1, "h2", 2);
    let first = world.panic(0).attempts()[0];
    let second = world.panic(1).attempts()[0];
    world.finish(first);
    world.finish(second).lines()
}

/// Behaviours: EXCL-007, TSI-016.
#[test]
fn failures_of_a_set_that_succeeded_exclude_the_executor_for_the_application() {
    let mut world = World::with(excluding(|exclusion| exclusion.timeout = secs(60)));

    let last = two_failures_on_executor_0(&mut world, 0);
    let refused: Vec<_> = (0..20)
        .map(|_| {
            let executor = world.submit(0).launches().iter().map(|task| task.executor.0).collect::<Vec<_>>();
            world.send(Event::CancelRequested { what: firesteel_scheduler::Cancel::All, reason: None });
            let running: Vec<_> = world.launched.keys().copied().collect();
            for attempt in running {
                world.fail(attempt.0, TaskFailure::killed("cancelled"));
            }
            executor
        })
        .collect();
    world.now += secs(60);
    let at_the_end = world.submit(0).launches().len();
    let after = world.advance(millis(1));

    assert_eq!(
        last,
        [
            "forget stage-0.0",
            "* executor-0 excluded for the application after 2",
            "* attempt-3 ends",
            "deliver job-0 [1] = attempt-3",
            "* stage-0.0 completed",
            "* job-0 ends",
            "job-0 succeeded",
        ]
    );
    assert_eq!(refused, vec![vec![1, 1]; 20], "only executor 1 is offered");
    assert_eq!(at_the_end, 2, "exclusion ends strictly after its time");
    assert_eq!(after.lines(), ["* executor-0 unexcluded"]);
}

/// Behaviours: EXCL-007.
#[test]
fn failures_of_an_aborted_set_say_nothing_about_executors() {
    let mut world = World::with(excluding(|_| ()));
    world.executors(0, &["h1"], 3).rdds([source(0, 3), source(1, 1)]);
    world.submit(0);
    world.executor(1, "h2", 1);
    world.panic(0);
    world.panic(1);
    let aborted = world.fail(2, TaskFailure::OutputExists { path: "/out".into() });
    let left: Vec<_> = world.launched.keys().copied().collect();
    for attempt in left {
        world.fail(attempt.0, TaskFailure::killed("cancelled"));
    }

    let places: Vec<_> = (0..40)
        .map(|_| {
            let launched = world.submit(1).launches()[0].clone();
            world.finish(launched.attempt.0);
            launched.executor.0
        })
        .collect();

    assert_eq!(aborted.lines_with("job-0 failed").len(), 1);
    assert!(places.contains(&0), "executor 0 is not excluded");
    world.assert_quiescent();
}

/// Behaviours: EXCL-010.
#[test]
fn an_excluded_executor_is_killed_by_force_and_an_excluded_node_takes_no_replacement() {
    let mut world = World::with(excluding(|exclusion| {
        exclusion.kill = true;
        exclusion.app_failed_executors_per_node = 1;
    }));

    let last = two_failures_on_executor_0(&mut world, 0);
    let refused = world.register(7, "h1", 1);
    let gone = world.lose(0);

    assert_eq!(
        last[..3],
        [
            "forget stage-0.0",
            "* executor-0 excluded for the application after 2",
            "* h1 excluded for the application after 1",
        ]
    );
    let kills: Vec<_> = last.iter().filter(|line| line.starts_with("kill")).collect();
    assert_eq!(kills[0], "kill [executor-0] by force");
    assert!(!last.iter().any(|line| line.starts_with("request")), "the wanted number stays");
    assert_eq!(refused.lines(), ["executor-7 may not join: h1 is excluded because tasks failed there"]);
    assert_eq!(gone.lines_with("removed"), ["* executor-0 removed: killed by the driver"]);
}

/// Behaviours: EXCL-011.
#[test]
fn decommissioning_takes_the_place_of_killing() {
    let mut world =
        World::with(excluding(|exclusion| (exclusion.kill, exclusion.decommission) = (true, true)));

    let last = two_failures_on_executor_0(&mut world, 0);

    assert_eq!(
        last,
        [
            "forget stage-0.0",
            "* executor-0 excluded for the application after 2",
            "* attempt-3 ends",
            "deliver job-0 [1] = attempt-3",
            "* stage-0.0 completed",
            "* job-0 ends",
            "job-0 succeeded",
            "decommission [executor-0]",
        ]
    );
}

/// Behaviours: EXCL-012.
#[test]
fn with_fetch_failure_exclusion_one_failure_excludes_who_served_it() {
    for (shuffle_service, excluded, kill) in [
        (false, "* executor-0 excluded for the application after 1", "kill [executor-0] by force"),
        (true, "* h1 excluded for the application after 1", "kill [executor-0, executor-1] by force"),
    ] {
        let mut config = excluding(|exclusion| (exclusion.fetch_failure, exclusion.kill) = (true, true));
        config.shuffle_service = shuffle_service;
        let mut world = World::with(config);
        world.executors(0, &["h1"], 2).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
        world.submit(1);
        world.executor(1, "h1", 1);
        world.finish_map(0, &[1]);

        let failed = world.fail(1, fetch_failed(0, 0, 0, "h1"));

        assert_eq!(failed.lines_with("excluded for"), [excluded]);
        assert_eq!(failed.lines_with("by force"), [kill]);
    }
}

/// Behaviours: TSI-014, TSI-015.
#[test]
fn a_task_that_may_run_nowhere_costs_an_idle_executor_and_is_given_up_after_two_minutes() {
    let mut world = World::with(excluding(|_| ()));
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);

    let failed = world.panic(0);
    let waiting = world.advance(millis(119_999));
    let over = world.advance(millis(1));

    assert_eq!(failed.lines(), ["* attempt-0 ends: boom", "kill [executor-0] by force"]);
    assert_eq!(waiting.lines(), [""; 0], "once is enough");
    let reason = "task-0 of stage-0.0 cannot run anywhere: every executor is excluded for it; add executors or \
                  relax the exclusion settings; most recent failure: boom";
    assert_eq!(
        over.lines(),
        [
            "forget stage-0.0".to_owned(),
            format!("* stage-0.0 failed: job aborted due to stage failure: {reason}"),
            format!("job-0 failed by stage-0: {reason}"),
            format!("* job-0 ends: job aborted due to stage failure: {reason}"),
        ]
    );
    world.assert_quiescent();
}

/// Behaviours: TSI-014.
#[test]
fn a_replacement_takes_the_task_and_clears_the_timer() {
    let mut world = World::with(excluding(|_| ()));
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    world.panic(0);
    world.lose(0);

    let replaced = world.executor(1, "h2", 1);
    let later = world.advance(secs(121));

    assert_eq!(replaced.partitions(), [0]);
    assert_eq!(later.lines_with("failed"), [""; 0]);
}

/// Behaviours: TSI-014, TSI-015.
#[test]
fn without_an_idle_executor_the_set_is_given_up_or_more_executors_are_hoped_for() {
    let run = |dynamic_allocation: bool| {
        let mut world = World::with(SchedulerConfig { dynamic_allocation, ..excluding(|_| ()) });
        world.executors(0, &["h1"], 2).rdds([source(0, 2), source(1, 1)]);
        world.submit(0);
        let failed = world.panic(0);
        (world, failed)
    };

    let (_, at_once) = run(false);
    let (mut world, announced) = run(true);
    // A task of any set is hope for every one.
    let later = world.advance(secs(100));
    let hope = world.submit(1);
    let no_timer = world.advance(secs(20));

    assert_eq!(at_once.lines_with("job-0 failed").len(), 1, "{:?}", at_once.lines());
    assert_eq!(announced.lines(), ["* attempt-0 ends: boom", "* stage-0.0 unschedulable"]);
    assert_eq!(later.lines(), [""; 0]);
    assert_eq!(
        hope.lines(),
        [
            "* job-1 starts [stage-1.0]",
            "* stage-1.0 submitted, 1 tasks",
            "prepare stage-1.0 for job-1",
            "* attempt-2 starts",
            "launch attempt-2 = stage-1.0 partition-0 try-0 on executor-0 Process",
            "* stage-0.0 schedulable again",
        ]
    );
    assert_eq!(no_timer.lines(), ["* stage-0.0 unschedulable"], "its time begins anew");
}

/// Behaviours: EXCL-015.
#[test]
fn without_exclusion_a_job_that_prefers_a_broken_node_fails_there_four_times() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([located(0, &[&["h1"]])]);
    world.submit(0);

    let failures: Vec<_> =
        (0..4).map(|attempt| world.panic(attempt).lines_with("job-0 failed").len()).collect();

    assert_eq!(failures, [0, 0, 0, 1]);
    assert!(world.launched.values().all(|task| task.executor == ExecutorId(0)));
    world.assert_quiescent();
}

/// Behaviours: EXCL-015.
#[test]
fn with_exclusion_one_broken_node_of_two_does_not_stop_a_job() {
    let mut world = World::with(excluding(|_| ()));
    world.executors(0, &["bad", "bad", "bad", "good", "good"], 2);
    world.rdds([located(0, &[["bad"].as_slice(); 10])]);
    world.submit(0);

    let mut handled = 0;
    for _ in 0..200 {
        let open: Vec<_> = world.launched.keys().copied().skip(handled).collect();
        handled += open.len();
        for attempt in open {
            let is_bad = world.executor_of(attempt.0).0 < 3;
            let effects = if is_bad { world.panic(attempt.0) } else { world.finish(attempt.0) };
            assert_eq!(effects.lines_with("job-0 failed"), [""; 0]);
        }
        if world.scheduler.is_quiescent() {
            return;
        }
        world.advance(secs(1));
    }
    world.assert_quiescent();
}

/// Behaviours: EXCL-015.
#[test]
fn a_job_that_fails_everywhere_on_few_executors_is_aborted_and_does_not_hang() {
    let mut world = World::with(excluding(|_| ()));
    world.executors(0, &["h1", "h2"], 1).rdds([source(0, 1)]);
    world.submit(0);
    world.panic(0);

    let second = world.panic(1);
    let over = world.advance(secs(120));

    assert_eq!(second.lines(), ["* attempt-1 ends: boom", "kill [executor-0] by force"]);
    assert_eq!(over.lines_with("job-0 failed").len(), 1);
    world.assert_quiescent();
}
