//! Executors register, are offered and are removed.

use firesteel_scheduler::{Event, Scaling, SchedulerConfig, TaskConfig, exclusion::ExclusionConfig};
use firesteel_types::{Cpus, ExecutorId, ExecutorLossReason, Share};

use crate::harness::{Effects, World, executor_spec, secs, source};

const ONE: ExecutorId = ExecutorId(1);

fn kill(executors: &[u32], count_failures: bool) -> Scaling {
    let executors = executors.iter().copied().map(ExecutorId).collect();
    Scaling::Kill { executors, adjust_target: false, count_failures, force: true }
}

fn decommission(executors: &[u32]) -> Scaling {
    let executors = executors.iter().copied().map(ExecutorId).collect();
    Scaling::Decommission { executors, worker_host: None, adjust_target: false, by_executor: false }
}

/// Behaviours: BACK-001.
#[test]
fn an_executor_is_announced_and_let_in_and_its_id_remembered() {
    let mut world = World::new();

    let third = world.register(3, "h1", 4);
    let first = world.register(1, "h1", 2);
    let again = world.register(3, "h2", 8);

    assert_eq!(third.lines(), ["* executor-3 added on h1", "executor-3 may join"]);
    assert_eq!(first.lines(), ["* executor-1 added on h1", "executor-1 may join"]);
    assert_eq!(again.lines(), ["executor-3 may not join: executor-3 is registered already"]);
    assert_eq!(world.scheduler.executors(), [ONE, ExecutorId(3)]);
    assert_eq!(world.scheduler.highest_executor_id(), Some(ExecutorId(3)));
    assert_eq!(world.scheduler.default_parallelism(), 6, "the refused cores do not count");
}

