//! Registering, matching and merging profiles.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_types::{Cpus, ExecutorRequest, ProfileError, ProfileId, Properties, ResourceProfile, Share};

use super::harness::{cpus, executor, gpu_need, share};
use crate::resources::{ExecutorResources, ProfileManager, ProfileSupport, TaskNeed};

const LOCAL: ProfileSupport =
    ProfileSupport { local: true, dynamic_allocation: false, merge_conflicts: false };
const FIXED: ProfileSupport = ProfileSupport { local: false, ..LOCAL };
const DYNAMIC: ProfileSupport = ProfileSupport { dynamic_allocation: true, ..FIXED };
const MERGING: ProfileSupport = ProfileSupport { merge_conflicts: true, ..DYNAMIC };

fn default_profile(cores: Option<u32>, gpus: u32) -> ResourceProfile {
    let mut profile = ResourceProfile::default_profile(Cpus::ONE);
    let executor = profile.executor.as_mut().unwrap();
    executor.cores = cores;
    executor.resources.insert("gpu".into(), gpus);
    profile
}

fn manager(support: ProfileSupport) -> ProfileManager {
    ProfileManager::new(default_profile(None, 4), support).unwrap()
}

/// A task-only profile; its id must not be looked at.
fn task_only(task_cpus: &str, gpus: &str) -> ResourceProfile {
    ResourceProfile {
        id: ProfileId(77),
        executor: None,
        task_cpus: cpus(task_cpus),
        task_resources: gpu_need(gpus).resources,
    }
}

fn full(cores: u32, memory_mib: u64, gpus: u32, task: ResourceProfile) -> ResourceProfile {
    let resources = BTreeMap::from([("gpu".into(), gpus)]);
    ResourceProfile { executor: Some(ExecutorRequest { cores: Some(cores), memory_mib, resources }), ..task }
}

/// Behaviours: RP-001.
#[test]
fn ids_increase_and_equivalent_profiles_share_one() {
    let mut profiles = manager(DYNAMIC);
    let first = full(4, 2048, 2, task_only("1", "0.5"));
    let second = full(8, 2048, 2, task_only("1", "0.5"));

    assert_eq!(profiles.register(first.clone()), Ok(ProfileId(1)));
    assert_eq!(profiles.register(second), Ok(ProfileId(2)));
    assert_eq!(profiles.register(ResourceProfile { id: ProfileId(5), ..first.clone() }), Ok(ProfileId(1)));
    assert_eq!(profiles.get(ProfileId(1)), Some(&ResourceProfile { id: ProfileId(1), ..first }));
    assert_eq!(profiles.get(ProfileId::DEFAULT), Some(&default_profile(None, 4)));
    assert_eq!(profiles.need(ProfileId(1)), Some(&gpu_need("0.5")));
    assert_eq!(profiles.need(ProfileId::DEFAULT), Some(&TaskNeed::of_cpus(Cpus::ONE)));
    assert_eq!((profiles.get(ProfileId(3)), profiles.need(ProfileId(3))), (None, None));
}

/// Behaviours: RP-004, RP-005.
#[test]
fn a_malformed_profile_is_refused_and_leaves_no_trace() {
    let mut profiles = manager(DYNAMIC);

    let bad = profiles.register(full(4, 0, 2, task_only("1", "0.7")));

    let limit = share("0.5");
    assert_eq!(bad, Err(ProfileError::BadShare { resource: "gpu".into(), amount: share("0.7"), limit }));
    assert_eq!(profiles.get(ProfileId(1)), None);
    assert_eq!(profiles.register(full(4, 0, 2, task_only("1", "0.5"))), Ok(ProfileId(1)));
    let default = ResourceProfile { task_cpus: Cpus::ZERO, ..default_profile(None, 0) };
    let refused = ProfileManager::new(default, FIXED).map(|_| ());
    assert_eq!(refused, Err(ProfileError::BadCpus { cpus: Cpus::ZERO }));
}

/// Behaviours: RP-004, RP-006.
#[test]
fn a_task_only_profile_must_fit_the_executors_it_will_get() {
    let missing = Err(ProfileError::NotOnExecutor { resource: "gpu".into() });
    let default = || default_profile(Some(2), 4);
    let more = |resource: &str, wanted: &str, there: &str| {
        let (wanted, there) = (wanted.to_owned(), there.to_owned());
        Err(ProfileError::MoreThanExecutor { resource: resource.into(), wanted, there })
    };
    let mut fixed = ProfileManager::new(default(), FIXED).unwrap();
    let mut dynamic = ProfileManager::new(default(), DYNAMIC).unwrap();

    assert_eq!(fixed.register(task_only("1", "5")), more("gpu", "5", "4"));
    assert_eq!(fixed.register(task_only("3", "0")), more("cpus", "3", "2"));
    assert_eq!(fixed.register(task_only("2", "4")), Ok(ProfileId(1)));
    assert_eq!(dynamic.register(task_only("1", "1")), missing, "new executors have no gpus");
    assert_eq!(dynamic.register(task_only("2", "0")), Ok(ProfileId(1)));
}

