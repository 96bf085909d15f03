//! Which worker gets which executor.

use std::collections::BTreeMap;

use firesteel_types::{AppId, ExecutorId, ExecutorRequest, ProfileId, WorkerId};

use super::{super::*, harness::*};

fn packed() -> MasterConfig {
    MasterConfig { app_placement: Placement::Packed, ..MasterConfig::default() }
}

fn executor(cores: u32, memory_mib: u64) -> ExecutorRequest {
    ExecutorRequest { cores: Some(cores), memory_mib, resources: BTreeMap::new() }
}

/// Behaviours: MAST-004, MAST-028.
#[test]
fn an_application_without_a_maximum_takes_every_core() {
    let mut cluster = cluster(3);

    let peer = Peer(1_000);
    let effects = cluster.send(MasterEvent::RegisterApplication {
        peer,
        app: AppDescription { executor_limit: Some(1), ..app(None, 128) },
    });

    let id = AppId::from("app-20260101000000-0000");
    let stored = StoredApp {
        id: id.clone(),
        registered: START,
        description: AppDescription { executor_limit: Some(1), ..app(None, 128) },
    };
    let added = AppMessage::ExecutorAdded {
        executor: ExecutorId(0),
        worker: w(2),
        host: "h2".into(),
        port: 7078,
        cores: 10,
        memory_mib: 128,
    };
    assert_eq!(
        effects,
        [
            MasterEffect::Persist(StoredObject::App(stored)),
            MasterEffect::ToClient { peer, reply: Reply::RegisteredApplication { app: id.clone() } },
            to_worker(2, launch(&id, 0, grant(10, 128))),
            to_app(&id, added),
        ]
    );
    cluster.set_limit(&id, 100);
    assert_eq!(cluster.cores(&id), [10, 10, 10]);
}

/// Behaviours: MAST-028.
#[test]
fn the_masters_default_bounds_applications_without_a_maximum() {
    let mut cluster = cluster_with(MasterConfig { default_cores: Some(6), ..MasterConfig::default() }, 3);

    let without = cluster.app(app(None, 128));
    let with = cluster.app(AppDescription { cores_max: Some(9), ..app(None, 128) });

    assert_eq!(cluster.cores(&without), [2, 2, 2]);
    assert_eq!(cluster.cores(&with), [3, 3, 3]);
}

/// Behaviours: MAST-005, MAST-006, MAST-007.
#[test]
fn the_whole_machine_places_like_the_arithmetic() {
    let cases = [
        (app(None, 128), Some(8), None, [2, 3, 3], [0, 0, 8]),
        (app(None, 128), Some(16), None, [5, 5, 6], [0, 6, 10]),
        (app(2, 128), None, None, [8, 8, 8], [8, 8, 8]),
        (app(3, 32), Some(20), None, [6, 6, 6], [0, 9, 9]),
        (app(None, 256), Some(16), Some(2), [0, 8, 8], [0, 6, 10]),
        (app(4, 256), None, Some(2), [0, 4, 4], [0, 0, 8]),
        (app(4, 256), None, Some(5), [4, 8, 8], [4, 8, 8]),
        (app(4, 256), None, Some(0), [0, 0, 0], [0, 0, 0]),
    ];
    for (description, cores_max, executor_limit, spread_out, in_packs) in cases {
        let description = AppDescription { cores_max, executor_limit, ..description };
        for (config, expected) in [(MasterConfig::default(), spread_out), (packed(), in_packs)] {
            let mut cluster = cluster_with(config, 3);

            let app = cluster.app(description.clone());

            // The last worker is asked first: all have the same free cores, and ties go by id downwards.
            assert_eq!(cluster.cores(&app), expected, "{description:?}");
        }
    }
}

/// Behaviours: MAST-002.
#[test]
fn an_earlier_application_takes_all_it_wants_first() {
    let mut cluster = alive(MasterConfig::default());
    let first = cluster.app(AppDescription { cores_max: Some(7), ..app(None, 128) });
    let second = cluster.app(app(None, 128));

    cluster.worker(worker(0, 10, 512));

    assert_eq!((cluster.cores(&first), cluster.cores(&second)), (vec![7], vec![3]));
}

/// Behaviours: MAST-002.
#[test]
fn drivers_go_before_executors() {
    let mut cluster = alive(MasterConfig::default());
    let app = cluster.app(app(None, 128));
    let driver = cluster.driver(driver(4, 128));

    cluster.worker(worker(0, 10, 512));

    assert_eq!(cluster.status(&driver), Some(DriverStatus::Running { worker: w(0) }));
    assert_eq!(cluster.cores(&app), [6]);
}

