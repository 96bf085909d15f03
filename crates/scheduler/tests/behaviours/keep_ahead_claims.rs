//! No set's claim suffers because tasks are sent before a slot is free: locality, pools, exclusion, resources.

use std::collections::BTreeMap;

use firesteel_scheduler::{
    Event, LocalityConfig, Scaling, SchedulerConfig,
    exclusion::ExclusionConfig,
    pool::{PoolDescription, SchedulingMode},
};
use firesteel_types::{Cpus, ExecutorId, ProfileId, Properties, ResourceProfile, Share};

use crate::{
    harness::{World, barrier, executor_spec, located, millis, pinned, property, secs, source},
    keep_ahead::{keeping_ahead, two_wait},
    profiles::register_task_profile,
};

#[test]
fn tasks_that_prefer_another_executor_are_not_sent_ahead() {
    let mut places = vec![(0, "h1"); 10];
    places.extend([(1, "h2"); 30]);
    let mut world = World::with(keeping_ahead());
    world.executors(0, &["h1", "h2"], 1).rdds([pinned(0, &places)]);
    world.submit(0);

    let first = world.finish_in(world.attempt_of("stage-0.0", 0), 10);

    let sent: Vec<_> = first.launches().iter().map(|task| (task.partition.0, task.ahead)).collect();
    let ahead = (2..10).map(|partition| (partition, true));
    let expected: Vec<_> = [(1, false)].into_iter().chain(ahead).collect();
    assert_eq!(sent, expected, "nine would have been half of its share");
}

#[test]
fn tasks_that_prefer_a_host_are_sent_ahead_there_unless_some_prefer_an_executor() {
    let on_host: &[&str] = &["h1"];
    let sent = |fourth: &'static [&'static str]| {
        let mut places = vec![on_host; 40];
        (places[0], places[1]) = (&["executor_h1_0"], &["executor_h1_1"]);
        places[3] = fourth;
        let mut config = keeping_ahead();
        config.locality = LocalityConfig::wait(secs(0));
        let mut world = World::with(config);
        world.executors(0, &["h1", "h1"], 1).rdds([located(0, &places)]);
        world.submit(0);
        let finished = world.finish_in(world.attempt_of("stage-0.0", 0), 1000);
        finished.launches().iter().map(|task| (task.partition.0, task.ahead)).collect::<Vec<_>>()
    };

    assert_eq!(sent(&["h1"]), [(2, false), (3, true), (4, true)]);
    assert_eq!(sent(&["executor_h1_1"]), [(2, false)], "a task that waits would rather run on executor 1");
}

#[test]
fn tasks_whose_places_are_not_there_are_sent_ahead_anywhere() {
    let mut world = World::with(keeping_ahead());
    let places: Vec<&[&str]> = vec![&["elsewhere"]; 40];
    world.executors(0, &["h1"], 1).rdds([located(0, &places)]);
    world.submit(0);

    let finished = world.finish_in(0, 1000);
    world.executor(1, "elsewhere", 1);
    let place_came = world.finish_in(1, 1000);

    assert_eq!(finished.ahead(), [2, 3]);
    assert_eq!(place_came.ahead(), [0; 0], "a better place is alive now");
}

#[test]
fn a_better_place_is_waited_for_as_long_as_tasks_are_sent_ahead_there() {
    let mut world = World::with(keeping_ahead());
    world.executors(0, &["h1"], 1).rdds([pinned(0, &vec![(0, "h1"); 200])]);
    world.submit(0);
    for attempt in 0..40 {
        world.now += millis(100);
        world.finish_in(attempt, 1000);
    }

    let elsewhere = world.executor(1, "h2", 1);
    let waited = world.advance(secs(6));

    assert_eq!(elsewhere.attempts(), [0; 0], "the last task went to executor 0 just now");
    assert_eq!(waited.launches()[0].executor, ExecutorId(1));
}

