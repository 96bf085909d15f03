//! Finding a master, losing it, and what a registration starts.

use super::*;

/// The factor that the harness's seed gives, found from the first retry.
fn retry_times(harness: &mut Harness) -> Vec<Duration> {
    let mut times: Vec<Duration> =
        harness.pass(Duration::from_hours(1)).into_iter().map(|(at, _)| at).collect();
    times.dedup();
    times
}

/// Behaviours: WORK-001, WORK-009.
#[test]
fn a_worker_asks_all_masters_at_once() {
    let mut harness = Harness::new(config());
    harness.send(WorkerEvent::Started);

    let effects =
        harness.send(WorkerEvent::Prepared { from_file: Addresses::new(), discovered: Addresses::new() });

    assert_eq!(effects, [register_at("m1"), register_at("m2")]);
}

/// Behaviours: WORK-001.
#[test]
fn six_quick_retries_and_ten_slow_ones_come_before_the_worker_gives_up() {
    let mut harness = Harness::registering(config());

    let done = harness.pass(Duration::from_hours(1));

    let quick = done[0].0;
    let slow = quick * 6;
    let quick_ones = (1..=6).map(|n| quick * n);
    let slow_ones = (1..=10).map(|n| quick * 6 + slow * n);
    let mut expected = Vec::new();
    for at in quick_ones.chain(slow_ones) {
        expected.extend([(at, register_at("m1")), (at, register_at("m2"))]);
    }
    let reason = "all masters are unresponsive, giving up".to_owned();
    expected.push((quick * 6 + slow * 11, WorkerEffect::Exit { code: 1, reason }));
    assert_eq!(done, expected);
    assert_eq!(harness.worker.next_deadline(), None);
    assert_eq!(harness.registered("m1"), [ignored(WorkerIgnored::Exited)]);
}

/// Behaviours: WORK-001.
#[test]
fn the_spread_of_retries_is_chosen_once_from_the_seed() {
    let first_retry = |seed| {
        let mut harness = Harness { worker: Worker::new(config(), seed).unwrap(), now: START };
        harness.send(WorkerEvent::Started);
        harness.send(WorkerEvent::Prepared { from_file: Addresses::new(), discovered: Addresses::new() });
        retry_times(&mut harness)[0]
    };

    let times: Vec<Duration> = (0..1000).map(first_retry).collect();

    assert!(times.iter().all(|&at| at >= secs(5) && at < secs(15)), "the factor is in [0.5, 1.5)");
    assert!(times.iter().any(|&at| at < secs(6)) && times.iter().any(|&at| at > secs(14)));
    assert_eq!(first_retry(3), times[3], "the same seed gives the same times");
}

/// Behaviours: WORK-002.
#[test]
fn a_refusal_ends_a_worker_that_was_never_registered() {
    let mut harness = Harness::registering(config());

    let effects =
        harness.hear("m2", MasterToWorker::RegisterWorkerFailed { message: "who are you".to_owned() });

    let reason = "m2 refused the registration: who are you".to_owned();
    assert_eq!(effects, [WorkerEffect::Exit { code: 1, reason }]);
}

/// Behaviours: WORK-002.
#[test]
fn a_refusal_does_not_end_a_worker_that_was_registered_before() {
    let mut harness = Harness::connected();
    harness.lose("m1");

    let effects = harness.hear("m2", MasterToWorker::RegisterWorkerFailed { message: "no".to_owned() });

    let refused = WorkerIgnored::RegistrationRefused { master: "m2".into(), message: "no".to_owned() };
    assert_eq!(effects, [ignored(refused)]);
    assert!(harness.worker.next_deadline().is_some(), "it goes on trying");
}

/// Behaviours: WORK-002.
#[test]
fn a_master_in_standby_is_ignored_and_the_retries_go_on() {
    let mut harness = Harness::registering(config());

    let effects = harness.hear("m2", MasterToWorker::MasterInStandby);

    assert_eq!(effects, [ignored(WorkerIgnored::MasterInStandby { master: "m2".into() })]);
    assert_eq!(retry_times(&mut harness).len(), 17);
}

/// Behaviours: WORK-002.
#[test]
fn losing_the_master_keeps_executors_and_registers_again() {
    let mut harness = Harness::connected();
    harness.run_executor(1);

    let at_once = harness.lose("m1");
    let later = harness.pass(secs(16));
    let back = harness.registered("m1");

    assert_eq!(at_once, [register_at("m1"), register_at("m2")], "anyone may lead now");
    let effects: Vec<_> = later.into_iter().map(|(_, effect)| effect).collect();
    assert_eq!(effects[0], register_at("m1"), "retries go to the last master only");
    assert!(!effects.contains(&register_at("m2")) && !effects.contains(&heartbeat_to("m1")));
    let list = WorkerToMaster::LatestState(state(&[(1, ExecutorState::Running)], &[]));
    assert_eq!(back, [to_master("m1", list)]);
}

/// Behaviours: WORK-002.
#[test]
fn a_second_loss_and_the_loss_of_another_master_change_nothing() {
    let mut harness = Harness::connected();

    assert_eq!(harness.lose("m2"), [ignored(WorkerIgnored::NotActiveMaster { master: "m2".into() })]);
    harness.lose("m1");
    assert_eq!(harness.lose("m1"), [ignored(WorkerIgnored::AlreadyRegistering)]);
}

