//! The protocol, against a real master.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, sync::Arc};

use firesteel_deploy::{
    Security,
    master::{MasterServer, MasterServerConf},
    submit::{SubmitClient, SubmitConf},
};
use firesteel_net::Secret;
use serde_json::json;

use super::submission::understand;
use crate::{
    Pages, Site,
    serve::testing::{Fetched, request, site},
};

const JSON: &str = "Content-Type: application/json\r\n";

struct Served {
    site: Site,
    master: Arc<MasterServer>,
}

fn served(secret: Option<Secret>) -> Served {
    let security = Security { secret: secret.clone(), ..Security::default() };
    let conf = MasterServerConf { security: security.clone(), ..MasterServerConf::new("127.0.0.1", 0) };
    let master = Arc::new(MasterServer::start(conf).unwrap());
    let conf = SubmitConf { security, ..SubmitConf::new(vec![master.address().clone()]) };
    let site = site(Pages::submissions(SubmitClient::new(conf), master.url(), secret));
    Served { site, master }
}

impl Served {
    fn create(&self, head: &str, body: &str) -> Fetched {
        request(&self.site, "POST", "/v1/submissions/create", head, body)
    }
}

fn script(folder: &Path) -> String {
    let path = folder.join("driver");
    fs::write(&path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn create_request(resource: &str) -> String {
    json!({
        "action": "CreateSubmissionRequest",
        "appResource": format!("file://{resource}"),
        "mainClass": "org.example.Main",
        "clientSparkVersion": "3.5.1",
        "appArgs": ["one", "two"],
        "environmentVariables": { "MINE": "1" },
        "sparkProperties": {
            "spark.app.name": "etl", "spark.master": "spark://elsewhere:6066", "spark.driver.memory": "2g",
            "firesteel.driver.cores": "2", "spark.driver.supervise": "true", "spark.jars": "a.jar",
        },
        "extra": 1,
    })
    .to_string()
}

#[test]
fn a_driver_is_submitted_asked_after_and_ended() {
    let folder = tempfile::tempdir().unwrap();
    let served = served(None);

    let created = served.create(JSON, &create_request(&script(folder.path())));
    assert_eq!(created.status, 200, "{}", created.body);
    let created = created.json();
    assert_eq!((&created["action"], &created["success"]), (&json!("CreateSubmissionResponse"), &json!(true)));
    assert_eq!(created["unknownFields"], json!(["extra", "sparkProperties.spark.jars"]));
    let id = created["submissionId"].as_str().unwrap();
    let line = served.master.status().unwrap().drivers.remove(0);
    assert_eq!((line.id.as_str(), line.cores, line.memory_mib, line.supervise), (id, 2, 2048, true));

    let status = || request(&served.site, "GET", &format!("/v1/submissions/status/{id}"), "", "").json();
    let waiting = status();
    assert_eq!((&waiting["driverState"], &waiting["success"]), (&json!("SUBMITTED"), &json!(true)));
    let kill = |id: &str| request(&served.site, "POST", &format!("/v1/submissions/kill/{id}"), "", "").json();
    assert_eq!(kill(id)["success"], true);
    assert_eq!(status()["driverState"], "KILLED");
    assert_eq!(kill(id)["success"], false);
    let unknown = request(&served.site, "GET", "/v1/submissions/status/driver-9", "", "").json();
    assert_eq!((&unknown["success"], &unknown["submissionId"]), (&json!(false), &json!("driver-9")));
}

#[test]
fn what_is_malformed_is_told_and_nothing_is_submitted() {
    let served = served(None);
    let wrong_action = r#"{"action":"KillSubmissionRequest","appResource":"/a"}"#;
    let bad_setting = r#"{"action":"CreateSubmissionRequest","appResource":"/a","sparkProperties":{"spark.driver.cores":"no"}}"#;
    let own_typo = r#"{"action":"CreateSubmissionRequest","appResource":"/a","sparkProperties":{"firesteel.driver.core":"1"}}"#;
    let url = r#"{"action":"CreateSubmissionRequest","appResource":"http://h/a"}"#;
    let missing = r#"{"action":"CreateSubmissionRequest","appResource":"/no/such/file"}"#;
    let cases = [
        ("", "malformed request"),
        ("{", "malformed request"),
        ("[1]", "malformed request"),
        (r#"{"action":"CreateSubmissionRequest"}"#, "appResource"),
        (wrong_action, "CreateSubmissionRequest"),
        (bad_setting, "spark.driver.cores"),
        (own_typo, "firesteel.driver.core"),
        (url, "full path"),
        (missing, "No such file"),
    ];

    for (body, told) in cases {
        let answer = served.create(JSON, body);
        assert_eq!(answer.status, 400, "{body}");
        let answer = answer.json();
        assert_eq!(answer["action"], "ErrorResponse");
        assert!(answer["message"].as_str().unwrap().contains(told), "{answer}");
    }
    assert!(served.master.status().unwrap().drivers.is_empty());
}

#[test]
fn addresses_that_mean_nothing_and_other_versions_are_told() {
    let served = served(None);

    for (method, path) in
        [("GET", "/"), ("GET", "/v1/submissions/create"), ("POST", "/v1/submissions/status/d")]
    {
        let answer = request(&served.site, method, path, "", "");
        assert_eq!(
            (answer.status, &answer.json()["action"]),
            (400, &json!("ErrorResponse")),
            "{method} {path}"
        );
    }
    let other = request(&served.site, "POST", "/v2/submissions/create", JSON, "{}");
    assert_eq!((other.status, &other.json()["highestProtocolVersion"]), (468, &json!("v1")));
    let form = served.create("Content-Type: text/plain\r\n", "{}");
    assert_eq!(form.status, 415, "a page of another site could send this");
}

#[test]
fn where_there_is_a_secret_a_request_must_carry_it() {
    let folder = tempfile::tempdir().unwrap();
    let secret = Secret::new(b"the secret of this cluster").unwrap();
    let served = served(Some(secret.clone()));
    let body = create_request(&script(folder.path()));

    for head in [JSON.to_owned(), format!("{JSON}Authorization: Bearer wrong\r\n")] {
        let refused = served.create(&head, &body);
        assert_eq!(refused.status, 401);
        assert!(
            refused.json()["message"].as_str().unwrap().contains("Authorization: Bearer"),
            "{}",
            refused.body
        );
    }
    assert_eq!(request(&served.site, "GET", "/v1/submissions/status/d", "", "").status, 401);
    assert_eq!(request(&served.site, "POST", "/v1/submissions/kill/d", "", "").status, 401);
    assert!(served.master.status().unwrap().drivers.is_empty());

    let with = format!("{JSON}Authorization: Bearer {}\r\n", super::rest_token(&secret));
    assert_eq!(served.create(&with, &body).status, 200);
}

#[test]
fn a_driver_gets_the_settings_and_the_master_of_its_cluster() {
    let body = create_request("/opt/etl");

    let understood = understand(body.as_bytes(), "firesteel://h0:7077").unwrap();

    let driver = understood.driver;
    assert_eq!(
        (driver.executable.to_str(), driver.arguments.join(" ").as_str()),
        (Some("/opt/etl"), "one two")
    );
    assert_eq!(driver.environment["FIRESTEEL_MASTER"], "firesteel://h0:7077");
    assert_eq!(driver.environment["MINE"], "1");
    assert_eq!(
        driver.environment["FIRESTEEL_SETTINGS"],
        "firesteel.app.name=etl\nfiresteel.driver.cores=2\nfiresteel.driver.memory=2g\nfiresteel.driver.supervise=true\n"
    );
}