#[test]
fn the_first_set_in_fifo_order_is_sent_ahead_and_the_next_when_it_has_nothing_left() {
    let mut world = World::with(keeping_ahead());
    world.executors(0, &["h1"], 1).rdds([source(0, 4), source(1, 40)]);
    world.submit(0);
    world.submit(1);

    let sent: Vec<_> = (0..6)
        .map(|attempt| {
            let finished = world.finish_in(attempt, 1000);
            finished.launches().iter().map(|task| (task.set.stage.0, task.ahead)).collect::<Vec<_>>()
        })
        .collect();

    assert_eq!(sent[0], [(0, false), (0, true)], "half of what waits");
    assert_eq!(sent[1], [], "one task waits, and is first in line");
    assert_eq!(sent[2], [(0, false)]);
    assert_eq!(sent[3], [(1, false)], "the duration of its tasks is unknown");
    assert_eq!(sent[4], [(1, false), (1, true), (1, true)]);
}

fn fair(pools: Vec<PoolDescription>) -> SchedulerConfig {
    let mut config = keeping_ahead();
    (config.pools.mode, config.pools.pools) = (SchedulingMode::Fair, pools);
    config
}

#[test]
fn sets_that_share_are_not_sent_ahead() {
    let mut world = World::with(fair(Vec::new()));
    world.executors(0, &["h1"], 2).rdds([source(0, 40), source(1, 3)]);
    world.submit_with(0, property(Properties::POOL, "a"));

    let alone = world.finish_in(0, 1000);
    world.submit_with(1, property(Properties::POOL, "b"));
    let mut left = 3;
    let mut sent = BTreeMap::new();
    for attempt in 1..15 {
        let finished = world.finish_in(attempt, 1000);
        left -= finished.launches().iter().filter(|task| task.set.stage.0 == 1).count();
        *sent.entry(left).or_insert(0) += finished.ahead().len();
    }

    assert_eq!(alone.ahead(), [3, 4, 5, 6]);
    assert_eq!([1, 2, 3].map(|left| sent[&left]), [0; 3], "tasks of b wait");
    assert!(sent[&0] > 0, "none waits");
}

#[test]
fn the_jobs_of_one_fifo_pool_do_not_share() {
    let mut world = World::with(fair(Vec::new()));
    world.executors(0, &["h1"], 1).rdds([source(0, 40)]);
    world.submit(0);
    world.submit(0);

    assert_eq!(world.finish_in(0, 1000).ahead(), [2, 3]);
}

#[test]
fn what_waits_on_an_executor_takes_no_share_of_its_pool() {
    let mut world = World::with(fair(Vec::new()));
    world.executors(0, &["h1"], 2).rdds([source(0, 40)]);
    world.submit(0);
    world.finish_in(0, 10);

    let running: Vec<_> = world.scheduler.pools().map(|pool| pool.running).collect();

    assert_eq!(running, [2, 2], "the root and its default pool");
    assert_eq!(world.scheduler.max_concurrent_tasks(ProfileId::DEFAULT), 2);
}

#[test]
fn an_executor_that_is_excluded_is_sent_nothing_and_asked_for_what_waits_there() {
    let mut config = keeping_ahead();
    config.exclusion =
        Some(ExclusionConfig { stage_failed_tasks_per_executor: 1, ..ExclusionConfig::enabled() });
    let mut world = World::with(config);
    world.executors(0, &["h1", "h2"], 1).rdds([source(0, 40)]);
    world.submit(0);
    let there = |world: &World, at: u32| {
        let status = world.scheduler.executor_status(ExecutorId(at)).expect("it is registered");
        status.running[0].0
    };
    world.finish_in(there(&world, 0), 1000);

    let failed = world.panic(there(&world, 0));
    let goes_on = world.finish_in(there(&world, 0), 1000);

    assert_eq!(
        failed.lines()[..3],
        [
            "* attempt-3 starts".to_owned(),
            "take [attempt-4] back from executor-0".to_owned(),
            "* executor-0 excluded for stage-0.0 after 1".to_owned(),
        ]
    );
    assert_eq!(failed.attempts(), [0; 0], "executor 0 is full, and sent nothing more");
    assert_eq!(goes_on.attempts(), [0; 0], "attempt-4 had begun, it seems");
}

#[test]
fn an_executor_that_drains_is_asked_for_what_waits_there() {
    let mut world = two_wait();

    let draining = world.scale(Scaling::Decommission {
        executors: vec![ExecutorId(0)],
        worker_host: None,
        adjust_target: false,
        by_executor: false,
    });
    let returned = world.return_tasks(0, &[2, 3]);
    let ended = world.finish_in(1, 1000);

    assert_eq!(
        draining.lines(),
        ["take [attempt-2, attempt-3] back from executor-0", "decommission [executor-0]"]
    );
    assert_eq!(returned.lines(), [""; 0]);
    assert_eq!(ended.attempts(), [0; 0], "it takes no more tasks");
}