/// Behaviours: BACK-001.
#[test]
fn an_executor_on_an_excluded_host_is_refused() {
    let exclusion = ExclusionConfig {
        app_failed_tasks_per_executor: 1,
        app_failed_executors_per_node: 1,
        ..ExclusionConfig::enabled()
    };
    let mut world = World::with(SchedulerConfig { exclusion: Some(exclusion), ..SchedulerConfig::default() });
    world.executors(0, &["h0", "h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    let (bad, good) = if world.executor_of(0).0 == 0 { ("h0", "h1") } else { ("h1", "h0") };
    world.panic(0);
    world.finish(1);

    let refused = world.register(7, bad, 1);
    let accepted = world.register(8, good, 1);

    let why = format!("executor-7 may not join: {bad} is excluded because tasks failed there");
    assert_eq!(refused.lines(), [why]);
    assert_eq!(accepted.lines(), [format!("* executor-8 added on {good}"), "executor-8 may join".to_owned()]);
}

/// Behaviours: BACK-002.
#[test]
fn no_task_reaches_an_executor_before_it_has_launched() {
    let mut world = World::new();
    world.register(0, "h1", 2);
    world.rdds([source(0, 1)]);
    let submitted = world.submit(0);
    let waited = world.advance(secs(1));
    let free_before = world.scheduler.executor_status(ExecutorId(0)).map(|status| status.cpus_free);

    let launched = world.send(Event::ExecutorLaunched { executor: ExecutorId(0) });

    assert_eq!(submitted.attempts(), [0; 0]);
    assert_eq!(waited.lines(), [""; 0]);
    assert_eq!(free_before, Some(Cpus::ZERO));
    assert_eq!(
        launched.lines(),
        ["* attempt-0 starts", "launch attempt-0 = stage-0.0 partition-0 try-0 on executor-0 Process",]
    );
    assert_eq!(world.send(Event::ExecutorLaunched { executor: ExecutorId(0) }).lines(), [""; 0]);
    world.finish(0);
    world.assert_quiescent();
}

/// Two executors run one task each of another job, and two tasks wait for the third executor, which is busy
/// too. The wait of both is over, and no offer was made since.
fn two_tasks_at_the_end_of_their_wait() -> World {
    let mut world = World::new();
    world.executors(0, &["h1", "h2", "h9"], 1).rdds([source(0, 3)]);
    world.submit(0);
    let mut preferring = source(1, 2);
    preferring.preferred = prefer(&["h9", "h9"]);
    world.rdds([preferring]);
    world.submit(1);
    let on_h1 = attempt_on(&world, 0);
    assert_eq!(world.finish(on_h1).attempts(), [0; 0], "they wait for h9");
    world.now += secs(4);
    world
}

fn places(effects: &Effects) -> Vec<u32> {
    effects.launches().iter().map(|task| task.executor.0).collect()
}

/// Behaviours: BACK-003.
#[test]
fn a_task_that_ends_leads_to_an_offer_of_its_executor_alone() {
    let mut world = two_tasks_at_the_end_of_their_wait();
    let on_h2 = attempt_on(&world, 1);

    let finished = world.finish(on_h2);
    let revived = world.advance(secs(1));

    assert_eq!(places(&finished), [1], "only the executor where a task ended was offered");
    assert_eq!(places(&revived), [0], "the revive a second later offers all of them");
}

/// Behaviours: BACK-002, BACK-003.
#[test]
fn an_executor_that_has_launched_is_offered_alone() {
    let mut world = two_tasks_at_the_end_of_their_wait();

    let launched = world.executor(4, "h4", 1);
    let revived = world.advance(secs(1));

    assert_eq!(places(&launched), [4]);
    assert_eq!(places(&revived), [0]);
}

fn prefer(hosts: &[&str]) -> firesteel_types::PreferredLocations {
    let places = hosts.iter().map(|host| vec![(*host).into()]).collect();
    firesteel_types::PreferredLocations::PerPartition(places)
}

fn attempt_on(world: &World, executor: u32) -> u64 {
    let on = world.launched.values().find(|task| task.executor == ExecutorId(executor));
    on.expect("each executor runs one").attempt.0
}

/// Behaviours: BACK-003.
#[test]
fn everything_free_is_offered_every_second_while_something_waits() {
    let mut world = World::new();
    world.executors(9, &["h9"], 1).rdds([source(0, 1)]);
    world.submit(0);
    world.executors(0, &["h1"], 1);
    let idle = world.scheduler.next_deadline();
    let mut preferring = source(1, 1);
    preferring.preferred = prefer(&["h9"]);
    world.rdds([preferring]);

    let submitted = world.submit(1);
    let first_wait = world.scheduler.next_deadline();
    let first = world.advance(secs(1));
    let second_wait = world.scheduler.next_deadline();

    assert_eq!(idle, Some(world.now + secs(59)), "with nothing waiting only heartbeats are looked at");
    assert_eq!(submitted.attempts(), [0; 0], "the task waits for h9, and h1 is free");
    assert_eq!(first_wait, Some(world.now));
    assert_eq!(first.lines(), [""; 0]);
    assert_eq!(second_wait, Some(world.now + secs(1)));
    assert_eq!(world.advance(secs(2)).partitions(), [0], "after three seconds any place will do");
}

/// Behaviours: BACK-004.
#[test]
fn only_active_executors_are_offered() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2", "h3", "h4"], 1).rdds([source(0, 5)]);
    world.scale(kill(&[0], false));
    world.send(Event::ExecutorDisconnected { executor: ONE });
    world.scale(decommission(&[2]));
    world.register(4, "h5", 1);

    let submitted = world.submit(0);

    let offered: Vec<_> = submitted.launches().iter().map(|task| task.executor.0).collect();
    assert_eq!(offered, [3]);
    let active = |id| world.scheduler.executor_status(ExecutorId(id)).map(|status| status.is_active);
    assert_eq!([0, 1, 2, 3, 4].map(active), [false, false, false, true, false].map(Some));
    let again = world.finish(0);
    assert_eq!(again.attempts(), [1], "the active one takes the next task");
    assert_eq!(world.executor_of(1), ExecutorId(3));
}

/// Behaviours: BACK-005.
#[test]
fn a_launch_takes_cpus_and_the_end_gives_them_back() {
    let mut world = World::new();
    world.executors(0, &["h1"], 3).rdds([source(0, 2)]);
    let free = |world: &World| world.scheduler.executor_status(ExecutorId(0)).map(|status| status.cpus_free);

    world.submit(0);
    assert_eq!(free(&world), Some(Cpus::cores(1)));
    world.running(0);
    assert_eq!(free(&world), Some(Cpus::cores(1)), "a task that runs holds what it took");
    world.finish(0);
    assert_eq!(free(&world), Some(Cpus::cores(2)));
    assert_eq!(world.finish(0).lines(), ["ignored: attempt-0 is not running"]);
    assert_eq!(free(&world), Some(Cpus::cores(2)), "a second report frees nothing");
    world.panic(1);
    assert_eq!(free(&world), Some(Cpus::cores(2)), "the failed task runs again at once");
    world.finish(2);

    assert_eq!(free(&world), Some(Cpus::cores(3)));
    world.assert_quiescent();
}

/// Behaviours: BACK-005.
#[test]
fn a_status_from_an_executor_that_is_gone_frees_nothing() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([source(0, 1)]);
    world.submit(0);
    let gone = world.executor_of(0).0;
    world.lose(gone);
    let free = |world: &World| world.scheduler.executor_status(ExecutorId(1 - gone)).map(|s| s.cpus_free);
    assert_eq!(free(&world), Some(Cpus::ZERO), "the other one runs the task again");

    let late = world.finish(0);

    assert_eq!(late.lines(), ["ignored: attempt-0 is not running"]);
    assert_eq!(free(&world), Some(Cpus::ZERO));
}

