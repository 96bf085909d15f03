//! Heartbeats of executors, and what follows when they stay away.

use firesteel_scheduler::{Event, SchedulerConfig};
use firesteel_types::{AttemptId, ExecutorId, TaskMetrics};

use crate::harness::{Effects, World, secs, source};

fn beat(world: &mut World, executor: u32, block_manager_known: bool) -> Effects {
    let executor = ExecutorId(executor);
    world.send(Event::Heartbeat { executor, block_manager_known, running: Vec::new() })
}

const PASSED_ON: &str = "HeartbeatReply { pass_on: true, reregister_block_manager: false }";
const REREGISTER: &str = "HeartbeatReply { pass_on: false, reregister_block_manager: true }";
const SILENCE: &str = "HeartbeatReply { pass_on: false, reregister_block_manager: false }";

/// Behaviours: HB-002.
#[test]
fn a_heartbeat_of_a_known_executor_keeps_it_and_asks_for_its_block_manager_only_if_unknown() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1);

    let known = beat(&mut world, 0, true);
    let unknown = beat(&mut world, 0, false);
    world.advance(secs(60));
    world.advance(secs(55));
    beat(&mut world, 0, true);
    let checked = world.advance(secs(5));
    let checked_again = world.advance(secs(60));

    assert_eq!(known.lines(), [format!("heartbeat executor-0: {PASSED_ON}")]);
    let both = "HeartbeatReply { pass_on: true, reregister_block_manager: true }";
    assert_eq!(unknown.lines(), [format!("heartbeat executor-0: {both}")]);
    assert_eq!(checked.lines(), [""; 0]);
    assert_eq!(checked_again.lines(), [""; 0], "it was heard 65 seconds ago");
}

/// Behaviours: HB-002.
#[test]
fn the_figures_of_a_heartbeat_reach_the_scheduler() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    world.running(0);
    let metrics = TaskMetrics { input_records: 7, ..TaskMetrics::default() };
    let running = vec![(AttemptId(0), metrics), (AttemptId(5), TaskMetrics::default())];
    world.send(Event::Heartbeat { executor: ExecutorId(0), block_manager_known: true, running });

    let lost = world.lose(0);

    let reported = lost.0.iter().find_map(|effect| match effect {
        firesteel_scheduler::Effect::Post(firesteel_types::ListenerEvent::TaskEnd { metrics, .. }) => {
            Some(*metrics)
        }
        _ => None,
    });
    assert_eq!(reported, Some(metrics), "they are the last that is known of the lost task");
}

/// Behaviours: HB-003.
#[test]
fn unknown_and_removed_executors_are_told_to_register_again() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1);
    world.lose(0);

    assert_eq!(beat(&mut world, 0, true).lines(), [format!("heartbeat executor-0: {REREGISTER}")]);
    assert_eq!(beat(&mut world, 9, true).lines(), [format!("heartbeat executor-9: {REREGISTER}")]);
}

/// Behaviours: HB-004.
#[test]
fn public_is_told_to_register_again_once_the_context_is_stopped() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1);
    world.send(Event::ContextStopped);

    assert_eq!(beat(&mut world, 0, false).lines(), [format!("heartbeat executor-0: {SILENCE}")]);
    assert_eq!(beat(&mut world, 9, false).lines(), [format!("heartbeat executor-9: {SILENCE}")]);
    assert_eq!(world.advance(secs(1000)).lines(), [""; 0], "no executor expires");
}

/// Behaviours: HB-005.
#[test]
fn a_silent_executor_is_killed_to_be_replaced_and_lost() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    world.running(0);

    let first = world.advance(secs(60));
    let second = world.advance(secs(60));
    let deadline = world.scheduler.next_deadline();
    let third = world.advance(secs(60));

    assert_eq!(first.lines(), [""; 0]);
    assert_eq!(second.lines(), [""; 0], "120 seconds are not more than 120");
    assert_eq!(deadline, Some(world.now));
    assert_eq!(
        third.lines(),
        [
            "kill [executor-0] by force",
            "* executor-0 removed: executor heartbeat timed out after 180000 ms",
            "* attempt-0 ends: executor lost",
            "remove blocks of executor-0",
        ],
        "the wanted number of executors stays"
    );
    assert_eq!(beat(&mut world, 0, true).lines(), [format!("heartbeat executor-0: {REREGISTER}")]);
    assert_eq!(world.advance(secs(60)).lines(), [""; 0]);
}

/// Behaviours: HB-005.
#[test]
fn silence_is_looked_for_once_a_minute() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1);
    world.advance(secs(60));
    world.advance(secs(60));

    assert_eq!(world.advance(secs(59)).lines(), [""; 0], "silent for 179 seconds, and not looked at");
    assert_eq!(world.advance(secs(1)).lines_with("removed").len(), 1, "the check is a minute after the last");
}

/// Behaviours: BACK-017.
#[test]
fn the_driver_itself_is_never_silent() {
    let mut world = World::with(SchedulerConfig { local: true, ..SchedulerConfig::default() });
    world.executor(ExecutorId::DRIVER.0, "localhost", 1);

    assert_eq!(world.advance(secs(1000)).lines(), [""; 0]);
    assert_eq!(world.scheduler.next_deadline(), None);
}