#[test]
fn a_barrier_set_is_not_sent_ahead_and_nobody_else_while_it_waits_for_its_slots() {
    let mut world = World::with(keeping_ahead());
    world.executors(0, &["h1"], 2).rdds([source(0, 3), barrier(1, 2), source(2, 40)]);
    world.submit(0);
    world.submit(1);
    world.submit(2);

    let sent: Vec<_> = [0, 1, 3, 4].map(|attempt| world.finish_in(attempt, 10)).into();
    let stages: Vec<_> = sent.iter().map(|effects| effects.launches()[0].set.stage.0).collect();

    assert_eq!(stages, [0, 2, 2, 2], "the third job takes the slots that are too few for the second");
    assert_eq!(sent.iter().flat_map(super::harness::Effects::ahead).count(), 0);
}

#[test]
fn tasks_that_need_more_than_cpus_are_not_sent_ahead() {
    let mut config = keeping_ahead();
    let executor = config.default_profile.executor.get_or_insert_default();
    executor.resources = BTreeMap::from([("gpu".into(), 2)]);
    let mut world = World::with(config);
    let profile = register_task_profile(&mut world, "gpu", Share::WHOLE);
    let mut spec = executor_spec(0, "h1", 2);
    spec.resources.insert("gpu".into(), vec!["0".into(), "1".into()]);
    world.send(Event::ExecutorRegistered(spec));
    world.send(Event::ExecutorLaunched { executor: ExecutorId(0) });
    let mut on_gpus = source(0, 40);
    on_gpus.profile = Some(profile);
    world.rdds([on_gpus, source(1, 40)]);
    world.submit(0);

    assert_eq!(world.finish_in(0, 10).attempts(), [2]);
}

#[test]
fn tasks_wait_only_where_one_of_them_fits_into_each_slot() {
    let sent_after = |cores: u32, cpus: u32| {
        let mut config = keeping_ahead();
        config.default_profile = ResourceProfile::default_profile(Cpus::cores(cpus));
        let mut world = World::with(config);
        world.executors(0, &["h1"], cores).rdds([source(0, 40)]);
        world.submit(0);
        world.finish_in(0, 1000).ahead().len()
    };

    assert_eq!(sent_after(4, 2), 4, "two slots");
    assert_eq!(sent_after(5, 2), 0, "another set may want the core that is left");
}

#[test]
fn tasks_do_not_wait_behind_tasks_of_another_size() {
    let mut world = World::with(keeping_ahead());
    let profile = ResourceProfile {
        id: ProfileId(99),
        executor: None,
        task_cpus: Cpus::cores(2),
        task_resources: BTreeMap::new(),
    };
    world.send(Event::ProfileRegistered { profile });
    let mut wide = source(0, 1);
    wide.profile = Some(ProfileId(1));
    world.executors(0, &["h1"], 4).rdds([wide, source(1, 40)]);
    world.submit(0);
    world.submit(1);

    let beside_the_wide_one = world.finish_in(1, 1000);
    let alone = world.finish_in(0, 1000);

    assert_eq!(beside_the_wide_one.attempts(), [3]);
    assert_eq!(alone.ahead().len(), 8, "two for each of four slots");
}

#[test]
fn copies_are_not_sent_ahead() {
    let mut config = keeping_ahead();
    let speculation = firesteel_scheduler::SpeculationConfig {
        quantile_permille: 0,
        multiplier_permille: 0,
        ..firesteel_scheduler::SpeculationConfig::default()
    };
    config.speculation = Some(speculation);
    let mut world = World::with(config);
    world.executors(0, &["h1", "h2"], 1).rdds([source(0, 2), source(1, 4)]);
    world.submit(0);
    world.submit(1);
    world.finish_in(0, 10);
    let looked = world.advance(secs(1));

    let finished = world.finish_in(2, 10);

    assert_eq!(looked.lines_with("speculatable"), ["* stage-0.0 partition-1 speculatable"]);
    let sent: Vec<_> = finished.launches().iter().map(|task| (task.speculative, task.ahead)).collect();
    assert_eq!(sent.iter().filter(|(speculative, ahead)| *speculative && *ahead).count(), 0, "{sent:?}");
}
