//! `firesteel submit`, `status` and `kill`.

use std::fs;

use crate::{
    apps::{SUM, WORDS, own_executable},
    support::{Cluster, eventually, get, run, script},
};

/// Drivers and executors that fit a small cluster, and answers without long waits.
const SMALL: [&str; 8] = [
    "--conf",
    "firesteel.submit.firstLook=100ms",
    "--conf",
    "firesteel.submit.lookEvery=50ms",
    "--executor-memory",
    "512m",
    "--driver-memory",
    "256m",
];

#[test]
fn an_application_runs_here_or_on_the_cluster_with_the_same_answer() {
    let cluster = Cluster::up(2, 2, &[]);
    let application = own_executable();

    let client = ["submit", "--master", &cluster.master, "--name", "<script>alert(1)</script>", &application];
    let client = cluster.run(&[&client[..5], &SMALL, &client[5..], &SUM].concat()).worked();
    assert!(client.out.contains("the sum is 499500 on app-"), "{client:?}");
    let page = eventually("the master shows that it ended", || {
        let page = get(&cluster.page, "/").body;
        page.contains("Completed applications (1)").then_some(page)
    });
    assert!(page.contains("&lt;script&gt;alert(1)") && !page.contains("<script"), "{page}");

    let driver = ["submit", "--master", &cluster.master, "--deploy-mode", "cluster", "--wait"];
    let driver = cluster.run(&[&driver[..], &SMALL, &[&application], &SUM].concat()).worked();
    assert!(driver.err.contains("has finished"), "{driver:?}");
    let id = driver.out.trim();
    let logs =
        cluster.worker_pages.iter().map(|page| get(page, &format!("/log/?driverId={id}&logType=stdout")));
    let log = logs.into_iter().find(|log| log.status == 200).expect("one of the workers ran it");
    assert!(log.body.contains("the sum is 499500 on app-"), "{log:?}");
    let status = cluster.run(&["status"]).worked().out;
    assert!(status.contains(id) && status.contains("FINISHED"), "{status}");
}

#[test]
fn files_are_sent_along_in_both_modes() {
    let cluster = Cluster::up(1, 2, &[]);
    let application = own_executable();
    let words = cluster.home.path().join("words.txt");
    fs::write(&words, "to be or not to be").unwrap();
    let files = ["--master", &cluster.master, "--files", words.to_str().unwrap()];

    let client = cluster.run(&[&["submit"], &files[..], &SMALL, &[&application], &WORDS].concat()).worked();
    assert!(client.out.contains("the words are [6, 6]"), "{client:?}");

    let mode = ["--deploy-mode", "cluster", "--wait"];
    let driver =
        cluster.run(&[&["submit"], &mode[..], &files, &SMALL, &[&application], &WORDS].concat()).worked();
    let log = get(&cluster.worker_pages[0], &format!("/log/?driverId={}&logType=stdout", driver.out.trim()));
    assert!(log.body.contains("the words are [6, 6]"), "{log:?}");
    let missing = ["submit", "--files", "/no/such/file", &application];
    cluster.run(&missing).failed(1, &["--files /no/such/file", "No such file"]);
}

#[test]
fn an_application_gets_its_arguments_and_settings_and_its_code_is_ours() {
    let home = tempfile::tempdir().unwrap();
    let app = script(
        home.path(),
        "app",
        "echo \"$@\"; echo $FIRESTEEL_MASTER; echo \"$FIRESTEEL_SETTINGS\"; exit 7",
    );
    let file = home.path().join("conf");
    fs::write(&file, "firesteel.executor.memory 3g\nfiresteel.cores.max 9\n").unwrap();

    let arguments = ["submit", "--master", "local[3]", "--total-executor-cores", "5", "--properties-file"];
    let rest = ["--conf", "firesteel.task.cpus=2", &app, "--wait", "-x", "two words"];
    let ran = run(home.path(), &[&arguments[..], &[file.to_str().unwrap()], &rest].concat());

    assert_eq!(ran.code, Some(7));
    let expected = "--wait -x two words\nlocal[3]\nfiresteel.cores.max=5\nfiresteel.executor.memory=3g\n\
                    firesteel.master=local[3]\nfiresteel.task.cpus=2\n\n";
    assert_eq!(ran.out, expected);
}

