//! Drivers: how they end, and how supervised ones start again.

use super::*;

/// Fails the running process after `run`, starts the next one, and gives the wait between the two.
fn fail_after(harness: &mut Harness, process: &mut ProcessId, run: Duration) -> Duration {
    harness.pass(run);
    assert_eq!(harness.exit(*process, 1), [], "a supervised driver does not end");
    let mut done = harness.pass_quietly(secs(100));
    let (wait, effect) = done.remove(0);
    assert_eq!(done, []);
    *process = started_process(&[effect]);
    harness.send(WorkerEvent::ProcessStarted { process: *process });
    wait
}

/// Behaviours: WORK-012.
#[test]
fn a_launched_driver_runs_in_a_directory_of_its_own() {
    let mut harness = Harness::connected();

    let launched = harness.launch_driver(driver(false));
    let process = created_process(&launched);
    let started = harness.send(WorkerEvent::DirsCreated { process, local_dirs: vec![] });

    let work_dir = "/w/driver-1".to_owned();
    let dirs = WorkerEffect::CreateDirs { process, work_dir: work_dir.clone(), local_dirs: vec![] };
    assert_eq!(launched, [dirs]);
    let start = ProcessStart {
        process,
        owner: ProcessOwner::Driver("driver-1".into()),
        command: Command::clone(&command(&["h1:7078"])),
        work_dir,
        local_dirs: vec![],
        driver_url: None,
        grant: grant(),
    };
    assert_eq!(started, [WorkerEffect::StartProcess(Box::new(start))]);
    assert_eq!(harness.worker.held(), (2, 1024));
}

/// Behaviours: WORK-012.
#[test]
fn the_exit_code_decides_how_a_driver_ended() {
    let cases = [
        (0, false, DriverState::Finished),
        (1, false, DriverState::Failed),
        (143, true, DriverState::Killed),
        (0, true, DriverState::Finished),
    ];

    for (code, killed, expected) in cases {
        let mut harness = Harness::connected();
        let process = harness.run_driver(driver(false));
        if killed {
            harness.hear("m1", MasterToWorker::KillDriver { driver: "driver-1".into() });
        }

        let effects = harness.exit(process, code);

        assert_eq!(effects, [driver_ended(expected, None)], "code {code}, killed: {killed}");
        assert_eq!(harness.worker.held(), (0, 0));
        let finished: Vec<_> = harness.worker.finished_drivers().cloned().collect();
        let change = DriverStateChange { driver: "driver-1".into(), state: expected, error: None };
        assert_eq!(finished, [FinishedDriver { change, grant: grant() }]);
    }
}

/// Behaviours: WORK-012.
#[test]
fn an_error_while_starting_is_reported_with_its_cause_even_if_supervised() {
    let mut harness = Harness::connected();
    let process = created_process(&harness.launch_driver(driver(true)));
    harness.send(WorkerEvent::DirsCreated { process, local_dirs: vec![] });

    let effects = harness.send(WorkerEvent::ProcessFailed { process, message: "no such file".to_owned() });

    assert_eq!(effects, [driver_ended(DriverState::Error, Some("no such file"))]);
    harness.hear("m1", MasterToWorker::DriverStateAck { driver: "driver-1".into() });
    assert!(harness.worker.is_quiescent());
}

/// Behaviours: WORK-012.
#[test]
fn a_driver_without_a_directory_or_enough_resources_ends_in_error() {
    let mut harness = Harness::connected();
    let process = created_process(&harness.launch_driver(driver(false)));

    let no_dir = harness.send(WorkerEvent::DirsFailed { process, message: "disk full".to_owned() });
    let too_large = DriverLaunch { grant: Grant { cores: 9, ..grant() }, ..driver(false) };
    let too_large = harness.launch_driver(too_large);

    assert_eq!(no_dir, [driver_ended(DriverState::Error, Some("disk full"))]);
    let cause = "9 cores were ordered, but the worker has only 8";
    assert_eq!(too_large, [driver_ended(DriverState::Error, Some(cause))]);
}

