//! Taking, giving back and counting slots on one executor.

use std::collections::BTreeMap;

use firesteel_types::{Cpus, ResourceAssignment, Share};
use proptest::prelude::*;

use super::harness::{cpus, executor, gpu_need, share};
use crate::resources::{ExecutorResources, ResourceError, TaskNeed};

fn assigned(gpus: &[(&str, &str)]) -> ResourceAssignment {
    let gpus = gpus.iter().map(|&(address, amount)| (address.into(), share(amount))).collect();
    BTreeMap::from([("gpu".into(), gpus)])
}

/// Takes until nothing fits.
fn take_all(executor: &mut ExecutorResources, need: &TaskNeed) -> Vec<ResourceAssignment> {
    std::iter::from_fn(|| executor.take(need)).collect()
}

/// Behaviours: TSI-004, TSI-005.
#[test]
fn an_executor_takes_as_many_tasks_as_its_cpus_allow() {
    let tasks = |cores, each: &str| {
        let mut executor = ExecutorResources::new(Cpus::cores(cores), BTreeMap::new());
        let need = TaskNeed::of_cpus(cpus(each));
        let taken = take_all(&mut executor, &need);
        assert!(taken.iter().all(BTreeMap::is_empty));
        assert!(!executor.can_take(&need));
        (taken.len(), executor.cpus_free())
    };

    assert_eq!(tasks(1, "2"), (0, Cpus::ONE));
    assert_eq!(tasks(4, "2"), (2, Cpus::ZERO));
    assert_eq!(tasks(1, "0.2"), (5, Cpus::ZERO));
    assert_eq!(tasks(4, "1.5"), (2, Cpus::ONE));
}

/// Behaviours: TSI-004.
#[test]
fn a_task_fits_only_if_every_resource_is_free() {
    let mut two = executor(4, &["0"]);
    let mut need = gpu_need("1");
    need.resources.insert("fpga".into(), Share::WHOLE);

    assert!(!two.can_take(&need), "it has no fpga");
    assert_eq!(two.take(&need), None);
    assert!(two.is_all_free(), "a task that does not fit takes nothing");
    assert_eq!(two.take(&gpu_need("1")), Some(assigned(&[("0", "1")])));
    assert!(!two.can_take(&gpu_need("0.1")), "the gpu is taken");
    assert!(two.can_take(&TaskNeed::of_cpus(Cpus::cores(3))));
}

/// Behaviours: TSI-005, BACK-005.
#[test]
fn repeated_taking_and_giving_back_leaves_no_residue() {
    let mut executor = executor(1, &["0"]);
    let before = executor.clone();
    let need = TaskNeed { cpus: cpus("0.1"), ..gpu_need("0.1") };

    for _ in 0..1_000 {
        let taken = take_all(&mut executor, &need);
        assert_eq!(taken.len(), 10);
        for assignment in taken {
            executor.give_back(need.cpus, &assignment).unwrap();
        }
    }

    assert_eq!(executor, before);
}

/// Behaviours: RP-009.
#[test]
fn whole_amounts_take_entirely_free_addresses_in_order() {
    let mut executor = executor(8, &["3", "1", "0", "2", "1"]);
    executor.take(&gpu_need("0.5"));

    let taken = take_all(&mut executor, &gpu_need("2"));

    assert_eq!(taken, [assigned(&[("1", "1"), ("2", "1")])], "0 is in use and 3 is not enough");
    assert_eq!(executor.take(&gpu_need("1")), Some(assigned(&[("3", "1")])));
}

/// Behaviours: RP-009.
#[test]
fn parts_fill_one_address_before_the_next() {
    let mut executor = executor(8, &["b", "a"]);

    let taken = take_all(&mut executor, &gpu_need("0.4"));

    let part = |address| assigned(&[(address, "0.4")]);
    assert_eq!(taken, [part("a"), part("a"), part("b"), part("b")]);
    executor.give_back(Cpus::ONE, &part("a")).unwrap();
    assert_eq!(executor.take(&gpu_need("0.5")), Some(assigned(&[("a", "0.5")])));
    assert_eq!(executor.take(&gpu_need("0.2")), Some(assigned(&[("b", "0.2")])), "a has 0.1 left");
}

