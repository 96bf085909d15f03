//! Executors are asked for, killed and drained.

use std::collections::BTreeMap;

use firesteel_scheduler::{Event, Scaling, SchedulerConfig};
use firesteel_types::{ExecutorId, ProfileId, RddNode, StorageLevel, Timestamp};

use crate::harness::{Effects, World, secs, shuffled, source};

fn ids(executors: &[u32]) -> Vec<ExecutorId> {
    executors.iter().copied().map(ExecutorId).collect()
}

fn kill(world: &mut World, executors: &[u32], force: bool) -> Effects {
    let executors = ids(executors);
    world.scale(Scaling::Kill { executors, adjust_target: true, count_failures: false, force })
}

fn decommission(world: &mut World, executors: &[u32]) -> Effects {
    world.scale(Scaling::Decommission {
        executors: ids(executors),
        worker_host: None,
        adjust_target: false,
        by_executor: false,
    })
}

fn total(world: &mut World, count: i32) -> Effects {
    world.scale(Scaling::Total(BTreeMap::from([(ProfileId::DEFAULT, count)])))
}

fn requested(world: &World, executor: u32) -> Option<Timestamp> {
    world.scheduler.executor_status(ExecutorId(executor)).expect("it is registered").requested
}

/// Behaviours: BACK-011.
#[test]
fn only_known_idle_executors_are_killed_unless_forced() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2", "h3"], 1).rdds([source(0, 1)]);
    total(&mut world, 3);
    world.submit(0);
    let busy = world.executor_of(0).0;
    let idle = u32::from(busy == 0);
    let other = 3 - busy - idle;

    let polite = kill(&mut world, &[busy, idle, 77], false);
    let again = kill(&mut world, &[idle], false);
    let forced = kill(&mut world, &[busy, busy, other], true);

    assert_eq!(polite.lines(), ["request [(profile-0, 2)]".to_owned(), format!("kill [executor-{idle}]")]);
    assert_eq!(again.lines(), ["kill []"], "it is killed once and lowers the total once");
    assert_eq!(
        forced.lines(),
        ["request [(profile-0, 0)]".to_owned(), format!("kill [executor-{busy}, executor-{other}] by force"),]
    );
}

/// Behaviours: BACK-011.
#[test]
fn the_requested_total_never_falls_below_zero() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2", "h3"], 1);

    let unasked = kill(&mut world, &[0, 1], true);
    let another = kill(&mut world, &[2], true);

    assert_eq!(
        unasked.lines(),
        ["request [(profile-0, 0)]", "kill [executor-0, executor-1] by force"],
        "executors that came by default were never asked for"
    );
    assert_eq!(another.lines(), ["request [(profile-0, 0)]", "kill [executor-2] by force"]);
}

/// Behaviours: BACK-012.
#[test]
fn killing_to_replace_leaves_the_total_as_it_is() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1);
    total(&mut world, 2);

    let replaced = world.scale(Scaling::Replace(ids(&[0])));

    assert_eq!(replaced.lines(), ["kill [executor-0] by force"]);
    assert_eq!(world.scale(Scaling::Add(1)).lines(), ["request [(profile-0, 3)]"]);
}

/// Behaviours: BACK-013.
#[test]
fn negative_counts_are_refused_and_large_ones_stop_at_the_limit() {
    let mut world = World::new();

    assert_eq!(world.scale(Scaling::Add(-1)).lines(), ["ignored: -1 is not a number of executors"]);
    assert_eq!(total(&mut world, -5).lines(), ["ignored: -5 is not a number of executors"]);
    assert_eq!(world.scale(Scaling::Add(3)).lines(), ["request [(profile-0, 3)]"], "none was taken");
    assert_eq!(world.scale(Scaling::Add(i32::MAX)).lines(), ["request [(profile-0, 2147483647)]"]);
    assert_eq!(world.scale(Scaling::Add(0)).lines(), ["request [(profile-0, 2147483647)]"]);
}

/// Behaviours: BACK-014.
#[test]
fn executors_are_matched_to_requests_in_the_order_of_asking() {
    let mut world = World::new();
    let first = world.now;
    total(&mut world, 2);
    world.now += secs(10);
    let second = world.now;
    world.scale(Scaling::Add(1));
    world.now += secs(10);

    for id in 0..4 {
        world.register(id, "h1", 1);
    }

    let matched = [0, 1, 2, 3].map(|id| requested(&world, id));
    assert_eq!(matched, [Some(first), Some(first), Some(second), None]);
}

/// Behaviours: BACK-014.
#[test]
fn a_lower_total_strikes_out_the_oldest_requests() {
    let mut world = World::new();
    total(&mut world, 3);
    world.now += secs(10);
    let second = world.now;
    total(&mut world, 5);
    world.now += secs(10);
    total(&mut world, 1);

    world.register(0, "h1", 1);
    world.register(1, "h1", 1);

    assert_eq!([0, 1].map(|id| requested(&world, id)), [Some(second), None]);
}

