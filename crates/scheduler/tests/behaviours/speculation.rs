//! Second copies of slow tasks.

use firesteel_scheduler::{Event, SchedulerConfig, SpeculationConfig, TaskOutcome, TaskStatus};
use firesteel_types::{AttemptId, ExecutorId, ExecutorRequest, RddNode, TaskMetrics};
use std::{collections::BTreeMap, time::Duration};

use crate::harness::{World, fetch_failed, located, millis, secs, shuffled, source};

fn speculating(change: impl FnOnce(&mut SpeculationConfig)) -> SchedulerConfig {
    let mut speculation = SpeculationConfig::default();
    change(&mut speculation);
    SchedulerConfig { speculation: Some(speculation), ..SchedulerConfig::default() }
}

/// Ten tasks on executor 0, of which the first `finished` succeeded after `duration`; executor 1 is idle.
fn ten_tasks(config: SchedulerConfig, finished: u64, duration: Duration) -> World {
    let mut world = World::with(config);
    world.executors(0, &["h1"], 10).rdds([source(0, 10)]);
    world.submit(0);
    world.executor(1, "h2", 2);
    world.now += duration;
    for attempt in 0..finished {
        world.finish(attempt);
    }
    world
}

/// Behaviours: SPEC-001.
#[test]
fn nothing_is_copied_by_default_and_never_in_local_mode() {
    let mut off = ten_tasks(SchedulerConfig::default(), 9, secs(1));
    let mut local = speculating(|_| ());
    local.local = true;
    let mut local = ten_tasks(local, 9, secs(1));

    assert_eq!(off.advance(secs(60)).lines_with("attempt"), [""; 0]);
    assert_eq!(local.advance(secs(60)).lines_with("attempt"), [""; 0]);
}

/// Behaviours: SPEC-001, SPEC-003, SPEC-010.
#[test]
fn a_task_longer_than_three_medians_is_copied_at_the_next_look() {
    let mut world = ten_tasks(speculating(|_| ()), 9, secs(1));

    let at_three_medians = world.advance(secs(2));
    let next_look = world.scheduler.next_deadline();
    let later = world.advance(millis(100));

    assert_eq!(at_three_medians.lines(), [""; 0]);
    assert_eq!(next_look, Some(world.now), "every 100 ms");
    assert_eq!(
        later.lines(),
        [
            "* stage-0.0 partition-9 speculatable",
            "* attempt-10 starts",
            "launch attempt-10 = stage-0.0 partition-9 try-1 copy on executor-1 Process",
        ]
    );
    world.finish(10);
    world.finish(9);
    world.assert_quiescent();
}

/// Behaviours: SPEC-003.
#[test]
fn nine_of_ten_tasks_must_have_succeeded() {
    let mut world = ten_tasks(speculating(|_| ()), 8, secs(1));

    let too_few = world.advance(secs(60));
    world.finish(8);
    let enough = world.advance(secs(1));

    assert_eq!(too_few.lines_with("attempt"), [""; 0]);
    assert_eq!(enough.partitions(), [9], "the median is still 1 s");
}

/// Behaviours: SPEC-003.
#[test]
fn short_tasks_are_copied_only_after_the_least_run_time() {
    let mut world = ten_tasks(speculating(|_| ()), 9, millis(1));

    let at_least = world.advance(millis(99));
    world.advance(millis(100));
    let mut other = ten_tasks(speculating(|_| ()), 9, millis(1));
    let after = other.advance(millis(101));

    assert_eq!(at_least.attempts(), [0; 0], "exactly 100 ms is not longer");
    assert_eq!(after.partitions(), [9]);
}

/// Behaviours: SPEC-002.
#[test]
fn sets_of_one_task_barrier_sets_and_zombies_are_not_looked_at() {
    let mut one = World::with(speculating(|_| ()));
    one.executors(0, &["h1", "h2"], 1).rdds([source(0, 1)]);
    one.submit(0);

    assert_eq!(one.advance(secs(60)).lines_with("attempt"), [""; 0]);

    let mut barrier = World::with(speculating(|_| ()));
    barrier.executors(0, &["h1"], 10).rdds([RddNode { barrier: true, ..source(0, 10) }]);
    barrier.submit(0);
    barrier.executor(1, "h2", 1);
    barrier.now += secs(1);
    for attempt in 0..9 {
        barrier.finish(attempt);
    }

    assert_eq!(barrier.advance(secs(60)).lines_with("attempt"), [""; 0]);
}

