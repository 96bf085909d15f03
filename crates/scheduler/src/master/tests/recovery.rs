//! A new master takes over.

use std::{collections::BTreeMap, time::Duration};

use firesteel_types::{AppId, DriverId, ExecutorId, ProfileId, WorkerId};

use super::{super::*, harness::*};
use crate::deploy::*;

/// A second master that has just read what the first one stored. Connections keep their numbers.
fn successor(of: &Cluster) -> (Cluster, Vec<MasterEffect>) {
    let mut next = Cluster { now: of.now, store: of.store.clone(), ..standby(of.config.clone()) };
    next.next_peer = of.next_peer;
    let (mut apps, mut drivers, mut workers) = (vec![], vec![], vec![]);
    for object in of.store.values().rev() {
        match object.clone() {
            StoredObject::App(app) => {
                let peer = of.app_info(&app.id).peer;
                apps.push((app, peer));
            }
            StoredObject::Driver(driver) => drivers.push(driver),
            StoredObject::Worker(worker) => {
                let peer = of.workers().find(|info| *info.id() == worker.id).unwrap().peer;
                workers.push((worker, peer));
            }
        }
    }
    next.send(MasterEvent::Elected);
    let effects = next.send(MasterEvent::Recovered { apps, drivers, workers });
    (next, effects)
}

/// What worker `number` of `old` answers to "master changed".
fn answer_of(old: &Cluster, number: u32) -> MasterEvent {
    let message = WorkerToMaster::SchedulerState(old.list(number));
    MasterEvent::FromWorker { peer: old.worker_info(number).peer, message }
}

/// The answer of a worker that runs nothing.
fn idle(peer: Peer, worker: WorkerId) -> MasterEvent {
    let report = WorkerReport { worker, executors: vec![], drivers: vec![] };
    MasterEvent::FromWorker { peer, message: WorkerToMaster::SchedulerState(report) }
}

fn acknowledge(cluster: &mut Cluster, app: &AppId) -> Vec<MasterEffect> {
    let peer = cluster.app_info(app).peer;
    cluster.send(MasterEvent::MasterChangeAcknowledged { peer, app: app.clone() })
}

/// Two workers with gpus, a driver on one of them and an application with executors on both.
fn busy() -> (Cluster, AppId, DriverId) {
    let mut cluster = alive(MasterConfig::default());
    for number in 0..2 {
        cluster.worker(with_gpus(worker(number, 10, 2_048), &["g0", "g1", "g2"]));
    }
    let one_gpu = BTreeMap::from([("gpu".into(), 1)]);
    let driver = cluster.driver(DriverDescription { resources: one_gpu.clone(), ..driver(1, 128) });
    let mut description = app(3, 128);
    description.executor.resources = one_gpu;
    let app = cluster.app(description);
    cluster.report(&app, 0, ExecutorState::Running, None);
    (cluster, app, driver)
}

/// Behaviours: MAST-022.
#[test]
fn everybody_stored_is_unknown_and_told_of_the_new_master() {
    let (old, app, _) = busy();

    let (new, effects) = successor(&old);

    assert_eq!(
        effects,
        [
            to_app(&app, AppMessage::MasterChanged),
            to_worker(1, MasterToWorker::MasterChanged),
            to_worker(0, MasterToWorker::MasterChanged),
        ]
    );
    assert_eq!(new.state(), RecoveryState::Recovering);
    assert_eq!(new.app_info(&app).state, AppState::Unknown);
    assert!(new.workers().all(|worker| worker.state == WorkerState::Unknown));
}

/// Behaviours: MAST-022, MAST-026, MAST-027.
#[test]
fn once_all_have_answered_the_state_is_that_of_the_old_master() {
    let (old, app, _) = busy();
    let (mut new, _) = successor(&old);

    assert_eq!(acknowledge(&mut new, &app), []);
    assert_eq!(new.app_info(&app).state, AppState::Waiting);
    assert_eq!(new.send(answer_of(&old, 0)), []);
    assert_eq!(new.state(), RecoveryState::Recovering);
    assert_eq!(new.send(answer_of(&old, 1)), []);

    assert_eq!(new.state(), RecoveryState::Alive);
    assert_eq!(new.workers().collect::<Vec<_>>(), old.workers().collect::<Vec<_>>());
    assert_eq!(new.apps().collect::<Vec<_>>(), old.apps().collect::<Vec<_>>());
    assert_eq!(new.drivers().collect::<Vec<_>>(), old.drivers().collect::<Vec<_>>());
    assert_eq!(new.store, old.store);
}

