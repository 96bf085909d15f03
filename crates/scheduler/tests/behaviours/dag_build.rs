//! From a lineage to stages, and jobs that are refused.

use std::sync::Arc;

use firesteel_scheduler::{Effect, Event, JobError, JobRejection, JobSpec, Partitions};
use firesteel_types::{
    Dependency, JobId, ListenerEvent, NarrowMap, PartitionId, ProfileId, Properties, RddId, RddNode,
    StageInfo,
};

use crate::harness::{Effects, World, derived, map, one_to_one, shuffle_dependency, shuffled, source};

/// Stage, last RDDs, parents and tasks of each stage of the job that the effects start.
fn stages(effects: &Effects) -> Vec<String> {
    let start = effects.0.iter().find_map(|effect| match effect {
        Effect::Post(ListenerEvent::JobStart { stages, .. }) => Some(stages),
        _ => None,
    });
    let show = |info: &Arc<StageInfo>| {
        let shuffle = info.shuffle.map(|shuffle| format!(" writes {shuffle}")).unwrap_or_default();
        format!("{} of {:?} from {:?}, {} tasks{shuffle}", info.id, info.rdds, info.parents, info.tasks)
    };
    start.expect("a job starts").iter().map(show).collect()
}

/// Behaviours: DAG-001, DAG-002.
#[test]
fn a_stage_is_a_run_of_rdds_joined_by_narrow_dependencies() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([
        source(0, 3),
        map(1, 3, 0),
        shuffled(2, 2, 7, 1),
        map(3, 2, 2),
        shuffled(4, 4, 8, 3),
        map(5, 4, 4),
    ]);

    let submitted = world.submit(5);

    assert_eq!(
        stages(&submitted),
        [
            "stage-0.0 of [rdd-1, rdd-0] from [], 3 tasks writes shuffle-7",
            "stage-1.0 of [rdd-3, rdd-2] from [stage-0], 2 tasks writes shuffle-8",
            "stage-2.0 of [rdd-5, rdd-4] from [stage-1], 4 tasks",
        ]
    );
    assert_eq!(
        submitted.lines(),
        [
            "* job-0 starts [stage-0.0, stage-1.0, stage-2.0]",
            "* stage-0.0 submitted, 3 tasks",
            "prepare stage-0.0 for shuffle-7",
            "* attempt-0 starts",
            "launch attempt-0 = stage-0.0 partition-0 try-0 on executor-0 Process",
        ]
    );
}

/// Behaviours: DAG-002.
#[test]
fn parents_have_lower_ids_however_the_lineage_is_shaped() {
    let mut world = World::new();
    // The near shuffle 1 comes before the far one in the list of dependencies, and 0 feeds both.
    world.rdds([
        source(0, 1),
        shuffled(1, 1, 0, 0),
        shuffled(2, 1, 1, 1),
        derived(3, 1, vec![shuffle_dependency(2, 2, 1), shuffle_dependency(3, 0, 1)]),
    ]);

    let submitted = world.submit(3);

    assert_eq!(
        stages(&submitted),
        [
            "stage-0.0 of [rdd-0] from [], 1 tasks writes shuffle-0",
            "stage-1.0 of [rdd-1] from [stage-0], 1 tasks writes shuffle-1",
            "stage-2.0 of [rdd-2] from [stage-1], 1 tasks writes shuffle-2",
            "stage-3.0 of [rdd-0] from [], 1 tasks writes shuffle-3",
            "stage-4.0 of [rdd-3] from [stage-2, stage-3], 1 tasks",
        ]
    );
}

/// The lineage of Spark's test for duplicate stages: shuffle 0 is reached on three paths.
///
/// Behaviours: DAG-003.
#[test]
fn a_shuffle_on_several_paths_is_one_stage() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([
        source(0, 1),
        shuffled(1, 1, 0, 0),
        derived(2, 1, vec![shuffle_dependency(0, 0, 1), shuffle_dependency(1, 1, 1)]),
        derived(3, 1, vec![one_to_one(2), shuffle_dependency(0, 0, 1)]),
    ]);

    let submitted = world.submit(3);

    assert_eq!(
        stages(&submitted),
        [
            "stage-0.0 of [rdd-0] from [], 1 tasks writes shuffle-0",
            "stage-1.0 of [rdd-1] from [stage-0], 1 tasks writes shuffle-1",
            "stage-2.0 of [rdd-3, rdd-2] from [stage-0, stage-1], 1 tasks",
        ]
    );
    world.finish_map(0, &[1]);
    world.finish_map(1, &[1]);
    let last = world.finish(2);
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
    world.assert_quiescent();
}

