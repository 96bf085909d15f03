//! Drivers that the cluster runs.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use firesteel_deploy::{
    submit::{DriverSubmission, SubmitConf, SubmitError},
    worker::{LogOwner, LogStream},
};
use firesteel_net::Address;
use firesteel_scheduler::{deploy::DriverState, master::DriverStatus};
use firesteel_types::DriverId;

use crate::support::*;

/// A driver that is a shell script.
pub(crate) fn script(folder: &Path, name: &str, text: &str) -> DriverSubmission {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("the folder is there");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the file is there");
    DriverSubmission { memory_mib: 64, ..DriverSubmission::new(path) }
}

fn ended(cluster: &Cluster, driver: &DriverId) -> (DriverState, Option<String>) {
    let status = cluster.submit_client().follow(driver, true, |_, _| {}).unwrap();
    match status {
        Some(DriverStatus::Ended { state, error, .. }) => (state, error),
        other => panic!("{driver} has not ended: {other:?}"),
    }
}

/// Behaviours: CLI-010, WORK-012, MAST-021.
#[test]
fn a_driver_runs_on_a_worker_with_its_files_and_finishes() {
    let cluster = Cluster::new();
    let worker = cluster.worker("w", 1);
    let words = cluster.folder.path().join("words.txt");
    fs::write(&words, "to be\n").unwrap();
    let mut driver = script(
        cluster.folder.path(),
        "driver",
        r#"echo "$1 $MINE"; cat "$FIRESTEEL_FILES_DIR/words.txt"; echo $FIRESTEEL_DRIVER_ID $FIRESTEEL_WORKER_URL
           echo $FIRESTEEL_AUTHENTICATE_SECRET"#,
    );
    driver.arguments = vec!["or not".to_owned()];
    driver.environment = [("MINE".to_owned(), "to".to_owned())].into();
    driver.files = vec![words];

    let id = cluster.submit_client().submit(&driver).unwrap();

    assert_eq!(ended(&cluster, &id), (DriverState::Finished, None));
    let said = log(&worker, LogOwner::Driver(id.clone()), LogStream::Stdout).unwrap();
    let secret = cluster.security.secret.as_ref().unwrap().to_hex();
    assert_eq!(said, format!("or not to\nto be\n{id} {}\nhex:{secret}\n", worker.address()));
    let again = cluster.submit_client().submit(&driver).unwrap();
    assert_eq!(ended(&cluster, &again), (DriverState::Finished, None), "what was uploaded serves twice");
    cluster.submit_client().clear_completed().unwrap();
    assert_eq!(cluster.submit_client().status(&id).unwrap(), None);
}

/// Behaviours: WORK-012, WORK-013.
#[test]
fn the_exit_code_decides_how_a_driver_ends_and_one_that_fails_is_not_started_again() {
    let cluster = Cluster::new();
    let worker = cluster.worker("w", 2);
    let client = cluster.submit_client();
    let failing = script(cluster.folder.path(), "failing", "echo once; exit 3");
    let endless = script(cluster.folder.path(), "endless", "echo $$; exec sleep 1000");

    let failed = client.submit(&failing).unwrap();
    assert_eq!(ended(&cluster, &failed).0, DriverState::Failed);
    let said = log(&worker, LogOwner::Driver(failed), LogStream::Stdout).unwrap();
    assert_eq!(said, "once\n");
    let endless = client.submit(&endless).unwrap();
    let pid: i32 = eventually("it runs", || {
        log(&worker, LogOwner::Driver(endless.clone()), LogStream::Stdout)?.trim().parse().ok()
    });
    assert!(client.kill(&endless).unwrap());

    assert_eq!(ended(&cluster, &endless).0, DriverState::Killed);
    wait_until_gone(pid);
    assert!(!client.kill(&endless).unwrap(), "it has ended");
    assert!(!client.kill(&"driver-unknown".into()).unwrap());
}