/// Behaviours: MAST-022.
#[test]
fn numbers_of_new_executors_are_above_those_that_were_attached() {
    let (old, app, _) = busy();
    let highest = *old.app_info(&app).executors.keys().last().unwrap();
    let (mut new, _) = successor(&old);
    acknowledge(&mut new, &app);
    new.send(answer_of(&old, 0));
    new.send(answer_of(&old, 1));

    new.report(&app, 0, ExecutorState::Exited, Some(0));

    let newest = *new.app_info(&app).executors.keys().last().unwrap();
    assert_eq!(newest, ExecutorId(highest.0 + 1));
}

/// Behaviours: MAST-022, MAST-023.
#[test]
fn after_a_minute_those_that_did_not_answer_are_removed() {
    let (mut old, app, lost) = busy();
    let silent = old.app(super::harness::app(1, 128));
    let kept = old.driver(DriverDescription { supervise: true, ..driver(100, 1) });
    let (mut new, _) = successor(&old);
    // The worker that runs no driver answers; the other one does not.
    let (silent_worker, there) = if old.worker_info(0).drivers.is_empty() { (1, 0) } else { (0, 1) };
    acknowledge(&mut new, &app);
    new.send(answer_of(&old, there));

    let too_early = new.wait(Duration::from_secs(59));
    let state_before = new.state();
    new.wait(Duration::from_secs(1));

    assert_eq!((too_early, state_before), (vec![], RecoveryState::Recovering));
    assert_eq!(new.state(), RecoveryState::Alive);
    assert_eq!(new.workers().map(|worker| worker.id().clone()).collect::<Vec<_>>(), [w(there)]);
    assert_eq!(
        new.dead_workers().map(|dead| dead.description.id.clone()).collect::<Vec<_>>(),
        [w(silent_worker)]
    );
    assert_eq!(new.completed_apps().map(|app| app.id.clone()).collect::<Vec<_>>(), [silent]);
    assert_eq!(new.app_info(&app).state, AppState::Running);
    let in_error = DriverStatus::Ended { state: DriverState::Error, worker: None, error: None };
    assert_eq!(new.status(&lost), Some(in_error));
    let Some(DriverStatus::Relaunched { worker: None, new_id }) = new.status(&kept) else {
        panic!("a supervised driver is relaunched");
    };
    assert_eq!(new.status(&new_id), Some(DriverStatus::Submitted));
}

/// Behaviours: MAST-023.
#[test]
fn waiting_applications_resume_as_running() {
    let mut old = alive(MasterConfig::default());
    let app = old.app(app(1, 128));
    let (mut new, _) = successor(&old);

    acknowledge(&mut new, &app);

    assert_eq!((new.state(), new.app_info(&app).state), (RecoveryState::Alive, AppState::Running));
}

/// Behaviours: MAST-023.
#[test]
fn with_nobody_to_wait_for_recovery_completes_at_once() {
    let mut old = alive(MasterConfig::default());
    let driver = old.driver(driver(1, 1));

    let (new, effects) = successor(&old);

    assert_eq!(effects, [MasterEffect::Forget(ObjectName::Driver(driver))]);
    assert_eq!(new.state(), RecoveryState::Alive);
}

/// Behaviours: MAST-022.
#[test]
fn those_that_disconnect_are_not_waited_for() {
    let (old, app, _) = busy();
    let (mut new, _) = successor(&old);
    new.disconnect_worker(0);
    new.disconnect_worker(1);

    let peer = new.app_info(&app).peer;
    new.send(MasterEvent::Disconnected { peer });

    assert_eq!(new.state(), RecoveryState::Alive);
    assert!(new.is_quiescent());
}

/// Behaviours: MAST-022.
#[test]
fn recovery_does_not_wait_for_workers_that_are_declared_dead() {
    let patient = MasterConfig { recovery_timeout: Some(Duration::from_mins(10)), ..MasterConfig::default() };
    let (mut new, _) = successor(&cluster_with(patient, 1));

    new.wait(Duration::from_mins(2));

    assert_eq!((new.state(), new.workers().count()), (RecoveryState::Alive, 0));
}

/// Behaviours: MAST-022.
#[test]
fn a_report_on_the_connection_of_another_is_ignored() {
    let (old, app, _) = busy();
    let (mut new, _) = successor(&old);
    let peer = old.app_info(&app).peer;

    let of_worker = new.send(idle(peer, w(0)));
    let peer_of_worker = old.worker_info(0).peer;
    let of_app = new.send(MasterEvent::MasterChangeAcknowledged { peer: peer_of_worker, app });

    assert_eq!(of_worker, [ignored(IgnoredReason::PeerInUse { peer })]);
    assert_eq!(of_app, [ignored(IgnoredReason::PeerInUse { peer: peer_of_worker })]);
    assert_eq!(new.worker_info(0).state, WorkerState::Unknown);
}