/// Behaviours: RP-004.
#[test]
fn a_need_of_zero_takes_no_address() {
    let mut executor = executor(1, &["0"]);

    assert_eq!(executor.take(&gpu_need("0")), Some(BTreeMap::new()));

    assert_eq!(executor.taken_addresses("gpu").count(), 0);
}

/// Behaviours: RP-010.
#[test]
fn exactly_n_tasks_of_an_nth_share_an_address_and_free_it_entirely() {
    for n in (1..=100).chain([333, 1_000, 4_999]) {
        let mut executor = executor(n + 1, &["0"]);
        let need =
            TaskNeed { cpus: Cpus::ONE, resources: BTreeMap::from([("gpu".into(), Share::one_of(n))]) };

        let taken = take_all(&mut executor, &need);

        assert_eq!(taken.len(), n as usize);
        for assignment in &taken {
            executor.give_back(Cpus::ONE, assignment).unwrap();
        }
        assert!(executor.is_all_free() && executor.can_take(&gpu_need("1")));
    }
}

/// Behaviours: RP-011, BACK-005.
#[test]
fn giving_back_what_was_not_taken_is_an_error_and_changes_nothing() {
    let mut executor = executor(4, &["0", "1"]);
    executor.take(&gpu_need("0.5"));
    executor.take(&gpu_need("0.25"));
    let before = executor.clone();
    let (gpu, zero) = (|| "gpu".into(), || "0".into());
    let half = share("0.5");

    let mut fails = |cpus, assignment: &ResourceAssignment, error| {
        assert_eq!(executor.give_back(cpus, assignment), Err(error));
        assert_eq!(executor, before);
    };

    fails(
        Cpus::cores(3),
        &BTreeMap::new(),
        ResourceError::TooManyCpus { given: Cpus::cores(3), taken: Cpus::cores(2) },
    );
    let whole = ResourceError::BeyondWhole {
        resource: gpu(),
        address: zero(),
        given: Share::WHOLE,
        free: share("0.25"),
    };
    fails(Cpus::ONE, &assigned(&[("0", "1")]), whole);
    let twice =
        ResourceError::BeyondWhole { resource: gpu(), address: zero(), given: half, free: share("0.75") };
    fails(Cpus::ONE, &assigned(&[("0", "0.5"), ("0", "0.5")]), twice);
    let nine = ResourceError::UnknownAddress { resource: gpu(), address: "9".into() };
    fails(Cpus::ONE, &assigned(&[("0", "0.5"), ("9", "0.5")]), nine);
    let mut unknown = assigned(&[("0", "0.5")]);
    unknown.insert("tpu".into(), vec![]);
    fails(Cpus::ONE, &unknown, ResourceError::UnknownResource { resource: "tpu".into() });
}

/// Behaviours: RP-011.
#[test]
fn taking_more_than_is_left_is_an_error_and_changes_nothing() {
    let mut executor = executor(2, &["0", "1"]);
    executor.take_exactly(Cpus::ONE, &assigned(&[("1", "0.5")])).unwrap();
    let before = executor.clone();

    let mut fails = |cpus, assignment: &ResourceAssignment, error| {
        assert_eq!(executor.take_exactly(cpus, assignment), Err(error));
        assert_eq!(executor, before);
    };

    let cpus = ResourceError::NotEnoughCpus { wanted: Cpus::cores(2), free: Cpus::ONE };
    fails(Cpus::cores(2), &BTreeMap::new(), cpus);
    let one = ResourceError::NotEnoughLeft {
        resource: "gpu".into(),
        address: "1".into(),
        wanted: share("0.6"),
        free: share("0.5"),
    };
    fails(Cpus::ONE, &assigned(&[("0", "1"), ("1", "0.6")]), one);
    let two = ResourceError::UnknownAddress { resource: "gpu".into(), address: "2".into() };
    fails(Cpus::ONE, &assigned(&[("0", "1"), ("2", "1")]), two);
    let tpu = BTreeMap::from([("tpu".into(), vec![("0".into(), Share::WHOLE)])]);
    fails(Cpus::ONE, &tpu, ResourceError::UnknownResource { resource: "tpu".into() });
}