#[test]
fn a_driver_that_fails_is_told_and_one_that_does_not_end_is_killed() {
    let cluster = Cluster::up(1, 1, &[]);
    let failing = script(cluster.home.path(), "failing", "echo for nothing; exit 3");
    let endless = script(cluster.home.path(), "endless", "exec sleep 1000");
    let submit = |wait: &[&str], app: &str| {
        let arguments = ["submit", "--master", &cluster.master, "--deploy-mode", "cluster"];
        cluster.run(&[&arguments[..], wait, &SMALL, &[app]].concat())
    };

    submit(&["--wait"], &failing).failed(1, &["has failed"]);
    let endless = submit(&[], &endless).worked();
    let id = endless.out.trim();
    assert!(endless.err.contains(&format!("{id} runs on worker-")), "{endless:?}");
    assert!(cluster.run(&["kill", id]).worked().out.contains("was told to end"));

    eventually("it is killed", || {
        let status = get(&cluster.page, "/json").json();
        let mut completed = status["completeddrivers"].as_array().unwrap().iter();
        completed.any(|driver| driver["id"] == id && driver["state"] == "KILLED").then_some(())
    });
    cluster.run(&["kill", id, "driver-unknown"]).failed(1, &[id, "driver-unknown", "firesteel status"]);
}

#[test]
fn with_a_secret_and_certificates_both_modes_give_the_same_answer() {
    let home = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let (certificate, key) = (home.path().join("cert.pem"), home.path().join("key.pem"));
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let settings = [
        "firesteel.authenticate.secret=the secret of this cluster".to_owned(),
        format!("firesteel.ssl.certificate={}", certificate.display()),
        format!("firesteel.ssl.key={}", key.display()),
    ];
    let conf: Vec<&str> = settings.iter().flat_map(|setting| ["--conf", setting]).collect();
    let here = ["--conf", "firesteel.master.host=127.0.0.1", "--conf", "firesteel.worker.host=127.0.0.1"];
    let cluster = Cluster::up(1, 2, &[&conf[..], &here].concat());
    let application = own_executable();

    let submit = |conf: &[&str], more: &[&str]| {
        let arguments =
            ["submit", "--master", &cluster.master, "--conf", "firesteel.registration.timeout=300ms"];
        cluster.run(&[&arguments[..], conf, &SMALL, more, &[&application], &SUM].concat())
    };
    assert!(submit(&conf, &[]).worked().out.contains("the sum is 499500"));
    let driver = submit(&conf, &["--deploy-mode", "cluster", "--wait"]).worked();
    let log = get(&cluster.worker_pages[0], &format!("/log/?driverId={}&logType=stdout", driver.out.trim()));
    assert!(log.body.contains("the sum is 499500"), "{log:?}");
    // Without certificates, and without the secret.
    submit(&conf[..2], &[]).failed(3, &["TLS"]);
    submit(&conf[2..], &[]).failed(3, &["secret"]);
}

/// Behaviours: WORK-013.
#[test]
fn a_supervised_driver_that_fails_is_started_again() {
    let cluster = Cluster::up(1, 1, &[]);
    let flag = cluster.home.path().join("flag");
    let text = format!("[ -e {0} ] && exit 0; touch {0}; exit 3", flag.display());
    let app = script(cluster.home.path(), "app", &text);

    let arguments =
        ["submit", "--master", &cluster.master, "--deploy-mode", "cluster", "--supervise", "--wait"];
    let ran = cluster.run(&[&arguments[..], &SMALL, &[&app]].concat()).worked();

    assert!(flag.exists() && ran.err.contains("has finished"), "{ran:?}");
}

#[test]
fn every_driver_is_killed_at_once() {
    let cluster = Cluster::up(1, 2, &[]);
    let endless = script(cluster.home.path(), "endless", "exec sleep 1000");
    for _ in 0..2 {
        let arguments = ["submit", "--master", &cluster.master, "--deploy-mode", "cluster"];
        cluster.run(&[&arguments[..], &SMALL, &[&endless]].concat()).worked();
    }

    assert!(cluster.run(&["kill", "--all"]).worked().out.contains("every driver was told to end"));

    eventually("both are killed", || {
        let status = get(&cluster.page, "/json").json();
        let completed = status["completeddrivers"].as_array().unwrap();
        (completed.iter().filter(|driver| driver["state"] == "KILLED").count() == 2).then_some(())
    });
}

#[test]
fn what_cannot_be_submitted_is_told() {
    let home = tempfile::tempdir().unwrap();
    let app = script(home.path(), "app", "exit 0");
    let unused = "firesteel://127.0.0.1:1";

    run(home.path(), &["submit", "./no-such-app"]).failed(1, &["cannot run ./no-such-app", "No such file"]);
    run(home.path(), &["submit", home.path().to_str().unwrap()]).failed(1, &["it is not a file"]);
    let cluster = ["submit", "--deploy-mode", "cluster", "--master"];
    run(home.path(), &[&cluster[..], &[unused, &app]].concat())
        .failed(1, &["none of the masters", "127.0.0.1:1"]);
    run(home.path(), &[&cluster[..], &["local[2]", &app]].concat()).failed(2, &["is no cluster"]);
    run(home.path(), &["submit", "--deploy-mode", "cluster", &app]).failed(1, &["firesteel cluster up"]);
    run(home.path(), &["submit", "--wait", &app]).failed(2, &["--deploy-mode cluster"]);
}
