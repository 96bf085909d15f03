//! Executors from their launch to the finished list.

use super::*;

/// Behaviours: WORK-005.
#[test]
fn a_launch_makes_the_directories_then_starts_the_process() {
    let mut harness = Harness::connected();

    let launched = harness.launch(3);
    let process = created_process(&launched);
    let started = harness.send(WorkerEvent::DirsCreated { process, local_dirs: local_dirs(3) });

    let work_dir = "/w/app-1/3".to_owned();
    let dirs = WorkerEffect::CreateDirs { process, work_dir: work_dir.clone(), local_dirs: local_dirs(3) };
    assert_eq!(launched, [dirs]);
    let start = ProcessStart {
        process,
        owner: ProcessOwner::Executor(key(3)),
        command: Command::clone(&command(&["--id", "3"])),
        work_dir,
        local_dirs: local_dirs(3),
        driver_url: Some("driver:1".to_owned()),
        grant: grant(),
    };
    assert_eq!(started, [WorkerEffect::StartProcess(Box::new(start))]);
    assert_eq!(harness.worker.held(), (2, 1024), "resources count from the order on");
}

/// Behaviours: WORK-005.
#[test]
fn the_local_directories_of_an_application_hold_one_for_each_executor() {
    let mut harness = Harness::connected();
    harness.run_executor(1);

    let second = harness.launch(2);

    let process = created_process(&second);
    let work_dir = "/w/app-1/2".to_owned();
    assert_eq!(second, [WorkerEffect::CreateDirs { process, work_dir, local_dirs: local_dirs(2) }]);
}

/// Behaviours: WORK-005.
#[test]
fn addresses_count_as_used_while_the_executor_lives() {
    let mut harness = Harness::new(config());
    harness.send(WorkerEvent::Started);
    let gpus = Addresses::from([("gpu".into(), ["0".into(), "1".into()].into())]);
    harness.send(WorkerEvent::Prepared { from_file: gpus, discovered: Addresses::new() });
    harness.registered("m1");
    let one_gpu = Addresses::from([("gpu".into(), ["1".into()].into())]);
    let order = ExecutorLaunch { grant: Grant { addresses: one_gpu, ..grant() }, ..launch(1) };

    let process = created_process(&harness.hear("m1", MasterToWorker::LaunchExecutor(Box::new(order))));
    let one_each = [("gpu".into(), 1)].into();
    let free_meanwhile = harness.worker.resources.fits_by_addresses(&one_each);
    harness.dirs_created(process);
    harness.exit(process, 0);

    assert_eq!(free_meanwhile, 1);
    assert_eq!(harness.worker.resources.fits_by_addresses(&one_each), 2);
}

/// Behaviours: WORK-005, WORK-006.
#[test]
fn every_error_while_launching_gives_failed() {
    let no_dir = |process| WorkerEvent::DirsFailed { process, message: "disk full".to_owned() };
    let no_local_dir = |process| WorkerEvent::DirsCreated { process, local_dirs: vec![] };
    let cases: [(&dyn Fn(ProcessId) -> WorkerEvent, &str); 2] =
        [(&no_dir, "disk full"), (&no_local_dir, "no local directory can be made in /l1, /l2")];

    for (event, message) in cases {
        let mut harness = Harness::connected();
        let process = created_process(&harness.launch(1));

        let effects = harness.send(event(process));

        assert_eq!(effects, [changed(1, ExecutorState::Failed, message, None)]);
        assert_eq!(harness.worker.held(), (0, 0));
        assert_eq!(harness.worker.finished_executors().count(), 1);
    }
}

/// Behaviours: WORK-005, WORK-006.
#[test]
fn a_process_that_cannot_start_gives_failed() {
    let mut harness = Harness::connected();
    let process = created_process(&harness.launch(1));
    harness.dirs_created(process);

    let effects = harness.send(WorkerEvent::ProcessFailed { process, message: "no such file".to_owned() });

    assert_eq!(effects, [changed(1, ExecutorState::Failed, "no such file", None)]);
    assert_eq!(harness.worker.held(), (0, 0));
}