/// Behaviours: BACK-007.
#[test]
fn the_reason_of_a_loss_is_the_drivers_own_act_where_it_was_one() {
    let reasons = |prepare: &dyn Fn(&mut World)| {
        let mut world = World::new();
        world.executors(0, &["h1"], 1);
        prepare(&mut world);
        world.lose_with(0, ExecutorLossReason::from_exit(Some(9), "signal", None)).lines_with("removed")
    };

    assert_eq!(reasons(&|_| ()), ["* executor-0 removed: exited with code 9: signal"]);
    assert_eq!(
        reasons(&|world| drop(world.scale(kill(&[0], false)))),
        ["* executor-0 removed: killed by the driver"]
    );
    assert_eq!(
        reasons(&|world| drop(world.scale(kill(&[0], true)))),
        ["* executor-0 removed: exited with code 9: signal"],
        "the kill is to count as a failure"
    );
    assert_eq!(
        reasons(&|world| drop(world.scale(decommission(&[0])))),
        ["* executor-0 removed: decommissioned"]
    );
    assert_eq!(
        reasons(&|world| {
            world.scale(decommission(&[0]));
            world.scale(kill(&[0], false));
        }),
        ["* executor-0 removed: killed by the driver"]
    );
}

/// Behaviours: BACK-007.
#[test]
fn a_removed_executor_takes_its_cores_and_tasks_along() {
    let mut world = World::new();
    world.executors(0, &["h1"], 4).rdds([source(0, 1)]);
    world.submit(0);
    world.running(0);

    let lost = world.lose(0);

    assert_eq!(
        lost.lines(),
        ["* executor-0 removed: gone", "* attempt-0 ends: executor lost", "remove blocks of executor-0",]
    );
    assert_eq!(world.scheduler.executors(), []);
    assert_eq!(world.scheduler.default_parallelism(), 2, "no cores are left");
}

/// Behaviours: BACK-008.
#[test]
fn the_loss_of_an_unknown_executor_is_told_and_its_blocks_removed() {
    let mut world = World::new();

    let lost = world.lose(5);

    assert_eq!(lost.lines(), ["remove blocks of executor-5", "* executor-5 removed: gone"]);
}

/// Behaviours: BACK-015.
#[test]
fn all_active_executors_count_for_the_most_tasks_at_once() {
    for (task_cpus, expected) in [(1, 12), (2, 4), (4, 0)] {
        let mut config = SchedulerConfig::default();
        config.default_profile.task_cpus = Cpus::cores(task_cpus);
        let mut world = World::with(config);
        world.executors(0, &["h1", "h2", "h3", "h4"], 3).rdds([source(0, 5)]);
        world.submit(0);

        let most = world.scheduler.max_concurrent_tasks(firesteel_types::ProfileId::DEFAULT);

        assert_eq!(most, expected, "{task_cpus} cpus for each task, busy or not");
        world.scale(kill(&[0], false));
        let fewer = world.scheduler.max_concurrent_tasks(firesteel_types::ProfileId::DEFAULT);
        assert_eq!(fewer, expected / 4 * 3, "one that is to go does not count");
    }
}

