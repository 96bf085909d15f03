//! Resource profiles through the whole scheduler.

use std::collections::BTreeMap;

use firesteel_scheduler::{Effect, Event, SchedulerConfig};
use firesteel_types::{
    Cpus, ExecutorId, ExecutorRequest, ListenerEvent, ProfileId, Properties, ResourceProfile, Share,
};

use crate::harness::{World, executor_spec, property, shuffled, source};

/// Registers a profile whose tasks take one cpu and `amount` of a resource.
pub fn register_task_profile(world: &mut World, resource: &str, amount: Share) -> ProfileId {
    register(world, None, BTreeMap::from([(resource.into(), amount)]))
}

fn register(
    world: &mut World,
    executor: Option<ExecutorRequest>,
    task_resources: BTreeMap<firesteel_types::ResourceName, Share>,
) -> ProfileId {
    let profile = ResourceProfile { id: ProfileId(99), executor, task_cpus: Cpus::ONE, task_resources };
    let answer = world.send(Event::ProfileRegistered { profile });
    let id = answer.0.iter().find_map(|effect| match effect {
        Effect::ProfileAnswer(Ok(id)) => Some(*id),
        _ => None,
    });
    id.expect("the test's profile is valid")
}

/// A scheduler whose executors have two gpus.
fn with_gpus(dynamic_allocation: bool) -> World {
    let mut config = SchedulerConfig { dynamic_allocation, ..SchedulerConfig::default() };
    let executor = config.default_profile.executor.get_or_insert_default();
    (executor.cores, executor.resources) = (Some(4), BTreeMap::from([("gpu".into(), 2)]));
    World::with(config)
}

fn gpu_executor(world: &mut World, id: u32, profile: ProfileId) {
    let mut spec = executor_spec(id, "h1", 4);
    spec.resources.insert("gpu".into(), vec!["1".into(), "0".into()]);
    spec.profile = profile;
    world.send(Event::ExecutorRegistered(spec));
    world.send(Event::ExecutorLaunched { executor: ExecutorId(id) });
}

fn addresses(world: &World, executor: u32) -> Vec<(String, Share)> {
    let status = world.scheduler.executor_status(ExecutorId(executor)).expect("it is registered");
    status.addresses.into_iter().map(|(resource, at, free)| (format!("{resource} {at}"), free)).collect()
}

/// Behaviours: RP-006.
#[test]
fn executors_run_only_tasks_of_their_own_profile() {
    let mut world = with_gpus(true);
    let request = ExecutorRequest { cores: Some(4), ..ExecutorRequest::default() };
    let profile = register(&mut world, Some(request), BTreeMap::new());
    gpu_executor(&mut world, 0, ProfileId::DEFAULT);
    gpu_executor(&mut world, 1, profile);
    let mut special = source(1, 2);
    special.profile = Some(profile);
    world.rdds([source(0, 5), special]);

    let ordinary = world.submit(0);
    let own = world.submit(1);

    let places = |effects: &crate::harness::Effects| -> Vec<u32> {
        effects.launches().iter().map(|task| task.executor.0).collect()
    };
    assert_eq!(places(&ordinary), [0; 4], "the fifth waits, though executor 1 is free");
    assert_eq!(places(&own), [1; 2]);
}

/// Behaviours: RP-006.
#[test]
fn a_task_only_profile_uses_the_default_executors_where_nobody_asks_for_others() {
    for (dynamic_allocation, expected) in [(false, 1), (true, 0)] {
        let mut world = with_gpus(dynamic_allocation);
        let profile = register(&mut world, None, BTreeMap::new());
        gpu_executor(&mut world, 0, ProfileId::DEFAULT);
        let mut special = source(0, 1);
        special.profile = Some(profile);
        world.rdds([special]);

        // The amounts equal those of the default profile, but it is not the same profile.
        assert_eq!(profile, ProfileId(1));
        assert_eq!(world.submit(0).launches().len(), expected);
    }
}

/// Behaviours: RP-012.
#[test]
fn what_follows_from_a_profile_goes_into_a_copy_of_the_jobs_properties() {
    let mut world = with_gpus(false);
    let profile = register_task_profile(&mut world, "gpu", Share::addresses(1));
    gpu_executor(&mut world, 0, ProfileId::DEFAULT);
    let mut special = source(0, 1);
    special.profile = Some(profile);
    world.rdds([special, shuffled(1, 1, 0, 0)]);
    let job = property("mine", "1");
    let stage = job.with("resource.executor.cores", "4").with("resource.maxTasksPerExecutor", "4");

    let submitted = world.submit_with(1, job.clone());

    let seen: Vec<(&str, &Properties)> = submitted
        .0
        .iter()
        .filter_map(|effect| match effect {
            Effect::Post(ListenerEvent::JobStart { properties, .. }) => Some(("job", properties)),
            Effect::Post(ListenerEvent::StageSubmitted { properties, .. }) => Some(("stage", properties)),
            Effect::PrepareStage(launch) => Some(("launch", &launch.properties)),
            _ => None,
        })
        .collect();
    assert_eq!(seen, [("job", &job), ("stage", &stage), ("launch", &stage)]);
}

/// Behaviours: RP-014, BACK-005.
#[test]
fn addresses_are_taken_while_tasks_run_and_free_when_they_end() {
    let mut world = with_gpus(false);
    let half: Share = "0.5".parse().expect("the amount is well-formed");
    let profile = register_task_profile(&mut world, "gpu", half);
    gpu_executor(&mut world, 0, ProfileId::DEFAULT);
    let mut special = source(0, 3);
    special.profile = Some(profile);
    world.rdds([special]);
    let free = |first: Share, second: Share| vec![("gpu 0".to_owned(), first), ("gpu 1".to_owned(), second)];

    assert_eq!(addresses(&world, 0), free(Share::WHOLE, Share::WHOLE));
    let submitted = world.submit(0);
    assert_eq!(addresses(&world, 0), free(Share::ZERO, half));
    let given: Vec<_> = submitted.launches().iter().map(|task| task.resources.clone()).collect();
    let on = |address: &str| BTreeMap::from([("gpu".into(), vec![(address.into(), half)])]);
    assert_eq!(given, [on("0"), on("0"), on("1")]);
    world.finish(2);
    assert_eq!(addresses(&world, 0), free(Share::ZERO, Share::WHOLE));
    world.finish(0);
    world.finish(1);

    assert_eq!(addresses(&world, 0), free(Share::WHOLE, Share::WHOLE));
    world.assert_quiescent();
}