/// Behaviours: WORK-013.
#[test]
fn a_supervised_driver_is_started_again_after_doubling_waits() {
    let mut harness = Harness::connected();
    let first = harness.run_driver(driver(true));
    let mut process = first;

    let waits = [(); 5].map(|()| fail_after(&mut harness, &mut process, Duration::ZERO).as_secs());
    let late = harness.exit(first, 0);
    let ended = harness.exit(process, 0);

    assert_eq!(waits, [1, 2, 4, 8, 16]);
    assert_eq!(late, [ignored(WorkerIgnored::UnknownProcess { process: first })]);
    assert_eq!(ended, [driver_ended(DriverState::Finished, None)], "not started again after exit 0");
}

/// Behaviours: WORK-013.
#[test]
fn a_run_of_more_than_five_seconds_starts_the_waits_anew() {
    let mut harness = Harness::connected();
    let mut process = harness.run_driver(driver(true));
    let longer = secs(5) + Duration::from_micros(1);

    let runs = [Duration::ZERO, Duration::ZERO, secs(5), longer, Duration::ZERO];
    let waits = runs.map(|run| fail_after(&mut harness, &mut process, run).as_secs());

    assert_eq!(waits, [1, 2, 4, 1, 2]);
}

/// Behaviours: WORK-013.
#[test]
fn an_unsupervised_driver_is_not_started_again() {
    let mut harness = Harness::connected();
    let process = harness.run_driver(driver(false));

    harness.exit(process, 1);

    assert_eq!(harness.pass_quietly(secs(100)), []);
}

/// Behaviours: WORK-013.
#[test]
fn a_driver_killed_while_it_waits_is_not_started_again() {
    let mut harness = Harness::connected();
    let process = harness.run_driver(driver(true));
    harness.exit(process, 1);

    let effects = harness.hear("m1", MasterToWorker::KillDriver { driver: "driver-1".into() });

    assert_eq!(effects, [driver_ended(DriverState::Killed, None)]);
    assert_eq!(harness.pass_quietly(secs(100)), []);
    harness.hear("m1", MasterToWorker::DriverStateAck { driver: "driver-1".into() });
    assert!(harness.worker.is_quiescent());
}

/// Behaviours: WORK-012.
#[test]
fn a_driver_that_ends_without_a_master_is_reported_to_the_next_one() {
    let mut harness = Harness::connected();
    let process = harness.run_driver(driver(false));
    harness.lose("m1");

    let ended = harness.exit(process, 0);
    let back = harness.registered("m1");

    assert_eq!(ended, []);
    let list = WorkerToMaster::LatestState(state(&[], &[]));
    assert_eq!(back, [driver_ended(DriverState::Finished, None), to_master("m1", list)]);
}

/// Behaviours: WORK-012.
#[test]
fn the_end_of_a_driver_is_reported_on_every_connection_until_it_is_acknowledged() {
    let mut harness = Harness::connected();
    let process = harness.run_driver(driver(false));
    harness.exit(process, 1);
    harness.lose("m1");

    let back = harness.registered("m1");
    let heard = harness.hear("m1", MasterToWorker::DriverStateAck { driver: "driver-1".into() });
    let again = harness.registered("m1");

    let list = || to_master("m1", WorkerToMaster::LatestState(state(&[], &[])));
    assert_eq!(back, [driver_ended(DriverState::Failed, None), list()]);
    assert_eq!(heard, []);
    assert_eq!(again, [list()]);
    assert!(harness.worker.is_quiescent());
    let twice = harness.hear("m1", MasterToWorker::DriverStateAck { driver: "driver-1".into() });
    let nothing = WorkerIgnored::NoDriverEndToAcknowledge { driver: "driver-1".into() };
    assert_eq!(twice, [ignored(nothing)]);
}

#[test]
fn a_driver_is_launched_once() {
    let mut harness = Harness::connected();
    harness.launch_driver(driver(false));

    let again = harness.launch_driver(driver(false));

    assert_eq!(again, [ignored(WorkerIgnored::DriverExists { driver: "driver-1".into() })]);
}