/// Behaviours: WORK-013.
#[test]
fn a_supervised_driver_is_started_again_after_it_failed() {
    let cluster = Cluster::new();
    let worker = cluster.worker("w", 1);
    let driver =
        script(cluster.folder.path(), "driver", "echo run; [ -f been ] && exit 0; touch been; exit 1");

    let id = cluster.submit_client().submit(&DriverSubmission { supervise: true, ..driver }).unwrap();

    assert_eq!(ended(&cluster, &id), (DriverState::Finished, None));
    assert_eq!(log(&worker, LogOwner::Driver(id), LogStream::Stdout).unwrap(), "run\nrun\n");
}

/// Behaviours: MAST-015, MAST-023.
#[test]
fn a_supervised_driver_follows_to_another_worker_under_a_new_id() {
    let cluster = Cluster::new();
    let first = cluster.worker("first", 1);
    let marker = cluster.folder.path().join("been");
    let text = format!("[ -f {0} ] && exit 0; touch {0}; exec sleep 1000", marker.display());
    let driver = DriverSubmission { supervise: true, ..script(cluster.folder.path(), "driver", &text) };
    let client = cluster.submit_client();
    let id = client.submit(&driver).unwrap();
    eventually("it runs", || marker.exists().then_some(()));

    first.stop();
    let _second = cluster.worker("second", 1);
    let mut seen = Vec::new();
    let last =
        client.follow(&id, true, |driver, status| seen.push((driver.clone(), status.clone()))).unwrap();

    assert!(matches!(last, Some(DriverStatus::Ended { state: DriverState::Finished, .. })), "{seen:?}");
    assert!(matches!(&seen[0], (of, DriverStatus::Relaunched { .. }) if *of == id), "{seen:?}");
    assert_ne!(seen.last().unwrap().0, id);
}

/// Behaviours: WORK-012.
#[test]
fn a_driver_whose_executable_is_gone_ends_in_error_with_its_cause() {
    let cluster = Cluster::new();
    let driver = script(cluster.folder.path(), "driver", "exit 0");
    let id = cluster.submit_client().submit(&driver).unwrap();
    for upload in fs::read_dir(cluster.folder.path().join("uploads")).unwrap() {
        fs::remove_file(upload.unwrap().path()).unwrap();
    }

    let _worker = cluster.worker("w", 1);

    let (state, error) = ended(&cluster, &id);
    assert_eq!(state, DriverState::Error);
    assert!(error.as_ref().is_some_and(|error| error.contains("it is not here")), "{error:?}");
}

/// Behaviours: CLI-010.
#[test]
fn a_client_finds_the_master_that_answers_among_those_that_do_not() {
    let cluster = Cluster::new();
    let unused = Address::new("127.0.0.1", 1);
    let client = |masters| {
        let conf = SubmitConf { security: cluster.security.clone(), ..SubmitConf::new(masters) };
        firesteel_deploy::submit::SubmitClient::new(conf)
    };

    let both = client(vec![unused.clone(), cluster.master.address().clone()]);
    assert_eq!(both.leader().unwrap(), *cluster.master.address());
    assert_eq!(both.status(&"driver-unknown".into()).unwrap(), None);
    both.kill_all().unwrap();

    let none = client(vec![unused]).leader().unwrap_err();
    assert!(matches!(&none, SubmitError::NoMaster { tried } if tried.contains("127.0.0.1:1")), "{none}");
    let missing = both.submit(&DriverSubmission::new("/no/such/file")).unwrap_err();
    assert!(matches!(missing, SubmitError::BadDriver { .. }), "{missing}");
}

#[test]
fn what_no_driver_needs_any_more_is_removed_from_the_master() {
    let cluster = Cluster::with(|conf, _| conf.artifact_age = std::time::Duration::ZERO);
    let _worker = cluster.worker("w", 1);
    let driver = script(cluster.folder.path(), "driver", "exit 0");

    let id = cluster.submit_client().submit(&driver).unwrap();
    ended(&cluster, &id);

    eventually("nothing is kept", || {
        let kept = fs::read_dir(cluster.folder.path().join("uploads")).unwrap().count();
        (kept == 0).then_some(())
    });
}
