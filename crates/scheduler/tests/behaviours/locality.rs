//! Delay scheduling in whole rounds: which level a set is at, and when its timer starts again.

use firesteel_scheduler::{Event, LocalityConfig, Scaling};
use firesteel_types::ExecutorId;

use crate::harness::{Effects, World, located, millis, secs, source};

/// The launches, shortened to partition, executor and level.
fn launched(effects: &Effects) -> Vec<String> {
    effects
        .launches()
        .iter()
        .map(|task| format!("{} on {} {:?}", task.partition.0, task.executor.0, task.locality))
        .collect()
}

/// Keeps executor 0 on h1 busy with attempt 0 of job 0, and has other executors idle.
fn h1_busy(world: &mut World, idle: &[&str]) {
    world.executors(0, &["h1"], 1).rdds([source(99, 1)]);
    world.submit(99);
    world.executors(1, idle, 1);
}

/// Behaviours: LOC-001, LOC-004.
#[test]
fn a_set_tries_its_levels_from_the_best_to_the_worst() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 3);
    world.rdds([located(0, &[&["executor_h1_0"], &["executor_h2_7"], &["h1"], &[], &["h9"]])]);

    let at_once = world.submit(0);
    let waited = world.advance(secs(3));

    let mut by_task = launched(&at_once);
    assert_eq!(by_task[0], "0 on 0 Process", "process level goes first");
    assert!(by_task[3].starts_with("3 on ") && by_task[3].ends_with("Process"), "no preference goes last");
    by_task.sort_unstable();
    assert_eq!(by_task[1..3], ["1 on 1 Node", "2 on 0 Node"], "executor 7 is dead but its host is not");
    assert_eq!(by_task.len(), 4);
    assert_eq!(waited.partitions(), [4]);
}

/// Behaviours: LOC-002, TSI-017.
#[test]
fn public_waits_for_a_host_whose_only_executor_drains() {
    let mut world = World::new();
    h1_busy(&mut world, &["h2"]);
    world.rdds([located(0, &[&["h1"]])]);
    let submitted = world.submit(0);

    let draining = world.send(Event::ScalingRequested(Scaling::Decommission {
        executors: vec![ExecutorId(0)],
        worker_host: None,
        adjust_target: false,
        by_executor: false,
    }));

    assert_eq!(launched(&submitted), [""; 0], "h1 is alive, so the task waits for it");
    assert_eq!(
        draining.lines(),
        [
            "decommission [executor-0]",
            "* attempt-1 starts",
            "launch attempt-1 = stage-1.0 partition-0 try-0 on executor-1 Any",
        ]
    );
}

/// Behaviours: LOC-002.
#[test]
fn a_host_with_another_executor_is_still_waited_for() {
    let mut world = World::new();
    h1_busy(&mut world, &["h1"]);
    world.rdds([source(1, 1), located(0, &[&["h1"]])]);
    world.submit(1);
    world.executor(2, "h2", 1);
    world.submit(0);

    let draining = world.send(Event::ScalingRequested(Scaling::Decommission {
        executors: vec![ExecutorId(0)],
        worker_host: None,
        adjust_target: false,
        by_executor: false,
    }));

    assert_eq!(draining.lines(), ["decommission [executor-0]"]);
    assert_eq!(launched(&world.advance(secs(3))), ["0 on 2 Any"]);
}

/// Behaviours: LOC-008.
#[test]
fn a_task_that_prefers_a_dead_host_waits_until_any_level_is_allowed() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([located(0, &[&["h9"], &["h1"], &["h1"]])]);

    let submitted = world.submit(0);
    let waiting = world.advance(millis(2999));
    let allowed = world.advance(millis(1));

    assert_eq!(launched(&submitted), ["1 on 0 Node"]);
    assert_eq!(launched(&waiting), [""; 0]);
    assert_eq!(launched(&allowed), ["0 on 1 Any"]);
}

/// Behaviours: LOC-009.
#[test]
fn a_task_none_of_whose_places_is_alive_runs_anywhere_at_once() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([located(0, &[&["h8", "executor_h9_9"]])]);

    assert_eq!(launched(&world.submit(0)), ["0 on 0 Any"]);
}