/// Behaviours: MAST-003.
#[test]
fn workers_are_asked_in_the_order_of_the_policy() {
    use WorkerSelection as Policy;
    let cases: [(Policy, Placement, &[u32]); 10] = [
        (Policy::FewestCoresFree, Placement::SpreadOut, &[1, 2]),
        (Policy::FewestCoresFree, Placement::Packed, &[1]),
        (Policy::MostCoresFree, Placement::SpreadOut, &[2, 3]),
        (Policy::MostCoresFree, Placement::Packed, &[3]),
        (Policy::LeastMemoryFree, Placement::SpreadOut, &[1, 3]),
        (Policy::LeastMemoryFree, Placement::Packed, &[1]),
        (Policy::MostMemoryFree, Placement::SpreadOut, &[2, 3]),
        (Policy::MostMemoryFree, Placement::Packed, &[2]),
        (Policy::WorkerId, Placement::SpreadOut, &[1, 2]),
        (Policy::WorkerId, Placement::Packed, &[1]),
    ];
    for (worker_selection, app_placement, expected) in cases {
        let mut cluster = alive(MasterConfig { app_placement, worker_selection, ..MasterConfig::default() });
        cluster.worker(worker(1, 5, 1_280));
        cluster.worker(worker(2, 6, 1_280 * 4));
        cluster.worker(worker(3, 7, 1_280 * 3));

        cluster.app(AppDescription { cores_max: Some(4), ..app(2, 128) });

        let used = cluster.workers().filter(|worker| !worker.executors.is_empty());
        let used: Vec<WorkerId> = used.map(|worker| worker.id().clone()).collect();
        let expected: Vec<WorkerId> = expected.iter().map(|number| w(*number)).collect();
        assert_eq!(used, expected, "{worker_selection:?} {app_placement:?}");
    }
}

/// Behaviours: MAST-003.
#[test]
fn workers_without_room_for_one_executor_are_passed_over() {
    let mut cluster = alive(MasterConfig::default());
    cluster.worker(with_gpus(worker(0, 8, 4_096), &["0", "1", "2"]));
    cluster.worker(worker(1, 3, 4_096)); // Too few cores.
    cluster.worker(worker(2, 16, 100)); // Too little memory.
    cluster.worker(worker(3, 16, 4_096)); // No gpus.
    let mut description = AppDescription { executor_limit: Some(1), ..app(4, 512) };
    description.executor.resources = BTreeMap::from([("gpu".into(), 2)]);

    let app = cluster.app(description);
    let executors_before = cluster.cores(&app);
    cluster.set_limit(&app, 2);

    assert_eq!(executors_before, [4, 0, 0, 0]);
    assert_eq!(cluster.cores(&app), [4, 0, 0, 0], "the third gpu is not enough for a second executor");
}

/// Behaviours: MAST-008.
#[test]
fn an_application_with_less_than_an_executor_left_is_skipped() {
    let mut cluster = cluster(1);
    let first = cluster.app(AppDescription { cores_max: Some(5), ..app(3, 32) });
    let second = cluster.app(app(3, 32));

    assert_eq!((cluster.cores(&first), cluster.cores(&second)), (vec![3], vec![6]));
}

/// Behaviours: MAST-008.
#[test]
fn a_limit_beyond_the_cluster_is_kept_until_room_appears() {
    let mut cluster = cluster(1);
    let app = cluster.app(AppDescription { executor_limit: Some(0), ..app(5, 128) });
    cluster.set_limit(&app, 3);
    assert_eq!(cluster.executors_and_limit(&app), (2, 3));

    cluster.worker(worker(1, 10, 512));

    assert_eq!(cluster.executors_and_limit(&app), (3, 3));
}

/// Behaviours: MAST-009.
#[test]
fn profiles_go_by_id_and_share_the_core_maximum() {
    for (cores_max, expected) in [(None, [1, 0, 0, 1, 2]), (Some(4), [1, 0, 0, 1, 1])] {
        let mut cluster = alive(MasterConfig::default());
        for number in 1..=3 {
            cluster.worker(worker(number, 2, 512));
        }
        let app = cluster.app(AppDescription { cores_max, executor_limit: Some(0), ..app(None, 128) });

        cluster.request(
            &app,
            vec![
                total(0, None, 1),
                total(4, Some(executor(1, 256)), 2),
                total(1, Some(executor(3, 256)), 1), // No worker has 3 cores.
                total(2, Some(executor(1, 1_024)), 1), // No worker has 1,024 MB.
                total(3, Some(executor(1, 256)), 1),
            ],
        );

        let executors = cluster.app_info(&app).profiles.values().map(|profile| profile.executors);
        assert_eq!(executors.collect::<Vec<_>>(), expected, "core maximum {cores_max:?}");
    }
}