/// Behaviours: RP-006.
#[test]
fn executors_serve_their_own_profile() {
    let mut profiles = manager(DYNAMIC);
    let own = profiles.register(full(4, 0, 1, task_only("1", "1"))).unwrap();
    let task = profiles.register(task_only("2", "0")).unwrap();

    assert!(profiles.can_run_on(own, own) && profiles.can_run_on(task, task));
    assert!(!profiles.can_run_on(own, ProfileId::DEFAULT));
    assert!(!profiles.can_run_on(ProfileId::DEFAULT, own));
    assert!(!profiles.can_run_on(task, ProfileId::DEFAULT), "executors are requested for it");
    assert!(!profiles.can_run_on(task, own));
}

/// Behaviours: RP-006.
#[test]
fn task_only_profiles_share_the_default_executors_without_dynamic_allocation() {
    let mut profiles = manager(FIXED);
    let task = profiles.register(task_only("2", "1")).unwrap();
    let other = profiles.register(task_only("1", "2")).unwrap();

    assert!(profiles.can_run_on(task, ProfileId::DEFAULT));
    assert!(!profiles.can_run_on(task, other));
    assert!(!profiles.can_run_on(ProfileId::DEFAULT, task));
    assert!(!profiles.can_run_on(ProfileId(9), ProfileId::DEFAULT), "it is not registered");
}

/// Behaviours: RP-007.
#[test]
fn full_profiles_need_dynamic_allocation_and_local_mode_has_none() {
    let whole = || full(4, 0, 1, task_only("1", "1"));

    assert_eq!(manager(FIXED).register(whole()), Err(ProfileError::NeedsDynamicAllocation));
    assert_eq!(manager(FIXED).register(task_only("1", "1")), Ok(ProfileId(1)));
    assert_eq!(manager(DYNAMIC).register(whole()), Ok(ProfileId(1)));
    assert_eq!(manager(LOCAL).register(whole()), Err(ProfileError::LocalMode));
    assert_eq!(manager(LOCAL).register(task_only("1", "1")), Err(ProfileError::LocalMode));
}

/// Behaviours: RP-008.
#[test]
fn profiles_meeting_in_a_stage_conflict_by_default() {
    let mut profiles = manager(DYNAMIC);
    let left = profiles.register(full(4, 0, 1, task_only("1", "1"))).unwrap();
    let right = profiles.register(full(8, 0, 1, task_only("1", "1"))).unwrap();

    assert_eq!(profiles.resolve(&BTreeSet::new()), Ok(ProfileId::DEFAULT));
    assert_eq!(profiles.resolve(&BTreeSet::from([right])), Ok(right));
    assert_eq!(profiles.resolve(&BTreeSet::from([right, left])), Err(ProfileError::Conflict { left, right }));
    let profile = ProfileId(9);
    assert_eq!(profiles.resolve(&BTreeSet::from([profile])), Err(ProfileError::Unknown { profile }));
}

/// Behaviours: RP-008.
#[test]
fn merging_takes_the_larger_of_each_amount_and_reuses_the_result() {
    let mut profiles = manager(MERGING);
    let mut third = full(2, 512, 3, task_only("1.5", "0"));
    third.executor.as_mut().unwrap().resources.insert("fpga".into(), 2);
    third.task_resources.insert("fpga".into(), Share::WHOLE);
    let all: BTreeSet<_> =
        [full(4, 1024, 1, task_only("1", "1")), full(2, 4096, 2, task_only("2", "0.5")), third]
            .map(|profile| profiles.register(profile).unwrap())
            .into();

    let merged = profiles.resolve(&all).unwrap();

    let mut expected = full(4, 4096, 3, task_only("2", "1"));
    expected.executor.as_mut().unwrap().resources.insert("fpga".into(), 2);
    expected.task_resources.insert("fpga".into(), Share::WHOLE);
    assert_eq!(profiles.get(merged), Some(&ResourceProfile { id: ProfileId(4), ..expected }));
    assert_eq!(profiles.resolve(&all), Ok(merged), "an equal one is reused");
}