/// Behaviours: BACK-015.
#[test]
fn a_scarce_resource_limits_the_most_tasks_at_once() {
    let vectors = [("0.3", 12), ("0.4", 8), ("0.8", 4), ("2", 2), ("3", 1)];
    for (amount, expected) in vectors {
        let amount: Share = amount.parse().expect("the amounts are well-formed");
        let mut config = SchedulerConfig::default();
        let executor = config.default_profile.executor.get_or_insert_default();
        executor.resources.insert("gpu".into(), 4);
        let mut world = World::with(config);
        let mut spec = executor_spec(0, "h1", 100);
        spec.resources.insert("gpu".into(), ["0", "1", "2", "3"].map(Into::into).to_vec());
        world.send(Event::ExecutorRegistered(spec));
        world.send(Event::ExecutorLaunched { executor: ExecutorId(0) });
        let profile = crate::profiles::register_task_profile(&mut world, "gpu", amount);

        assert_eq!(world.scheduler.max_concurrent_tasks(profile), expected, "{amount} of 4 addresses");
    }
}

/// Behaviours: BACK-016.
#[test]
fn default_parallelism_is_the_setting_or_the_cores_or_two() {
    let mut world = World::new();
    assert_eq!(world.scheduler.default_parallelism(), 2);
    world.register(0, "h1", 1);
    assert_eq!(world.scheduler.default_parallelism(), 2);
    world.register(1, "h2", 6);
    assert_eq!(world.scheduler.default_parallelism(), 7);

    let mut config = SchedulerConfig::default();
    config.executors.default_parallelism = Some(3);
    let mut world = World::with(config);
    world.register(0, "h1", 8);
    assert_eq!(world.scheduler.default_parallelism(), 3);

    let mut world = local(1, 1);
    assert_eq!(world.scheduler.default_parallelism(), 1, "local mode has the cores it has");
    world.rdds([source(0, 1)]);
}

/// A scheduler in local mode with its one executor.
fn local(cores: u32, attempts: u32) -> World {
    let tasks = TaskConfig { failures_max: attempts, ..TaskConfig::default() };
    let mut world = World::with(SchedulerConfig { local: true, tasks, ..SchedulerConfig::default() });
    world.executor(ExecutorId::DRIVER.0, "localhost", cores);
    world
}

/// Behaviours: BACK-017.
#[test]
fn local_mode_runs_tasks_in_the_driver_and_offers_again_when_one_ends() {
    let mut world = local(2, 1);
    world.rdds([source(0, 3)]);

    let submitted = world.submit(0);
    let next = world.finish(0);

    assert_eq!(
        submitted.lines_with("launch"),
        [
            "launch attempt-0 = stage-0.0 partition-0 try-0 on driver Process",
            "launch attempt-1 = stage-0.0 partition-1 try-0 on driver Process",
        ]
    );
    assert_eq!(
        next.lines(),
        [
            "* attempt-0 ends",
            "deliver job-0 [0] = attempt-0",
            "* attempt-2 starts",
            "launch attempt-2 = stage-0.0 partition-2 try-0 on driver Process",
        ]
    );
    assert_eq!(world.scheduler.highest_executor_id(), None, "the driver is not numbered");
}

/// Behaviours: BACK-017.
#[test]
fn local_mode_tries_a_task_once_unless_told_otherwise() {
    let mut once = local(1, 1);
    once.rdds([source(0, 1)]);
    once.submit(0);
    let mut twice = local(1, 2);
    twice.rdds([source(0, 1)]);
    twice.submit(0);

    assert_eq!(
        once.panic(0).lines_with("failed by"),
        [
            "job-0 failed by stage-0: task 0 of stage-0.0 failed 1 times, most recently: task 0.0 of stage-0.0 \
             (attempt-0) on driver: boom (boom)"
        ]
    );
    assert_eq!(twice.panic(0).attempts(), [1]);
    assert_eq!(twice.panic(1).lines_with("failed by").len(), 1);
    once.assert_quiescent();
    twice.assert_quiescent();
}

/// Behaviours: BACK-023.
#[test]
fn stopping_asks_all_executors_to_stop_once() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1);

    let stopped = world.send(Event::ContextStopped);
    let again = world.send(Event::ContextStopped);

    assert_eq!(stopped.lines(), ["stop executors"]);
    assert_eq!(again.lines(), ["ignored: the context is stopped"]);
    assert_eq!(world.register(1, "h1", 1).lines(), ["executor-1 may not join: the context is stopped"]);
    assert_eq!(world.scale(Scaling::Add(1)).lines(), ["ignored: the context is stopped"]);
}