/// Behaviours: SPEC-002, SPEC-004.
#[test]
fn successes_of_another_attempt_are_no_samples() {
    let mut world = World::with(speculating(|_| ()));
    world.executors(0, &["h1"], 3).rdds([source(0, 1), shuffled(1, 3, 0, 0)]);
    world.submit(1);
    world.finish_map(0, &[1, 1, 1]);
    world.fail(1, fetch_failed(0, 0, 0, "h1"));
    world.advance(millis(200));
    world.finish_map(4, &[1, 1, 1]);
    assert_eq!(world.launched[&AttemptId(5)].set.to_string(), "stage-1.1");

    // The old attempt, a zombie, completes two of the three partitions of the new one.
    world.finish(2);
    world.finish(3);
    world.executor(1, "h2", 3);
    let looked = world.advance(secs(60));

    assert_eq!(looked.lines_with("speculatable"), [""; 0]);
}

fn records(input: u64, shuffle: u64, run_time: Duration) -> TaskMetrics {
    TaskMetrics {
        input_records: input,
        shuffle_records_read: shuffle,
        run_time_us: u64::try_from(run_time.as_micros()).expect("a short time"),
        ..TaskMetrics::default()
    }
}

/// Nine tasks that read 1000 records in 1 s each, and a tenth that reports `figures` while it runs.
fn with_rates(figures: Option<TaskMetrics>) -> World {
    let mut world = World::with(speculating(|_| ()));
    world.executors(0, &["h1"], 10).rdds([source(0, 10)]);
    world.submit(0);
    world.executor(1, "h2", 2);
    world.now += secs(1);
    let metrics = records(600, 400, secs(1));
    for attempt in 0..9 {
        world.status(attempt, TaskStatus::Finished(TaskOutcome { metrics, ..TaskOutcome::default() }));
    }
    if let Some(figures) = figures {
        let running = vec![(AttemptId(9), figures)];
        let executor = ExecutorId(0);
        world.send(Event::Heartbeat { executor, block_manager_known: true, running });
    }
    world
}

/// Behaviours: SPEC-005.
#[test]
fn a_long_task_that_reads_fast_enough_is_spared_for_twice_as_long() {
    let mut slow = with_rates(Some(records(700, 49, secs(1))));
    let mut fast = with_rates(Some(records(700, 50, secs(1))));
    let mut silent = with_rates(None);

    let slow = slow.advance(millis(2100));
    let silent = silent.advance(millis(2100));
    let spared = fast.advance(millis(2100));
    let at_twice = fast.advance(millis(2900));
    let too_long = fast.advance(millis(100));

    assert_eq!(slow.partitions(), [9], "749 records per second are less than three quarters of 1000");
    assert_eq!(silent.partitions(), [9], "no report is a rate of nothing");
    assert_eq!(spared.partitions(), [0; 0]);
    assert_eq!(at_twice.partitions(), [0; 0], "6 s are not more than twice 3 s");
    assert_eq!(too_long.partitions(), [9]);
}

/// Behaviours: SPEC-005.
#[test]
fn without_the_filter_the_rate_does_not_matter() {
    let mut config = speculating(|speculation| speculation.efficiency = None);
    config.seed = 1;
    let mut world = ten_tasks(config, 9, secs(1));
    let running = vec![(AttemptId(9), records(1_000_000, 0, secs(1)))];
    world.send(Event::Heartbeat { executor: ExecutorId(0), block_manager_known: true, running });

    assert_eq!(world.advance(millis(2100)).partitions(), [9]);
}

/// A set of `tasks` tasks on an executor of `cores` cores, where one minute is enough for a copy.
fn by_threshold(tasks: u32, cores: Option<u32>) -> World {
    let mut config = speculating(|speculation| speculation.duration_threshold = Some(secs(60)));
    if let Some(executor) = &mut config.default_profile.executor {
        executor.cores = cores;
    } else {
        config.default_profile.executor =
            Some(ExecutorRequest { cores, memory_mib: 1024, resources: BTreeMap::new() });
    }
    let mut world = World::with(config);
    world.executors(0, &["h1"], tasks).rdds([source(0, tasks)]);
    world.submit(0);
    world.executor(1, "h2", tasks);
    world
}