/// Behaviours: WORK-005.
#[test]
fn an_order_that_can_never_be_carried_out_gives_failed() {
    let more_cores = Grant { cores: 9, ..grant() };
    let more_memory = Grant { memory_mib: 8193, ..grant() };
    let a_gpu = Grant { addresses: [("gpu".into(), ["0".into()].into())].into(), ..grant() };
    let cases = [
        (more_cores, "9 cores were ordered, but the worker has only 8"),
        (more_memory, "8193 MiB of memory were ordered, but the worker has only 8192"),
        (a_gpu, "gpu 0 was ordered, but the worker does not have it"),
    ];

    for (grant, message) in cases {
        let mut harness = Harness::connected();

        let order = ExecutorLaunch { grant, ..launch(1) };
        let effects = harness.hear("m1", MasterToWorker::LaunchExecutor(Box::new(order)));

        assert_eq!(effects, [changed(1, ExecutorState::Failed, message, None)]);
        assert_eq!(harness.worker.held(), (0, 0));
    }
}

#[test]
fn an_application_cannot_name_a_directory_outside_its_own() {
    let mut harness = Harness::connected();

    let order = ExecutorLaunch { executor: ExecutorKey::new("..", 1), ..launch(1) };
    let effects = harness.hear("m1", MasterToWorker::LaunchExecutor(Box::new(order)));

    let change = ExecutorStateChange {
        executor: ExecutorKey::new("..", 1),
        state: ExecutorState::Failed,
        message: Some("`..` cannot be the name of a directory".to_owned()),
        exit_code: None,
    };
    let message = WorkerToMaster::ExecutorStateChanged { worker: WORKER.into(), change };
    assert_eq!(effects, [to_master("m1", message)]);
}

/// Behaviours: WORK-006.
#[test]
fn an_executor_goes_from_launching_over_running_to_exited() {
    let mut harness = Harness::connected();
    let process = created_process(&harness.launch(1));
    let launching = harness.live_executors();
    harness.dirs_created(process);

    let started = harness.send(WorkerEvent::ProcessStarted { process });
    let running = harness.live_executors();
    let exited = harness.exit(process, 3);

    assert_eq!(launching, [(key(1), ExecutorState::Launching)]);
    assert_eq!(started, [changed(1, ExecutorState::Running, "", None)]);
    assert_eq!(running, [(key(1), ExecutorState::Running)]);
    assert_eq!(exited, [changed(1, ExecutorState::Exited, "exited with code 3", Some(3))]);
}

/// Behaviours: WORK-006.
#[test]
fn an_ended_executor_frees_its_resources_and_is_listed_as_finished() {
    let mut harness = Harness::connected();
    let process = harness.run_executor(1);
    harness.run_executor(2);
    let before = harness.worker.held();

    harness.exit(process, 0);

    assert_eq!((before, harness.worker.held()), ((4, 2048), (2, 1024)));
    assert_eq!(harness.live_executors(), [(key(2), ExecutorState::Running)]);
    let message = Some("exited with code 0".to_owned());
    let (state, exit_code) = (ExecutorState::Exited, Some(0));
    let change = ExecutorStateChange { executor: key(1), state, message, exit_code };
    let finished: Vec<_> = harness.worker.finished_executors().cloned().collect();
    assert_eq!(finished, [FinishedExecutor { change, grant: grant() }]);
}

/// Behaviours: WORK-006.
#[test]
fn the_finished_list_is_bounded() {
    let mut harness = Harness::connected_with(WorkerConfig { retained_executors: 30, ..config() });

    for executor in 1..=31 {
        let process = harness.run_executor(executor);
        harness.exit(process, 0);
    }

    let kept: Vec<u32> =
        harness.worker.finished_executors().map(|finished| finished.change.executor.executor.0).collect();
    assert_eq!(kept, (4..=31).collect::<Vec<_>>());
}

#[test]
fn an_executor_is_launched_once() {
    let mut harness = Harness::connected();
    harness.launch(1);

    let again = harness.launch(1);

    assert_eq!(again, [ignored(WorkerIgnored::ExecutorExists { executor: key(1) })]);
    assert_eq!(harness.worker.held(), (2, 1024));
}

#[test]
fn late_and_impossible_news_of_a_process_is_ignored() {
    let mut harness = Harness::connected();
    let process = created_process(&harness.launch(1));

    let too_early = harness.exit(process, 0);
    harness.dirs_created(process);
    let twice = harness.dirs_created(process);
    harness.exit(process, 0);
    let late = harness.send(WorkerEvent::ProcessStarted { process });

    assert_eq!(too_early, [ignored(WorkerIgnored::UnexpectedNews { process })]);
    assert_eq!(twice, [ignored(WorkerIgnored::UnexpectedNews { process })]);
    assert_eq!(late, [ignored(WorkerIgnored::UnknownProcess { process })]);
}
