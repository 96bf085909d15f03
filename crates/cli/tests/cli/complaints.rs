//! What a user is told when an application cannot run.

use crate::{
    apps::{REPLACED, SUM, own_executable},
    support::{Beside, Cluster, firesteel, run, script},
};

#[test]
fn a_master_that_is_not_there_is_named() {
    let home = tempfile::tempdir().unwrap();
    let soon = ["--conf", "firesteel.registration.timeout=100ms"];
    let submit = |master: &str| {
        let arguments = [&["submit", "--master", master][..], &soon, &[&own_executable()], &SUM];
        run(home.path(), &arguments.concat())
    };

    submit("firesteel://127.0.0.1:1")
        .failed(3, &["no master at firesteel://127.0.0.1:1", "Connection refused"]);
    submit("spark://127.0.0.1:1").failed(1, &["--master spark://127.0.0.1:1", "firesteel://"]);
}

#[test]
fn an_executor_that_fits_no_worker_is_told_with_what_there_is() {
    let cluster = Cluster::up(1, 1, &[]);
    let mut command = firesteel(cluster.home.path());
    command
        .args(["submit", "--master", &cluster.master, "--executor-memory", "5g", &own_executable()])
        .args(SUM);

    let mut application = Beside::start(cluster.home.path(), "large.log", command);

    application.says(&[
        "needs 1 cores and 5120 MiB",
        "the largest of 1 workers has 1 cores and 1024 MiB",
        "lower firesteel.executor.memory",
    ]);
}

#[test]
fn an_executor_that_is_too_small_to_run_anything_is_not_even_started() {
    let cluster = Cluster::up(1, 1, &[]);
    let submit = ["submit", "--master", &cluster.master, "--executor-memory", "256m", &own_executable()];

    let ran = cluster.run(&[&submit[..], &SUM].concat());

    ran.failed(3, &["256.0 MiB of memory are too little", "raise firesteel.executor.memory"]);
}

/// Behaviours: CLI-006.
#[test]
fn an_application_whose_executors_end_before_they_join_is_given_up_with_its_jobs() {
    let home = tempfile::tempdir().unwrap();
    let application = home.path().join("app");
    std::fs::copy(own_executable(), &application).unwrap();
    let submit = ["submit", "--master", "local-cluster[1,1,1024]", "--conf"];
    let few = ["firesteel.deploy.maxExecutorRetries=3", application.to_str().unwrap()];

    let ran = run(home.path(), &[&submit[..], &few, &REPLACED].concat());

    ran.failed(3, &["3 executors in a row ended before they joined", "their logs"]);
}

#[test]
fn settings_of_an_application_are_checked_before_it_runs() {
    let home = tempfile::tempdir().unwrap();
    let app = script(home.path(), "app", "echo it ran");
    let submit = |more: &[&str]| {
        let ran = run(home.path(), &[&["submit"], more, &[&app]].concat());
        assert!(!ran.out.contains("it ran"), "{ran:?}");
        ran
    };

    let nearest = "did you mean `firesteel.executor.memory`?";
    submit(&["--conf", "firesteel.executer.memory=1g"]).failed(1, &["firesteel.executer.memory", nearest]);
    submit(&["--executor-memory", "lots"]).failed(1, &["--executor-memory lots"]);
    submit(&["--executor-cores", "two"]).failed(2, &["--executor-cores", "two"]);
    submit(&["--master", "local[0]"]).failed(1, &["local[0]"]);
}

#[test]
fn a_file_that_cannot_be_run_is_told_before_anybody_is_asked() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("notes.txt");
    std::fs::write(&file, "not a program").unwrap();
    let file = file.to_str().unwrap();

    for mode in ["client", "cluster"] {
        let submit = ["submit", "--master", "firesteel://127.0.0.1:1", "--deploy-mode", mode, file];
        run(home.path(), &submit).failed(1, &["notes.txt", "chmod +x"]);
    }
}