/// Behaviours: DAG-004.
#[test]
fn only_the_first_shuffle_on_each_path_is_a_direct_parent() {
    let mut world = World::new();
    // 0 --shuffle 0--> 1 --shuffle 1--> 2 --narrow--+--> 4, and 3 --shuffle 2--> 4.
    world.rdds([
        source(0, 1),
        shuffled(1, 1, 0, 0),
        shuffled(2, 1, 1, 1),
        source(3, 1),
        derived(4, 1, vec![one_to_one(2), shuffle_dependency(2, 3, 1)]),
    ]);

    let submitted = world.submit(4);

    assert_eq!(
        stages(&submitted),
        [
            "stage-0.0 of [rdd-3] from [], 1 tasks writes shuffle-2",
            "stage-1.0 of [rdd-0] from [], 1 tasks writes shuffle-0",
            "stage-2.0 of [rdd-1] from [stage-1], 1 tasks writes shuffle-1",
            "stage-3.0 of [rdd-4, rdd-2] from [stage-0, stage-2], 1 tasks",
        ]
    );
}

/// Behaviours: DAG-009.
#[test]
fn a_partition_that_does_not_exist_is_refused_at_once() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 3)]);

    let refused = world.submit_partitions(0, &[0, 3]);
    let next = world.submit_partitions(0, &[2]);

    let rejection = JobRejection::NoSuchPartition { rdd: RddId(0), partition: PartitionId(3), partitions: 3 };
    let error = JobError::Rejected(rejection);
    assert_eq!(refused.0, [Effect::JobFailed { job: JobId(0), error }]);
    assert_eq!(next.partitions(), [2]);
}

/// Behaviours: DAG-010, DAG-011.
#[test]
fn a_job_over_no_partitions_is_over_at_once() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 2), source(1, 0)]);
    let properties = Properties::default().with("color", "red");

    let listed = world.submit_spec(0, Partitions::Listed(Arc::from([])), properties.clone());
    let later = properties.with("color", "blue");
    let empty = world.submit_with(1, later);

    let lines =
        |job: &str| vec![format!("* {job} starts []"), format!("* {job} ends"), format!("{job} succeeded")];
    assert_eq!(listed.lines(), lines("job-0"));
    assert_eq!(empty.lines(), lines("job-1"));
    let Effect::Post(ListenerEvent::JobStart { properties: posted, .. }) = &listed.0[0] else {
        panic!("a job start comes first: {listed:?}");
    };
    assert_eq!(posted.get("color"), Some("red"));
    world.assert_quiescent();
}

/// Properties are immutable, so what the caller makes of them later is another value.
///
/// Behaviours: DAG-011.
#[test]
fn a_job_keeps_the_properties_it_was_submitted_with() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1), shuffled(1, 1, 0, 0)]);
    let properties = Properties::default().with("color", "red");

    let mut effects = world.submit_with(1, properties.clone()).0;
    let _later = properties.with("color", "blue");
    effects.extend(world.finish_map(0, &[1]).0);

    let seen: Vec<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Post(
                ListenerEvent::JobStart { properties, .. } | ListenerEvent::StageSubmitted { properties, .. },
            ) => Some(properties),
            Effect::PrepareStage(stage) => Some(&stage.properties),
            _ => None,
        })
        .map(|properties| properties.get("color"))
        .collect();
    assert_eq!(seen, [Some("red"); 5]);
}

/// Partitions are part of the lineage. One that could not be computed is never registered, and what depends on
/// it is refused without harm.
///
/// Behaviours: DAG-012.
#[test]
fn an_rdd_without_partitions_to_its_name_leaves_the_scheduler_usable() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);

    let child = world.send(Event::RddsRegistered(vec![map(2, 1, 1)]));
    let refused = world.submit(2);
    let next = world.submit(0);

    assert_eq!(child.lines(), ["ignored: rdd-2 is malformed: its parent rdd-1 is not registered"]);
    assert_eq!(refused.lines(), ["job-0 failed: rdd-2 is not registered"]);
    assert_eq!(next.partitions(), [0]);
}