/// Behaviours: MAST-002, MAST-022.
#[test]
fn recovered_applications_keep_the_order_of_registration() {
    let mut old = alive(MasterConfig::default());
    let first = old.app(app(1, 1));
    old.wait(Duration::from_secs(1));
    let second = old.app(app(1, 1));

    let (new, _) = successor(&old);

    assert_eq!(new.apps().map(|app| app.id().clone()).collect::<Vec<_>>(), [first, second]);
}

/// Behaviours: MAST-027.
#[test]
fn what_a_worker_cannot_hold_or_nobody_owns_it_must_kill() {
    let (old, app, _) = busy();
    let (mut new, _) = successor(&old);
    let executor = |app: &AppId, id, cores, gpu| ExecutorReport {
        executor: key(app, id),
        profile: ProfileId::DEFAULT,
        grant: Grant { addresses: addresses("gpu", &[gpu]), ..grant(cores, 128) },
        state: ExecutorState::Running,
    };
    let stranger = AppId::from("app-x");
    let reports = vec![
        executor(&app, 0, 3, "g0"),
        executor(&app, 0, 3, "g0"),        // Reported twice: counts once.
        executor(&app, 1, 3, "g0"),        // The address is taken.
        executor(&app, 2, 8, "g1"),        // Only 7 cores are left.
        executor(&app, 3, 1, "g9"),        // There is no such address.
        executor(&stranger, 0, 1, "g1"),   // Of no application.
        executor(&app, u32::MAX, 1, "g1"), // No master gives such ids.
    ];

    let drivers = vec![DriverReport { driver: "driver-x".into(), grant: grant(1, 1) }];
    let report = WorkerReport { worker: w(0), executors: reports, drivers };
    let effects = new.hear(worker_peer(0), WorkerToMaster::SchedulerState(report));

    let kill =
        |app: &AppId, executor| to_worker(0, MasterToWorker::KillExecutor { executor: key(app, executor) });
    let impossible = || ignored(IgnoredReason::ImpossibleReport { worker: w(0) });
    assert_eq!(
        effects,
        [
            impossible(),
            kill(&app, 1),
            impossible(),
            kill(&app, 2),
            impossible(),
            kill(&app, 3),
            kill(&stranger, 0),
            impossible(),
            kill(&app, u32::MAX),
            to_worker(0, MasterToWorker::KillDriver { driver: "driver-x".into() }),
        ]
    );
    assert_eq!(new.worker_info(0).cores_free(), 7);
}

/// Behaviours: MAST-026.
#[test]
fn objects_are_stored_while_they_live_and_removed_when_they_end() {
    let (mut cluster, app, driver) = busy();
    let names = |cluster: &Cluster| cluster.store.keys().map(ToString::to_string).collect::<Vec<_>>();
    let (app_name, driver_name) = (format!("app_{app}"), format!("driver_{driver}"));
    assert_eq!(names(&cluster), [app_name.as_str(), &driver_name, "worker_w0", "worker_w1"]);

    cluster.send(MasterEvent::UnregisterApplication { app });
    let worker = cluster.drivers().next().unwrap().worker().unwrap().clone();
    let change = DriverStateChange { driver, state: DriverState::Finished, error: None };
    cluster.hear(CLIENT, WorkerToMaster::DriverStateChanged { worker, change });
    cluster.disconnect_worker(0);

    assert_eq!(names(&cluster), ["worker_w1"]);
}

#[test]
fn late_and_unknown_answers_change_nothing() {
    let (mut cluster, app, _) = busy();
    let peer = CLIENT;

    let acknowledged = acknowledge(&mut cluster, &app);
    let unknown_app = cluster.send(MasterEvent::MasterChangeAcknowledged { peer, app: "app-x".into() });
    let unknown_worker = cluster.send(idle(peer, w(7)));
    let not_waited_for = cluster.send(idle(worker_peer(0), w(0)));

    assert_eq!(acknowledged, [ignored(IgnoredReason::AppNotWaitedFor { app })]);
    assert_eq!(unknown_app, [ignored(IgnoredReason::UnknownApp { app: "app-x".into() })]);
    assert_eq!(unknown_worker, [ignored(IgnoredReason::UnknownWorker { worker: w(7) })]);
    assert_eq!(not_waited_for, [ignored(IgnoredReason::WorkerNotWaitedFor { worker: w(0) })]);
}