/// Behaviours: MAST-009.
#[test]
fn a_profile_takes_what_it_leaves_out_from_the_default() {
    let mut cluster = alive(MasterConfig::default());
    let mut description = app(4, 128);
    description.executor.resources = BTreeMap::from([("gpu".into(), 2)]);
    let app = cluster.app(description.clone());
    let fpga =
        ExecutorRequest { resources: BTreeMap::from([("fpga".into(), 2)]), ..ExecutorRequest::default() };

    cluster.request(&app, vec![total(1, Some(fpga.clone()), 2), total(2, None, 1)]);
    cluster.request(&app, vec![total(1, Some(executor(9, 9)), 5)]);

    let request = |id| cluster.app_info(&app).profiles[&ProfileId(id)].request.clone();
    let limit = |id| cluster.app_info(&app).profiles[&ProfileId(id)].limit;
    assert_eq!(request(1), ExecutorRequest { cores: Some(4), memory_mib: 128, ..fpga });
    assert_eq!(request(2), description.executor);
    assert_eq!((limit(1), limit(2)), (5, 1));
}

/// Behaviours: BACK-013.
#[test]
fn negative_totals_are_refused_whole_and_huge_ones_are_capped() {
    let mut cluster = cluster(1);
    let app = cluster.app(AppDescription { executor_limit: Some(0), ..app(5, 128) });

    let refused = cluster.request(&app, vec![total(0, None, 2), total(1, None, -1)]);
    let limit_after_refusal = cluster.app_info(&app).executor_limit();
    cluster.set_limit(&app, i64::MAX);

    let reason = IgnoredReason::NegativeTotal { app: app.clone(), profile: ProfileId(1) };
    assert_eq!(refused, [ignored(reason), to_client(Reply::ExecutorsRequested { accepted: false })]);
    assert_eq!(limit_after_refusal, 0);
    assert_eq!(cluster.executors_and_limit(&app), (2, i32::MAX as u32));
}

#[test]
fn executors_without_cores_are_refused() {
    let mut cluster = cluster(1);
    let refused = cluster.send(MasterEvent::RegisterApplication { peer: CLIENT, app: app(0, 1) });
    let app = cluster.app(app(1, 128));
    let request = cluster.request(&app, vec![total(1, Some(executor(0, 1)), 1)]);

    let message =
        "executors cannot have 0 cores; leave firesteel.executor.cores unset or set it to 1 or more"
            .to_owned();
    assert_eq!(refused, [to_client(Reply::RegisterApplicationFailed { message })]);
    let reason = IgnoredReason::NoCores { app, profile: ProfileId(1) };
    assert_eq!(request, [ignored(reason), to_client(Reply::ExecutorsRequested { accepted: false })]);
}

/// Sets the limit and then kills every executor, as a driver does that gives executors up.
fn kill_all(cluster: &mut Cluster, app: &AppId, limit: i64) {
    cluster.set_limit(app, limit);
    let ids: Vec<String> = cluster.app_info(app).executors.keys().map(|id| id.0.to_string()).collect();
    cluster.kill(app, &ids.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Behaviours: CLI-008.
#[test]
fn limits_follow_requests_and_kills_without_a_size() {
    let mut cluster = alive(MasterConfig::default());
    for number in 0..2 {
        cluster.worker(worker(number, 10, 2_048));
    }
    let app = cluster.app(app(None, 1_024));
    assert_eq!(cluster.executors_and_limit(&app), (2, UNLIMITED));

    kill_all(&mut cluster, &app, 0);
    assert_eq!(cluster.executors_and_limit(&app), (0, 0));
    for (limit, executors) in [(1, 1), (2, 2), (3, 2)] {
        cluster.set_limit(&app, i64::from(limit));
        assert_eq!(cluster.executors_and_limit(&app), (executors, limit));
    }
    kill_all(&mut cluster, &app, 1);
    assert_eq!(cluster.executors_and_limit(&app), (1, 1));
    kill_all(&mut cluster, &app, 0);
    assert_eq!(cluster.executors_and_limit(&app), (0, 0));
    cluster.set_limit(&app, 1_000);
    assert_eq!(cluster.executors_and_limit(&app), (2, 1_000));
}

/// Behaviours: CLI-009.
#[test]
fn limits_follow_requests_and_kills_with_two_cores_per_executor() {
    let mut cluster = alive(MasterConfig::default());
    for number in 0..2 {
        cluster.worker(worker(number, 10, 2_048));
    }
    let app = cluster.app(app(2, 256));
    assert_eq!(cluster.executors_and_limit(&app), (10, UNLIMITED));

    cluster.set_limit(&app, 14);
    assert_eq!(cluster.executors_and_limit(&app), (10, 14));
    cluster.set_limit(&app, 12);
    cluster.kill(&app, &["0", "1"]);
    assert_eq!(cluster.executors_and_limit(&app), (10, 12));
    cluster.set_limit(&app, 8);
    cluster.kill(&app, &["2", "3", "4", "5"]);
    assert_eq!(cluster.executors_and_limit(&app), (8, 8));
}
