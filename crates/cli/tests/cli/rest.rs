//! Drivers over HTTP, at a master that runs by itself.

use firesteel_net::Secret;
use firesteel_ui::rest_token;
use serde_json::json;

use crate::support::{Cluster, Daemon, eventually, get, request, script};

const JSON: &str = "Content-Type: application/json\r\n";
const SECRET: &str = "the secret of this cluster";

#[test]
fn a_driver_is_created_watched_and_killed_over_http() {
    let home = tempfile::tempdir().unwrap();
    let enabled = ["--conf", "firesteel.master.rest.enabled=true", "--conf", "firesteel.master.rest.port=0"];
    let master =
        Daemon::start(home.path(), &[&["master", "--port", "0", "--webui-port", "0"][..], &enabled].concat());
    let rest = master.said("submissions at ");
    let work = home.path().join("work");
    let worker = [
        "worker",
        &master.said("master at "),
        "--cores",
        "1",
        "--memory",
        "1g",
        "--webui-port",
        "0",
        "--work-dir",
    ];
    let _worker = Daemon::start(home.path(), &[&worker[..], &[work.to_str().unwrap()]].concat());
    let app = script(home.path(), "app", "echo $1 $MINE; exec sleep 1000");

    let create = json!({
        "action": "CreateSubmissionRequest", "appResource": app, "appArgs": ["hello"], "clientSparkVersion": "3.5.1",
        "mainClass": "", "environmentVariables": { "MINE": "world" }, "sparkProperties": { "spark.driver.memory": "64m" },
    });
    let created = request(&rest, "POST", "/v1/submissions/create", JSON, &create.to_string()).json();
    assert_eq!(created["success"], true, "{created}");
    let id = created["submissionId"].as_str().unwrap();
    let status = |wanted: &str| {
        eventually(wanted, || {
            let status = get(&rest, &format!("/v1/submissions/status/{id}")).json();
            (status["driverState"] == wanted).then_some(status)
        })
    };
    assert!(status("RUNNING")["workerId"].as_str().unwrap().starts_with("worker-"));
    assert_eq!(request(&rest, "POST", &format!("/v1/submissions/kill/{id}"), "", "").json()["success"], true);
    status("KILLED");

    let malformed = request(&rest, "POST", "/v1/submissions/create", JSON, "{\"action\": 3");
    assert_eq!((malformed.status, &malformed.json()["action"]), (400, &json!("ErrorResponse")));
}

#[test]
fn without_the_secret_of_the_cluster_nothing_is_submitted() {
    let secret = format!("firesteel.authenticate.secret={SECRET}");
    let home = tempfile::tempdir().unwrap();
    let conf = [
        "--conf",
        &secret,
        "--conf",
        "firesteel.master.rest.enabled=true",
        "--conf",
        "firesteel.master.rest.port=0",
    ];
    let place = ["master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"];
    let master = Daemon::start(home.path(), &[&place[..], &conf].concat());
    let rest = master.said("submissions at ");

    let refused = get(&rest, "/v1/submissions/status/driver-1");
    assert_eq!(refused.status, 401);
    assert!(refused.json()["message"].as_str().unwrap().contains("Authorization: Bearer"), "{refused:?}");
    let head = format!("Authorization: Bearer {}\r\n", rest_token(&Secret::new(SECRET.as_bytes()).unwrap()));
    let asked = request(&rest, "GET", "/v1/submissions/status/driver-1", &head, "");
    assert_eq!((asked.status, &asked.json()["success"]), (200, &json!(false)));
}

#[test]
fn a_master_takes_no_drivers_over_http_unless_it_is_told_to() {
    let cluster = Cluster::up(1, 1, &[]);

    assert_eq!(request(&cluster.page, "POST", "/v1/submissions/create", JSON, "{}").status, 404);
}