/// Behaviours: RP-014, BACK-005.
#[test]
fn busy_addresses_show_as_taken_until_their_tasks_end() {
    let mut executor = executor(4, &["0", "1", "2"]);
    let taken = |executor: &ExecutorResources| {
        executor.taken_addresses("gpu").map(ToString::to_string).collect::<Vec<_>>()
    };

    let whole = executor.take(&gpu_need("1")).unwrap();
    let part = executor.take(&gpu_need("0.5")).unwrap();

    assert_eq!(taken(&executor), ["0", "1"]);
    let free: Vec<_> = executor.addresses().map(|(_, address, free)| format!("{address}: {free}")).collect();
    assert_eq!(free, ["0: 0", "1: 0.5", "2: 1"]);
    assert_eq!(executor.taken_addresses("tpu").count(), 0);
    executor.give_back(Cpus::ONE, &whole).unwrap();
    assert_eq!(taken(&executor), ["1"]);
    executor.give_back(Cpus::ONE, &part).unwrap();
    assert!(executor.is_all_free());
    assert_eq!((executor.cpus_free(), executor.cpus_total()), (Cpus::cores(4), Cpus::cores(4)));
}

/// Behaviours: BACK-015.
#[test]
fn total_slots_count_busy_and_free_addresses_alike() {
    let mut executor = executor(20, &["0", "1", "2", "3"]);
    take_all(&mut executor, &gpu_need("1"));

    let slots = ["0.2", "0.3", "0.4", "0.5", "0.8", "1", "2", "3", "4"]
        .map(|each| executor.total_slots(&gpu_need(each)));

    assert_eq!(slots, [20, 12, 8, 8, 4, 4, 2, 1, 1]);
    assert_eq!(executor.total_slots(&gpu_need("0.1")), 20, "cpus are the limit");
    assert_eq!(executor.free_slots(&gpu_need("0.3")), 0);
}

#[test]
fn free_slots_count_what_is_left_of_each_address() {
    let mut executor = executor(20, &["0", "1", "2"]);
    executor.take(&gpu_need("0.5"));

    assert_eq!(executor.free_slots(&gpu_need("0.2")), 12);
    assert_eq!(executor.free_slots(&gpu_need("1")), 2);
    assert_eq!(executor.free_slots(&gpu_need("2")), 1);
    assert_eq!(executor.free_slots(&TaskNeed::of_cpus(Cpus::cores(2))), 9);
}

proptest! {
    /// Behaviours: TSI-004, BACK-005.
    #[test]
    fn what_is_taken_comes_back_and_slots_foretell_what_fits(
        steps in prop::collection::vec((0..6_usize, any::<bool>(), any::<prop::sample::Index>()), 1..80),
    ) {
        let mut executor = executor(8, &["0", "1", "2", "3"]);
        let needs = ["0", "0.3", "0.5", "0.8", "1", "2"].map(gpu_need);
        let mut running = Vec::new();
        for (which, ends, pick) in steps {
            if ends && !running.is_empty() {
                let (cpus, assignment): (Cpus, _) = running.swap_remove(pick.index(running.len()));
                executor.give_back(cpus, &assignment).unwrap();
                continue;
            }
            let need = &needs[which];
            let slots = executor.free_slots(need);
            prop_assert!(slots <= executor.total_slots(need));
            prop_assert_eq!(slots, take_all(&mut executor.clone(), need).len() as u32);
            prop_assert_eq!(executor.can_take(need), slots > 0);
            running.extend(executor.take(need).map(|assignment| (need.cpus, assignment)));
        }
        for (cpus, assignment) in running {
            executor.give_back(cpus, &assignment).unwrap();
        }
        prop_assert!(executor.is_all_free());
    }
}
