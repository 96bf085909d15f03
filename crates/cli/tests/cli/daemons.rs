//! `firesteel master` and `firesteel worker` in the foreground.

use std::fs;

use crate::support::{Daemon, eventually, get, is_running, run};

const SECRET: &str = "firesteel.authenticate.secret=the secret of this cluster";

fn master(home: &std::path::Path, more: &[&str]) -> Daemon {
    let mut arguments = vec!["master", "--port", "0", "--webui-port", "0"];
    arguments.extend(more);
    Daemon::start(home, &arguments)
}

#[test]
fn a_master_and_its_worker_say_where_they_are_and_end_when_they_are_asked_to() {
    let home = tempfile::tempdir().unwrap();
    let work = home.path().join("work");
    let master = master(home.path(), &[]);
    let (url, page) = (master.said("master at "), master.said("page at "));
    let arguments = ["worker", &url, "--cores", "3", "--memory", "700m", "--webui-port", "0", "--work-dir"];
    let worker = Daemon::start(home.path(), &[&arguments[..], &[work.to_str().unwrap()]].concat());

    let json = eventually("the worker is registered", || {
        let json = get(&page, "/json").json();
        (json["aliveworkers"] == 1).then_some(json)
    });
    assert_eq!((&json["cores"], &json["memory"]), (&3.into(), &700.into()));
    let shown = get(&page, "/");
    assert!(shown.body.contains(json["workers"][0]["id"].as_str().unwrap()), "{}", shown.body);
    let own = get(&worker.said("page at "), "/json").json();
    assert_eq!(own["masterurl"], url.as_str());
    let status = run(home.path(), &["status", "--page", &page]).worked().out;
    assert!(status.contains("1 alive, 0 of 3 cores"), "{status}");

    worker.signal("TERM");
    assert_eq!(worker.wait().code(), Some(0));
    master.signal("INT");
    assert_eq!(master.wait().code(), Some(0));
}

#[test]
fn nothing_listens_beyond_this_machine_without_a_secret() {
    let home = tempfile::tempdir().unwrap();

    let told = ["will not listen at 0.0.0.0:", "firesteel.authenticate.secret", "127.0.0.1"];
    run(home.path(), &["master", "--host", "0.0.0.0", "--port", "0"]).failed(1, &told);
    let worker = ["worker", "firesteel://127.0.0.1:1", "--host", "0.0.0.0", "--cores", "1", "--memory", "1g"];
    run(home.path(), &[&worker[..], &["--work-dir", home.path().to_str().unwrap()]].concat())
        .failed(1, &told);
    let short = ["master", "--port", "0", "--conf", "firesteel.authenticate.secret=short"];
    run(home.path(), &short).failed(1, &["can be guessed"]);
}

#[test]
fn who_has_another_secret_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("secret");
    fs::write(&file, "the secret of this cluster\n").unwrap();
    let in_file = format!("firesteel.authenticate.secret.file={}", file.display());
    let master = master(home.path(), &["--host", "127.0.0.1", "--conf", &in_file]);
    let url = master.said("master at ");
    let kill = |more: &[&str]| run(home.path(), &[&["kill", "--all", "--master", &url][..], more].concat());

    kill(&["--conf", SECRET]).worked();
    let wrong = "firesteel.authenticate.secret=another secret of the same length";
    kill(&["--conf", wrong]).failed(1, &["none of the masters can be used", "secret"]);
    kill(&[]).failed(1, &["none of the masters can be used", "secret"]);
    let page = get(&master.said("page at "), "/");
    assert!(page.status == 200 && !page.body.contains("the secret of this cluster"), "{page:?}");
    assert!(is_running(master.pid()), "service goes on");
}

#[test]
fn a_worker_that_finds_no_master_gives_up_with_code_1() {
    let home = tempfile::tempdir().unwrap();
    let arguments =
        ["worker", "firesteel://127.0.0.1:1", "--cores", "1", "--memory", "1g", "--webui-port", "0"];
    let once = ["--conf", "firesteel.worker.maxRegistrationRetries=0"];
    let work = ["--work-dir", home.path().to_str().unwrap()];

    run(home.path(), &[&arguments[..], &once, &work].concat()).failed(1, &["gave up"]);
}
