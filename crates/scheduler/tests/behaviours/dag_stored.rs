//! Cached partitions and outputs of finished jobs that were made from rows which do not come again.

use firesteel_scheduler::{BlockUpdate, Effect, Event};
use firesteel_types::{ExecutorId, PartitionId, RddId, RddNode};

use crate::harness::{Effects, World, fetch_failed, indeterminate, map, persisted, pinned, placed, shuffled};

const NO_LINES: [&str; 0] = [];

/// A source with one partition at each of executors 0 and 1.
fn two_places() -> RddNode {
    pinned(0, &[(0, "h1"), (1, "h2")])
}

/// The partitions of RDD 1 behind shuffle 0 of `source` were cached at executors 1 and 2 by a first job.
fn cached_behind(source: RddNode) -> World {
    let mut world = World::new();
    let reader = placed(persisted(shuffled(1, 2, 0, 0)), &[(1, "h2"), (2, "h3")]);
    world.executors(0, &["h1", "h2", "h3"], 2).rdds([source, reader, map(2, 2, 1)]);
    world.submit(2);
    world.finish_maps(&[0, 1], 2);
    world.cache(1, &[1, 2]);
    world.finish(2);
    world.finish(3);
    world.assert_quiescent();
    world
}

/// An executor reports that it stored, or removed, a partition of RDD 1 under a generation.
fn report(world: &mut World, executor: u32, partition: u32, generation: u32, present: bool) -> Effects {
    let block = BlockUpdate { rdd: RddId(1), partition: PartitionId(partition), generation, present };
    world.send(Event::BlocksUpdated { executor: ExecutorId(executor), blocks: vec![block] })
}

fn holders(world: &World, partition: u32) -> Vec<u32> {
    let holders = world.scheduler.cached_at(RddId(1), PartitionId(partition));
    holders.iter().map(|executor| executor.0).collect()
}

/// The generations that the stages which begin are told.
fn generations(effects: &Effects) -> Vec<(u32, u32)> {
    let of_stage = |effect: &Effect| match effect {
        Effect::PrepareStage(launch) => launch.generations.to_vec(),
        _ => Vec::new(),
    };
    effects.0.iter().flat_map(of_stage).map(|(rdd, generation)| (rdd.0, generation)).collect()
}

/// Half of the outputs and half of the cached partitions go between two jobs.
///
/// Behaviours: DAG-050.
#[test]
fn a_new_run_of_an_indeterminate_stage_drops_what_is_cached_from_the_one_before() {
    let again = |source: RddNode| {
        let mut world = cached_behind(source);
        world.send(Event::WorkerRemoved { host: "h2".into(), message: "gone".to_owned() });
        report(&mut world, 1, 0, 0, false);
        let submitted = world.submit(2);
        let told = submitted.lines_with("stale");
        let maps = submitted.attempts();
        let results = world.finish_maps(&maps, 2);
        (maps.len(), told, generations(&results), holders(&world, 1))
    };

    let stale = ["remove stale blocks of rdd-1 before 1".to_owned()];
    assert_eq!(again(indeterminate(two_places())), (2, stale.to_vec(), vec![(2, 1), (1, 1)], vec![]));
    assert_eq!(again(two_places()), (1, vec![], vec![], vec![2]));
}

/// Behaviours: DAG-050.
#[test]
fn what_a_task_of_an_earlier_run_stores_late_is_not_cached() {
    let mut world = cached_behind(indeterminate(two_places()));
    world.send(Event::WorkerRemoved { host: "h2".into(), message: "gone".to_owned() });
    report(&mut world, 1, 0, 0, false);
    world.submit(2);

    let late = report(&mut world, 2, 0, 0, true);
    assert_eq!(late.lines(), ["remove stale blocks of rdd-1 before 1"]);
    assert_eq!(holders(&world, 0), []);

    assert_eq!(report(&mut world, 2, 0, 1, true).lines(), NO_LINES);
    // The order to remove it arrives after the new one was stored.
    assert_eq!(report(&mut world, 2, 0, 0, false).lines(), NO_LINES);
    assert_eq!(holders(&world, 0), [2]);
}

/// The first run of a stage has nothing before it.
///
/// Behaviours: DAG-050.
#[test]
fn the_first_run_of_an_indeterminate_stage_drops_nothing() {
    let world = cached_behind(indeterminate(two_places()));

    assert_eq!((holders(&world, 0), holders(&world, 1)), (vec![1], vec![2]));
    assert_eq!(world.scheduler.generation(RddId(1)), 0);
}