/// Behaviours: SPEC-006, SPEC-007.
#[test]
fn a_set_that_fits_one_executor_is_copied_after_the_fixed_time() {
    let mut fits = by_threshold(4, Some(4));

    let at_threshold = fits.advance(secs(60));
    let after = fits.advance(millis(100));

    assert_eq!(at_threshold.partitions(), [0; 0]);
    let mut copied = after.partitions();
    copied.sort_unstable();
    assert_eq!(copied, [0, 1, 2, 3]);
    assert_eq!(by_threshold(5, Some(4)).advance(secs(61)).partitions(), [0; 0], "5 tasks, 4 slots");
    assert_eq!(by_threshold(1, None).advance(secs(61)).partitions(), [0], "unknown cores are one slot");
    assert_eq!(by_threshold(2, None).advance(secs(61)).partitions(), [0; 0]);
    assert_eq!(by_threshold(1, Some(4)).advance(secs(61)).partitions(), [0], "one task is enough");
}

/// Behaviours: SPEC-006.
#[test]
fn the_fixed_time_is_enough_whatever_the_rate() {
    let mut world = by_threshold(1, None);
    let running = vec![(AttemptId(0), records(1_000_000, 0, secs(1)))];
    world.send(Event::Heartbeat { executor: ExecutorId(0), block_manager_known: true, running });

    assert_eq!(world.advance(secs(61)).partitions(), [0]);
}

/// Behaviours: SPEC-008.
#[test]
fn the_median_decides_as_soon_as_enough_tasks_succeeded() {
    let mut world = by_threshold(2, Some(2));
    world.now += secs(30);
    world.finish(0);

    let past_the_fixed_time = world.advance(secs(40));
    let past_three_medians = world.advance(secs(21));

    assert_eq!(past_the_fixed_time.partitions(), [0; 0], "70 s are less than three times 30 s");
    assert_eq!(past_three_medians.partitions(), [1]);
}

/// Behaviours: SPEC-009, SPEC-010.
#[test]
fn a_marked_task_waits_for_another_host_and_is_marked_once() {
    let mut world = World::with(speculating(|_| ()));
    world.executors(0, &["h1"], 10).rdds([source(0, 10)]);
    world.submit(0);
    world.now += secs(1);
    for attempt in 0..9 {
        world.finish(attempt);
    }

    let marked = world.advance(secs(10));
    let looked_again = world.advance(secs(10));
    let same_host = world.executor(1, "h1", 1);
    let other_host = world.executor(2, "h2", 4);
    let while_it_runs = world.advance(secs(10));

    assert_eq!(marked.lines(), ["* stage-0.0 partition-9 speculatable"], "h1 has an attempt of it");
    assert_eq!(looked_again.lines(), [""; 0]);
    assert_eq!(same_host.lines(), [""; 0]);
    assert_eq!(
        other_host.lines(),
        ["* attempt-10 starts", "launch attempt-10 = stage-0.0 partition-9 try-1 copy on executor-2 Process",]
    );
    assert_eq!(while_it_runs.lines(), [""; 0], "one extra copy at a time");
    let copy_failed = world.panic(10);
    assert_eq!(copy_failed.lines(), ["* attempt-10 ends: boom"], "the task still runs");
    assert_eq!(world.advance(secs(1)).lines(), ["* stage-0.0 partition-9 speculatable"]);
    assert_eq!(world.executor(3, "h3", 1).partitions(), [9], "and h2 had one of its attempts");
}

/// Behaviours: SPEC-009.
#[test]
fn a_copy_goes_to_where_the_task_would_rather_run() {
    let mut world = World::with(speculating(|_| ()));
    world.executors(0, &["h1"], 10);
    let mut places: Vec<&[&str]> = vec![&["h1"]; 9];
    places.push(&["h1", "h3"]);
    world.rdds([located(0, &places)]);
    world.submit(0);
    world.now += secs(1);
    for attempt in 0..9 {
        world.finish(attempt);
    }
    world.executors(1, &["h2", "h3"], 1);

    let copied = world.advance(secs(10));

    assert_eq!(
        copied.lines_with("launch"),
        ["launch attempt-10 = stage-0.0 partition-9 try-1 copy on executor-2 Node"]
    );
}