/// Behaviours: DAG-014.
#[test]
fn an_error_while_stages_are_built_fails_that_job_alone() {
    let mut world = World::new();
    let unknown_profile = RddNode { profile: Some(ProfileId(9)), ..shuffled(2, 1, 1, 1) };
    let changed = Dependency::Shuffle(firesteel_types::ShuffleDependency::new(
        firesteel_types::ShuffleId(0),
        RddId(0),
        5,
    ));
    world.executors(0, &["h1"], 1).rdds([
        source(0, 1),
        shuffled(1, 1, 0, 0),
        unknown_profile,
        derived(3, 5, vec![changed]),
    ]);
    let first = world.submit(1);

    // Stages for shuffles 0 and 1 were there or made before the profile was found to be unknown.
    let profile = world.submit(2);
    let shape = world.submit(3);

    assert_eq!(first.partitions(), [0]);
    assert_eq!(profile.lines(), ["job-1 failed: profile-9 is not registered"]);
    assert_eq!(shape.lines(), ["job-2 failed: shuffle-0 was registered with other numbers of partitions"]);
    world.finish_map(0, &[1]);
    let last = world.finish(1);
    assert_eq!(last.lines_with("succeeded"), ["job-0 succeeded"]);
}

/// Behaviours: DAG-014.
#[test]
fn a_job_of_an_unknown_rdd_or_with_a_taken_id_is_refused() {
    let mut world = World::new();
    world.executors(0, &["h1"], 1).rdds([source(0, 1)]);
    world.submit(0);
    let spec = |job: u32, rdd: u32| {
        let (job, rdd) = (JobId(job), RddId(rdd));
        Event::JobSubmitted(JobSpec {
            job,
            rdd,
            partitions: Partitions::All,
            properties: Properties::default(),
            rows_seen: None,
        })
    };

    let unknown = world.send(spec(1, 9));
    let again = world.send(spec(0, 0));

    assert_eq!(unknown.lines(), ["job-1 failed: rdd-9 is not registered"]);
    assert_eq!(again.lines(), ["job-0 failed: job-0 was submitted before"]);
}

/// Behaviours: DAG-001.
#[test]
fn a_lineage_that_contradicts_itself_is_refused_as_a_whole() {
    let mut world = World::new();
    world.rdds([source(0, 2)]);
    let mut register = |nodes: Vec<RddNode>| world.send(Event::RddsRegistered(nodes)).lines().join("; ");

    let cycle = register(vec![map(1, 1, 2), map(2, 1, 1)]);
    let itself = register(vec![map(1, 1, 1)]);
    let rewired = register(vec![map(0, 2, 3), map(3, 2, 0)]);
    let grown = register(vec![source(0, 3)]);
    let too_few = register(vec![map(1, 3, 0)]);
    let nothing = register(vec![map(4, 1, 1)]);

    assert_eq!(cycle, "ignored: rdd-1 is malformed: it depends on itself");
    assert_eq!(itself, "ignored: rdd-1 is malformed: it depends on itself");
    assert_eq!(rewired, "ignored: rdd-0 is malformed: it depends on itself");
    assert_eq!(grown, "ignored: rdd-0 is malformed: it had 2 partitions before and has 3 now");
    assert_eq!(too_few, "ignored: rdd-1 is malformed: rdd-0 has only 2 partitions");
    assert_eq!(nothing, "ignored: rdd-4 is malformed: its parent rdd-1 is not registered");
}

/// A union: each partition comes from one of two parents.
///
/// Behaviours: DAG-001.
#[test]
fn a_union_and_its_parents_are_one_stage() {
    let mut world = World::new();
    let range = |parent: u32, child_start: u32, len: u32| Dependency::Narrow {
        parent: RddId(parent),
        map: NarrowMap::Range { parent_start: 0, child_start, len },
    };
    world.executors(0, &["h1"], 9).rdds([
        source(0, 1),
        source(1, 2),
        derived(2, 3, vec![range(0, 0, 1), range(1, 1, 2)]),
    ]);

    let submitted = world.submit(2);

    assert_eq!(stages(&submitted), ["stage-0.0 of [rdd-2, rdd-0, rdd-1] from [], 3 tasks"]);
    assert_eq!(submitted.partitions(), [0, 1, 2]);
}