/// A reader that finds an output missing has everything run again, in the middle of a job that caches.
///
/// Behaviours: DAG-050.
#[test]
fn a_fetch_failure_drops_what_other_tasks_of_the_job_have_cached() {
    let mut world = World::new();
    let reader = placed(persisted(shuffled(1, 2, 0, 0)), &[(1, "h2"), (2, "h3")]);
    world.executors(0, &["h1", "h2", "h3"], 2).rdds([
        indeterminate(two_places()),
        reader,
        shuffled(2, 2, 1, 1),
    ]);
    world.submit(2);
    world.finish_maps(&[0, 1], 2);
    report(&mut world, 1, 0, 0, true);
    world.finish_maps(&[2], 2);
    world.fail(3, fetch_failed(0, 0, 0, "h1"));

    let again = world.resubmit();

    assert_eq!(again.lines_with("stale"), ["remove stale blocks of rdd-1 before 1"]);
    assert_eq!(holders(&world, 0), []);
}

/// Shuffle 1 is complete, but what it was made from runs again for a job that does not read it.
///
/// Behaviours: DAG-050.
#[test]
fn outputs_of_finished_jobs_behind_a_new_run_are_made_again() {
    let mut world = World::new();
    let reader = placed(shuffled(1, 2, 0, 0), &[(2, "h3"), (2, "h3")]);
    world.executors(0, &["h1", "h2", "h3"], 4).rdds([
        indeterminate(two_places()),
        reader,
        shuffled(2, 2, 1, 1),
    ]);
    world.submit(2);
    world.finish_maps(&[0, 1], 2);
    world.finish_maps(&[2, 3], 2);
    world.finish(4);
    world.finish(5);
    world.send(Event::WorkerRemoved { host: "h1".into(), message: "gone".to_owned() });

    let rerun = world.submit(1);
    assert_eq!(rerun.lines_with("submitted"), ["* stage-3.0 submitted, 2 tasks"]);
    let results = world.finish_maps(&rerun.attempts(), 2).attempts();
    for attempt in results {
        world.finish(attempt);
    }

    assert_eq!(world.submit(2).lines_with("submitted"), ["* stage-6.0 submitted, 2 tasks"]);
}

/// The outputs that are left were made before the checkpoint, from rows in an order that it does not have.
///
/// Behaviours: DAG-050.
#[test]
fn outputs_from_before_a_checkpoint_are_not_completed_from_it() {
    let mut world = World::new();
    let rows = || placed(shuffled(1, 2, 0, 0), &[(1, "h2"), (2, "h3")]);
    world.executors(0, &["h1", "h2", "h3"], 4).rdds([
        indeterminate(two_places()),
        rows(),
        persisted(shuffled(2, 2, 1, 1)),
    ]);
    world.submit(2);
    world.finish_maps(&[0, 1], 2);
    world.finish_maps(&[2, 3], 2);
    world.finish(4);
    world.finish(5);
    world.rdds([RddNode { checkpointed: true, dependencies: Vec::new(), ..rows() }]);
    world.send(Event::WorkerRemoved { host: "h2".into(), message: "gone".to_owned() });

    let first = world.submit(2);
    assert_eq!(first.lines_with("submitted"), ["* stage-3.0 submitted, 2 tasks"]);
    assert_eq!(first.lines_with("stale"), ["remove stale blocks of rdd-2 before 1"]);
    let results = world.finish_maps(&first.attempts(), 2).attempts();
    for attempt in results {
        world.finish(attempt);
    }
    world.send(Event::WorkerRemoved { host: "h2".into(), message: "gone".to_owned() });

    let second = world.submit(2);
    assert_eq!(second.lines_with("submitted"), ["* stage-5.0 submitted, 1 tasks"], "now it can be repeated");
}

/// A job that reads only cached rows would go on with rows of the next run where one of them is dropped.
///
/// Behaviours: DAG-051.
#[test]
fn a_job_in_the_middle_of_cached_rows_does_not_outlive_their_run() {
    let mut world = cached_behind(indeterminate(two_places()));
    world.rdds([shuffled(3, 2, 0, 0)]);
    world.submit(2);
    world.send(Event::WorkerRemoved { host: "h1".into(), message: "gone".to_owned() });

    let other = world.submit(3);

    let reason =
        "a map stage with indeterminate output ran again while stage-3 was running; run the job again";
    assert_eq!(other.lines_with("job-1 failed"), [format!("job-1 failed by stage-3: {reason}")]);
}