/// Behaviours: LOC-011, TSI-001.
#[test]
fn a_new_executor_on_a_known_host_makes_process_level_worth_waiting_for() {
    let mut world = World::new();
    h1_busy(&mut world, &[]);
    world.rdds([located(0, &[&["executor_h1_1"], &["executor_h1_1"]])]);
    let submitted = world.submit(0);

    let joined = world.executor(1, "h1", 1);
    let same_host_free = world.finish(0);
    let waited = world.advance(secs(3));

    assert_eq!(launched(&submitted), [""; 0]);
    assert_eq!(launched(&joined), ["0 on 1 Process"]);
    assert_eq!(
        launched(&same_host_free),
        [""; 0],
        "the second task waits for the executor that has its data"
    );
    assert_eq!(launched(&waited), ["1 on 0 Node"]);
}

/// Behaviours: TSI-001.
#[test]
fn an_executor_becomes_known_once_and_not_before_it_is_ready() {
    let mut world = World::new();
    world.rdds([source(0, 2)]);
    world.submit(0);

    let registered = world.register(0, "h1", 1);
    let ready = world.send(Event::ExecutorLaunched { executor: ExecutorId(0) });
    let again = world.send(Event::ExecutorLaunched { executor: ExecutorId(0) });
    let unknown = world.send(Event::ExecutorLaunched { executor: ExecutorId(5) });

    assert_eq!(registered.lines(), ["* executor-0 added on h1", "executor-0 may join"]);
    assert_eq!(
        ready.lines(),
        ["* attempt-0 starts", "launch attempt-0 = stage-0.0 partition-0 try-0 on executor-0 Process",]
    );
    assert_eq!(again.lines(), [""; 0]);
    assert_eq!(unknown.lines(), ["ignored: executor-5 is not registered"]);
}

/// Behaviours: LOC-013.
#[test]
fn a_launch_does_not_restart_the_timer_after_a_refusal() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([located(0, &[["h1"].as_slice(); 5])]);

    let submitted = world.submit(0);
    world.now += secs(2);
    let local = world.finish(0);
    let waited = world.advance(secs(1));

    assert_eq!(launched(&submitted), ["0 on 0 Node"], "h2 is refused in the same round");
    assert_eq!(launched(&local), ["1 on 0 Node"], "an offer of h1 alone says nothing about the others");
    assert_eq!(launched(&waited), ["2 on 1 Any"], "3 s after the submission");
}

/// Behaviours: LOC-013.
#[test]
fn launches_without_any_refusal_restart_the_timer() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([located(0, &[["h1"].as_slice(); 5])]);
    world.submit(0);
    world.now += secs(2);
    world.finish(0);

    let joined = world.executor(1, "h2", 1);
    let not_yet = world.advance(millis(2999));
    let waited = world.advance(millis(1));

    assert_eq!(launched(&joined), [""; 0]);
    assert_eq!(launched(&not_yet), [""; 0]);
    assert_eq!(launched(&waited), ["2 on 1 Any"], "3 s after the last launch");
}

/// Behaviours: LOC-013.
#[test]
fn a_full_round_without_refusal_restarts_the_timer_whatever_was_before() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([located(0, &[["h1"].as_slice(); 5])]);
    world.submit(0);
    world.lose(1);
    world.now += secs(2);
    let full = world.panic(0);

    let joined = world.executor(2, "h3", 1);
    let not_yet = world.advance(millis(2999));
    let waited = world.advance(millis(1));

    assert_eq!(launched(&full), ["0 on 0 Node"]);
    assert_eq!(launched(&joined), [""; 0]);
    assert_eq!(launched(&not_yet), [""; 0]);
    assert_eq!(launched(&waited), ["1 on 2 Any"]);
}