/// Behaviours: WORK-002.
#[test]
fn the_address_first_contacted_is_used_again_when_that_is_preferred() {
    let answered_as_internal = |prefer_configured_master_address| {
        let mut harness = Harness::registering(WorkerConfig { prefer_configured_master_address, ..config() });
        let contacted = "m1".into();
        harness.hear("internal", MasterToWorker::RegisteredWorker { contacted, duplicate: false });
        harness.lose("m1");
        harness.pass(secs(16)).remove(0).1
    };

    assert_eq!(answered_as_internal(true), register_at("m1"));
    assert_eq!(answered_as_internal(false), register_at("internal"));
}

/// Behaviours: WORK-003.
#[test]
fn registration_sends_the_list_and_starts_heartbeats() {
    let mut harness = Harness::registering(config());

    let at_once = harness.registered("m1");
    let later = harness.pass(secs(45));

    let list = WorkerToMaster::LatestState(state(&[], &[]));
    assert_eq!(at_once, [to_master("m1", list), heartbeat_to("m1")]);
    assert_eq!(later, [15, 30, 45].map(|at| (secs(at), heartbeat_to("m1"))));
}

/// Behaviours: WORK-003.
#[test]
fn heartbeats_and_cleaning_start_only_once_over_repeated_registrations() {
    let mut harness = Harness::connected();
    harness.pass(secs(10));

    let again = harness.registered("m1");
    let later = harness.pass(Duration::from_mins(30));

    assert_eq!(again, [to_master("m1", WorkerToMaster::LatestState(state(&[], &[])))]);
    let heartbeats = later.iter().filter(|(_, effect)| *effect == heartbeat_to("m1")).count();
    assert_eq!(heartbeats, 120, "one every 15 s");
    let list = WorkerEffect::ListDirs { work_dir: "/w".to_owned() };
    assert_eq!(later.iter().filter(|(_, effect)| *effect == list).count(), 1);
    assert_eq!(later[0], (secs(5), heartbeat_to("m1")), "the rhythm is that of the first registration");
}

/// Behaviours: WORK-003.
#[test]
fn heartbeats_that_were_missed_are_not_made_up_for() {
    let mut harness = Harness::connected();
    harness.now += secs(100);

    assert_eq!(harness.send(WorkerEvent::Tick), [heartbeat_to("m1")]);
    assert_eq!(harness.worker.next_deadline(), Some(harness.now + secs(15)));
}

/// Behaviours: WORK-015.
#[test]
fn resources_come_from_the_file_and_from_discovery() {
    let gpu = ResourceRequest { amount: 2, discovery_script: Some("find-gpus".to_owned()) };
    let fpga = ResourceRequest { amount: 1, discovery_script: None };
    let mut harness = Harness::new(WorkerConfig {
        resources: [("gpu".into(), gpu), ("fpga".into(), fpga)].into(),
        resource_file: Some("resources.json".to_owned()),
        ..config()
    });
    let asked = harness.send(WorkerEvent::Started);

    let from_file = Addresses::from([("fpga".into(), ["f1".into(), "f2".into()].into())]);
    let discovered = [("gpu".into(), ["0".into(), "1".into()].into()), ("fpga".into(), ["f9".into()].into())];
    harness
        .send(WorkerEvent::Prepared { from_file: from_file.clone(), discovered: discovered.clone().into() });

    let prepare = WorkerEffect::Prepare {
        work_dir: "/w".to_owned(),
        resource_file: Some("resources.json".to_owned()),
        discovery_scripts: [("gpu".into(), "find-gpus".to_owned())].into(),
    };
    assert_eq!(asked, [prepare]);
    let mut expected = Addresses::from(discovered);
    expected.extend(from_file);
    assert_eq!(harness.worker.resources().addresses, expected, "the file goes before the script");
}

/// Behaviours: WORK-015.
#[test]
fn a_worker_starts_without_any_resources() {
    let mut harness = Harness::new(config());

    let asked = harness.send(WorkerEvent::Started);
    let then =
        harness.send(WorkerEvent::Prepared { from_file: Addresses::new(), discovered: Addresses::new() });

    let (work_dir, discovery_scripts) = ("/w".to_owned(), [].into());
    assert_eq!(asked, [WorkerEffect::Prepare { work_dir, resource_file: None, discovery_scripts }]);
    assert_eq!(then, [register_at("m1"), register_at("m2")]);
}

/// Behaviours: WORK-015.
#[test]
fn fewer_addresses_than_configured_end_the_worker() {
    let gpu = ResourceRequest { amount: 2, discovery_script: None };
    let mut harness = Harness::new(WorkerConfig { resources: [("gpu".into(), gpu)].into(), ..config() });
    harness.send(WorkerEvent::Started);

    let from_file = Addresses::from([("gpu".into(), ["0".into()].into())]);
    let effects = harness.send(WorkerEvent::Prepared { from_file, discovered: Addresses::new() });

    let reason = "2 addresses of gpu are configured, but 1 were found".to_owned();
    assert_eq!(effects, [WorkerEffect::Exit { code: 1, reason }]);
}

#[test]
fn a_worker_that_cannot_prepare_ends() {
    let mut harness = Harness::new(config());
    harness.send(WorkerEvent::Started);

    let effects = harness.send(WorkerEvent::PrepareFailed { message: "disk full".to_owned() });

    let reason = "the worker cannot start: disk full".to_owned();
    assert_eq!(effects, [WorkerEffect::Exit { code: 1, reason }]);
}

#[test]
fn nothing_counts_before_the_start_and_the_start_counts_once() {
    let mut harness = Harness::new(config());

    assert_eq!(harness.registered("m1"), [ignored(WorkerIgnored::OutOfOrder)]);
    harness.send(WorkerEvent::Started);
    assert_eq!(harness.send(WorkerEvent::Started), [ignored(WorkerIgnored::OutOfOrder)]);
    assert_eq!(harness.worker.id(), Some(&WORKER.into()));
}