/// Behaviours: BACK-019.
#[test]
fn a_decommissioned_executor_is_told_and_gets_no_task_any_more() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1).rdds([source(0, 2)]);
    total(&mut world, 2);

    let told = world.scale(Scaling::Decommission {
        executors: ids(&[0]),
        worker_host: Some("h1".into()),
        adjust_target: true,
        by_executor: false,
    });
    let again = decommission(&mut world, &[0]);

    assert_eq!(told.lines(), ["request [(profile-0, 1)]", "decommission [executor-0]"]);
    assert_eq!(again.lines(), [""; 0]);
    assert_eq!(world.submit(0).launches().len(), 1);
    assert_eq!(world.executor_of(0), ExecutorId(1));
}

/// Behaviours: BACK-019.
#[test]
fn an_executor_that_decommissions_itself_is_not_told() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1);

    let noted = world.scale(Scaling::Decommission {
        executors: ids(&[0]),
        worker_host: None,
        adjust_target: false,
        by_executor: true,
    });

    assert_eq!(noted.lines(), [""; 0]);
    assert_eq!(world.scheduler.executor_status(ExecutorId(0)).map(|status| status.is_active), Some(false));
}

/// Behaviours: BACK-019.
#[test]
fn tasks_do_not_wait_for_the_host_of_an_executor_that_drains() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1);
    let cached = |id| RddNode { storage: StorageLevel::MEMORY_ONLY, ..source(id, 1) };
    world.rdds([cached(0), cached(1)]).cache(0, &[0]).cache(1, &[0]);
    world.submit(1);

    let waiting = world.submit(0);
    let drained = decommission(&mut world, &[0]);

    assert_eq!(waiting.attempts(), [0; 0], "it waits for its cached partition");
    assert_eq!(
        drained.lines(),
        [
            "decommission [executor-0]",
            "* attempt-1 starts",
            "launch attempt-1 = stage-1.0 partition-0 try-0 on executor-1 Any",
        ]
    );
}

/// Behaviours: BACK-020.
#[test]
fn an_early_decommission_is_remembered_only_where_there_is_room() {
    let launched = |retained| {
        let mut config = SchedulerConfig::default();
        config.executors.retained_unknown_decommissions = retained;
        let mut world = World::with(config);
        decommission(&mut world, &[1]);
        decommission(&mut world, &[2]);
        world.register(1, "h1", 1);
        world.register(2, "h1", 1).lines()
    };

    let joined = ["* executor-2 added on h1", "executor-2 may join"];
    assert_eq!(launched(0), joined);
    assert_eq!(launched(1), [joined[0], joined[1], "decommission [executor-2]"]);
}

/// Behaviours: BACK-020.
#[test]
fn an_early_decommission_applies_once_and_the_oldest_are_forgotten() {
    let mut config = SchedulerConfig::default();
    config.executors.retained_unknown_decommissions = 1;
    let mut world = World::with(config);
    decommission(&mut world, &[1]);
    decommission(&mut world, &[2]);

    let forgotten = world.register(1, "h1", 1);
    let remembered = world.register(2, "h1", 1);
    world.lose(2);
    let again = world.register(2, "h1", 1);

    assert_eq!(forgotten.lines_with("decommission"), [""; 0]);
    assert_eq!(remembered.lines_with("decommission"), ["decommission [executor-2]"]);
    assert_eq!(again.lines_with("decommission"), [""; 0]);
}

/// Behaviours: BACK-021.
#[test]
fn an_executor_that_drains_for_too_long_is_killed() {
    let mut config = SchedulerConfig::default();
    config.executors.decommission_force_kill = Some(secs(30));
    let mut world = World::with(config);
    world.executors(0, &["h1", "h2"], 1);
    decommission(&mut world, &[0, 1]);
    world.advance(secs(29));
    world.lose(1);

    let deadline = world.scheduler.next_deadline();
    let killed = world.advance(secs(1));

    assert_eq!(deadline, Some(world.now));
    assert_eq!(killed.lines(), ["kill [executor-0] by force"], "the other left in time");
    assert_eq!(world.advance(secs(1)).lines(), [""; 0], "once is enough");
}

/// Behaviours: BACK-021.
#[test]
fn without_a_limit_an_executor_drains_as_long_as_it_takes() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1);
    decommission(&mut world, &[0]);

    let waited = world.advance(secs(100));

    assert_eq!(waited.lines(), [""; 0]);
    assert_eq!(world.scheduler.executors(), [ExecutorId(0)]);
}

/// Behaviours: BACK-022.
#[test]
fn tasks_on_a_draining_executor_finish_and_count() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    world.submit(1);
    decommission(&mut world, &[0]);

    let finished = world.finish_map(0, &[10]);

    assert_eq!(
        finished.lines(),
        [
            "forget stage-0.0",
            "* attempt-0 ends",
            "* stage-0.0 completed",
            "* stage-1.0 submitted, 1 tasks",
            "prepare stage-1.0 for job-0",
        ]
    );
    let taken = world.executor(1, "h2", 1);
    assert_eq!(taken.attempts(), [1], "the result stage runs elsewhere, from the output that counts");
    world.finish(1);
    world.assert_quiescent();
}

/// Behaviours: BACK-004, BACK-019.
#[test]
fn an_executor_on_the_way_out_is_not_decommissioned() {
    let mut world = World::new();
    world.executors(0, &["h1", "h2"], 1);
    kill(&mut world, &[0], true);
    world.send(Event::ExecutorDisconnected { executor: ExecutorId(1) });

    assert_eq!(decommission(&mut world, &[0, 1]).lines(), [""; 0]);
}