/// Behaviours: LOC-013.
#[test]
fn a_restart_goes_back_to_the_best_level_launched() {
    let mut world = World::new();
    h1_busy(&mut world, &["h2"]);
    world.rdds([located(0, &[["h1"].as_slice(); 4])]);
    world.submit(0);
    assert_eq!(launched(&world.advance(secs(3))), ["0 on 1 Any"]);

    // At any level everything is taken, so the round restarts the timer; a launch on h1 takes the set back there.
    let local = world.finish(0);
    let remote = world.finish(1);

    assert_eq!(launched(&local), ["1 on 0 Node"]);
    assert_eq!(launched(&remote), [""; 0], "the set waits again");
}

/// Behaviours: LOC-014.
#[test]
fn tasks_without_preference_cannot_starve_a_set_that_waits() {
    let mut world = World::new();
    h1_busy(&mut world, &[]);
    world.rdds([located(0, &[&["h1"]]), source(1, 100)]);
    world.submit(0);
    world.submit(1);
    let mut taken = vec![launched(&world.executor(1, "h2", 1))];

    for attempt in 1..=4 {
        world.now += secs(1);
        taken.push(launched(&world.finish(attempt)));
    }

    assert_eq!(
        taken.concat(),
        ["0 on 1 Process", "1 on 1 Process", "2 on 1 Process", "0 on 1 Any", "3 on 1 Process"],
        "after 3 s the first set takes what it refused before"
    );
}

/// Behaviours: LOC-016.
#[test]
fn with_no_wait_local_places_are_still_tried_first() {
    for seed in 0..20 {
        let mut world = World::config(|config| {
            (config.locality, config.seed) = (LocalityConfig::wait(secs(0)), seed);
        });
        world.executors(0, &["h1", "h2", "h3"], 1);
        world.rdds([located(0, &[&["h3"], &["h2"], &["h1"]]), located(1, &[&["h1"]])]);

        let mut placed = launched(&world.submit(0));
        placed.sort_unstable();

        assert_eq!(placed, ["0 on 2 Node", "1 on 1 Node", "2 on 0 Node"]);

        world.submit(1);
        let elsewhere = world.executor(3, "h4", 1);
        assert_eq!(launched(&elsewhere), ["0 on 3 Any"], "h1 is busy, and nothing is waited for");
    }
}

/// Behaviours: LOC-017.
#[test]
fn racks_are_asked_for_once_and_used_after_the_wait_for_the_node() {
    let mut world = World::config(|config| config.locality.racks = true);
    let registered = world.register(0, "h1", 1);
    world.send(Event::ExecutorLaunched { executor: ExecutorId(0) });
    world.rdds([source(99, 1)]);
    world.submit(99);
    world.executors(1, &["h2", "h3"], 1);
    let rack = |host: &str, rack: &str| (host.into(), Some(rack.to_owned()));
    world.send(Event::RacksResolved(vec![rack("h1", "r1"), rack("h2", "r1"), rack("h3", "r2")]));
    world.rdds([located(0, &[&["h1", "h8"], &["h1", "h8"], &["h9", "h1"]])]);

    let submitted = world.submit(0);
    world.send(Event::RacksResolved(vec![("h8".into(), None), ("h9".into(), None)]));
    let waited_for_node = world.advance(secs(3));
    let waited_for_rack = world.advance(secs(3));

    assert_eq!(
        registered.lines(),
        ["* executor-0 added on h1", "executor-0 may join", "resolve racks of [h1]"]
    );
    assert_eq!(
        submitted.lines(),
        [
            "* job-1 starts [stage-1.0]",
            "* stage-1.0 submitted, 3 tasks",
            "prepare stage-1.0 for job-1",
            "resolve racks of [h8, h9]",
        ]
    );
    assert_eq!(launched(&waited_for_node), ["0 on 1 Rack"]);
    assert_eq!(launched(&waited_for_rack), ["1 on 2 Any"]);
}

/// Behaviours: LOC-017.
#[test]
fn without_racks_nobody_asks_for_them() {
    let mut world = World::new();
    let registered = world.register(0, "h1", 1);
    world.rdds([located(0, &[&["h2"]])]);

    let submitted = world.submit(0);

    assert_eq!(registered.lines_with("racks"), [""; 0]);
    assert_eq!(submitted.lines_with("racks"), [""; 0]);
}