/// Behaviours: RP-008.
#[test]
fn two_task_only_profiles_merge_into_a_task_only_one() {
    let mut profiles = manager(ProfileSupport { merge_conflicts: true, ..FIXED });
    let left = profiles.register(task_only("2", "0.5")).unwrap();
    let right = profiles.register(task_only("1", "2")).unwrap();

    let merged = profiles.resolve(&BTreeSet::from([left, right])).unwrap();

    assert_eq!(profiles.get(merged), Some(&ResourceProfile { id: ProfileId(3), ..task_only("2", "2") }));
    let with_default = profiles.resolve(&BTreeSet::from([ProfileId::DEFAULT, left]));
    assert_eq!(with_default, Err(ProfileError::NeedsDynamicAllocation), "the merged profile is full");
}

/// Behaviours: RP-008.
#[test]
fn a_merge_that_adds_nothing_to_the_default_profile_is_the_default_profile() {
    let mut profiles = manager(ProfileSupport { merge_conflicts: true, ..FIXED });
    let less = profiles.register(task_only("0.5", "0")).unwrap();

    assert_eq!(profiles.resolve(&BTreeSet::from([ProfileId::DEFAULT, less])), Ok(ProfileId::DEFAULT));
}

/// Behaviours: BACK-015.
#[test]
fn concurrent_tasks_count_all_executors_that_may_run_the_profile() {
    let mut profiles = manager(DYNAMIC);
    let two = profiles.register(task_only("2", "0")).unwrap();
    let four: Vec<_> = (0..4).map(|_| executor(3, &[])).collect();
    let of = |profile: ProfileId| four.iter().map(move |executor| (profile, executor));

    assert_eq!(profiles.max_concurrent_tasks(ProfileId::DEFAULT, of(ProfileId::DEFAULT)), 12);
    assert_eq!(profiles.max_concurrent_tasks(two, of(two)), 4);
    assert_eq!(profiles.max_concurrent_tasks(two, of(ProfileId::DEFAULT)), 0);
    assert_eq!(profiles.max_concurrent_tasks(ProfileId(9), of(ProfileId::DEFAULT)), 0);
}

/// Behaviours: TSI-005, BACK-015.
#[test]
fn concurrent_tasks_stop_at_the_31_bit_maximum() {
    let default = ResourceProfile { task_cpus: Cpus::nanos(1), ..default_profile(None, 0) };
    let profiles = ProfileManager::new(default, FIXED).unwrap();
    let big = ExecutorResources::new(Cpus::cores(64), BTreeMap::new());

    let tasks = profiles.max_concurrent_tasks(ProfileId::DEFAULT, [(ProfileId::DEFAULT, &big); 5]);

    assert_eq!(tasks, i32::MAX as u32);
}

/// Behaviours: RP-002, RP-003.
#[test]
fn executors_of_a_profile_inherit_cores_and_memory_from_the_default() {
    let mut profiles = ProfileManager::new(default_profile(Some(3), 4), DYNAMIC).unwrap();
    let mut profile = full(1, 0, 2, task_only("1", "0.5"));
    profile.executor.as_mut().unwrap().cores = None;

    let id = profiles.register(profile).unwrap();

    let resources = BTreeMap::from([("gpu".into(), 2)]);
    let expected = ExecutorRequest { cores: Some(3), memory_mib: 1024, resources };
    assert_eq!(profiles.executor(id), Some(&expected));
    assert_eq!(profiles.slots_per_executor(id), Some((3, Some("cpus"))));
    assert_eq!(manager(FIXED).slots_per_executor(ProfileId::DEFAULT), Some((1, None)));
}

/// Behaviours: RP-012.
#[test]
fn a_stage_gets_a_copy_of_the_properties_with_what_its_profile_says() {
    let mut profiles = manager(DYNAMIC);
    let id = profiles.register(full(4, 0, 1, task_only("1", "0.5"))).unwrap();
    let job = Properties::default().with(Properties::POOL, "etl").with(ProfileManager::EXECUTOR_CORES, "9");
    let before = job.clone();

    let stage = profiles.stage_properties(id, &job);

    let expected = job.with("resource.executor.cores", "4").with("resource.maxTasksPerExecutor", "2");
    assert_eq!(stage, expected);
    assert_eq!(job, before);
    assert_eq!(profiles.stage_properties(ProfileId::DEFAULT, &job), job, "nothing is known of its executors");
}

/// Behaviours: RP-012.
#[test]
fn shared_executors_are_split_by_cpus_alone() {
    let mut profiles = ProfileManager::new(default_profile(Some(4), 1), FIXED).unwrap();
    let id = profiles.register(task_only("3", "1")).unwrap();

    let stage = profiles.stage_properties(id, &Properties::default());

    let expected =
        Properties::default().with("resource.executor.cores", "4").with("resource.maxTasksPerExecutor", "2");
    assert_eq!(stage, expected, "rounded up: other profiles' tasks may have the rest of the cores");
}