#[test]
fn a_stored_worker_whose_address_is_taken_is_dropped() {
    let mut cluster = standby(MasterConfig::default());
    let twin = WorkerDescription { id: "w9".into(), ..worker(0, 10, 512) };
    let workers = vec![(worker(0, 10, 512), Peer(1)), (twin.clone(), Peer(2))];
    for (worker, _) in &workers {
        cluster.store.insert(ObjectName::Worker(worker.id.clone()), StoredObject::Worker(worker.clone()));
    }
    cluster.send(MasterEvent::Elected);

    let effects = cluster.send(MasterEvent::Recovered { apps: vec![], drivers: vec![], workers });

    let name = ObjectName::Worker(twin.id);
    assert_eq!(
        effects,
        [
            MasterEffect::ToWorker { peer: Peer(1), message: MasterToWorker::MasterChanged },
            MasterEffect::Forget(name.clone()),
            ignored(IgnoredReason::StoredTwice { name }),
        ]
    );
}

/// Behaviours: MAST-012, MAST-022.
#[test]
fn a_worker_gets_nothing_to_do_before_it_has_said_what_it_runs() {
    let (old, app, _) = busy();
    let (mut new, _) = successor(&old);
    acknowledge(&mut new, &app);
    new.send(answer_of(&old, 1));

    new.register(worker_peer(0), old.worker_info(0).description.clone());
    new.send(MasterEvent::Tick);

    assert_eq!(new.state(), RecoveryState::Recovering);
    new.send(answer_of(&old, 0));
    assert_eq!(new.state(), RecoveryState::Alive);
    assert_eq!(new.app_info(&app).executors, old.app_info(&app).executors);
}

/// Behaviours: MAST-022, MAST-024.
#[test]
fn a_worker_that_leaves_while_the_master_recovers_keeps_what_it_runs() {
    let (old, app, _) = busy();
    let (mut new, _) = successor(&old);
    acknowledge(&mut new, &app);
    new.send(MasterEvent::DecommissionWorkersOnHosts { peer: CLIENT, hosts: vec!["h0".to_owned()] });

    new.send(answer_of(&old, 0));

    let info = new.worker_info(0);
    assert_eq!(
        info.executors.keys().collect::<Vec<_>>(),
        old.worker_info(0).executors.keys().collect::<Vec<_>>()
    );
    assert!(info.executors.values().all(|desc| desc.state == ExecutorState::Decommissioned));
    assert_eq!(new.app_info(&app).executors.len(), 0);
}

/// Behaviours: MAST-022, MAST-023.
#[test]
fn an_application_that_comes_back_by_itself_is_taken_for_acknowledged() {
    let (old, app, _) = busy();
    let (mut new, _) = successor(&old);
    new.send(answer_of(&old, 0));
    new.send(answer_of(&old, 1));
    let peer = new.peer();

    let effects = new.send(MasterEvent::ReconnectApplication { peer, app: app.clone() });

    assert_eq!(effects, [MasterEffect::ToApp { peer, message: AppMessage::MasterChanged }]);
    assert_eq!(new.state(), RecoveryState::Alive);
    assert_eq!((new.app_info(&app).peer, new.app_info(&app).state), (peer, AppState::Running));
    let late = new.send(MasterEvent::MasterChangeAcknowledged { peer, app: app.clone() });
    assert_eq!(late, [ignored(IgnoredReason::AppNotWaitedFor { app })]);
}

#[test]
fn an_application_that_comes_back_before_its_loss_is_noticed_moves_to_its_new_connection() {
    let (mut cluster, app, _) = busy();
    let (old, new) = (cluster.app_info(&app).peer, cluster.peer());

    let back = cluster.send(MasterEvent::ReconnectApplication { peer: new, app: app.clone() });
    let lost = cluster.send(MasterEvent::Disconnected { peer: old });

    assert_eq!(back, [MasterEffect::ToApp { peer: new, message: AppMessage::MasterChanged }]);
    assert_eq!(lost, [ignored(IgnoredReason::UnknownPeer { peer: old })]);
    assert_eq!(cluster.app_info(&app).state, AppState::Running);
}

#[test]
fn an_application_that_ended_with_its_connection_hears_so_when_it_comes_back() {
    let (mut cluster, app, _) = busy();
    let (old, new) = (cluster.app_info(&app).peer, cluster.peer());
    cluster.send(MasterEvent::Disconnected { peer: old });

    let effects = cluster.send(MasterEvent::ReconnectApplication { peer: new, app: app.clone() });

    let message = format!("the master does not know {app}: it ended when its connection was lost");
    assert_eq!(
        effects,
        [MasterEffect::ToApp { peer: new, message: AppMessage::ApplicationRemoved { message } }]
    );
    let standby = standby(MasterConfig::default()).send(MasterEvent::ReconnectApplication { peer: new, app });
    assert_eq!(standby, [ignored(IgnoredReason::NotLeading)]);
}
