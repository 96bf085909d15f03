//! Who may listen, and who may join.

use std::{fs, time::Duration};

use firesteel_deploy::{
    DeployError, Security,
    client::AppClientConf,
    master::{MasterServer, MasterServerConf},
    worker::{WorkerServer, WorkerServerConf},
};
use firesteel_net::{Secret, TlsClient, TlsServer};

use crate::support::*;

#[test]
fn nothing_listens_for_other_machines_without_a_secret() {
    let folder = tempfile::tempdir().unwrap();
    let master = MasterServer::start(MasterServerConf::new("0.0.0.0", 0)).unwrap_err();
    let work = folder.path().join("work");
    let worker = WorkerServer::start(WorkerServerConf::new("0.0.0.0", &[], 1, 1, &work)).unwrap_err();

    for error in [master, worker] {
        assert!(matches!(error, DeployError::Unprotected { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("0.0.0.0:0") && text.contains("firesteel.authenticate.secret"), "{text}");
    }
    assert!(!work.exists(), "it did not begin");
}

#[test]
fn with_a_secret_it_does_and_is_reached_by_its_public_name() {
    let security = Security { secret: Some(Secret::random()), ..Security::default() };
    let conf = MasterServerConf {
        public_host: Some("localhost".to_owned()),
        security: security.clone(),
        ..MasterServerConf::new("0.0.0.0", 0)
    };

    let master = MasterServer::start(conf).unwrap();

    assert_eq!(master.address().host.as_str(), "localhost");
    let app = App::start(AppClientConf {
        security,
        ..AppClientConf::new(&[master.address().clone()], description(shell("exit 0")))
    });
    app.id();
}

#[test]
fn who_does_not_know_the_secret_is_not_let_in() {
    let cluster = Cluster::new();
    let stranger = Security { secret: Some(Secret::random()), ..Security::default() };
    let mut conf = cluster.worker_conf("w", 1);
    conf.security = stranger.clone();
    conf.machine.initial_registration_interval = Duration::from_millis(10);
    conf.machine.prolonged_registration_interval = Duration::from_millis(10);
    let masters = [cluster.master.address().clone()];

    let worker = WorkerServer::start(conf).unwrap();
    let app = App::start(AppClientConf {
        machine: impatient(&masters),
        security: stranger,
        redial: redial(),
        ..AppClientConf::new(&masters, description(shell("exit 0")))
    });

    assert_eq!(worker.wait().code(), 1);
    app.dead();
    let status = cluster.status();
    assert_eq!((status.workers.len(), status.apps.len()), (0, 0));
}

/// Certificates for this machine: those of a server, and the authority that made them.
fn tls(cluster_folder: &std::path::Path) -> (TlsServer, TlsClient) {
    let made =
        rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
    let (chain, key) = (cluster_folder.join("chain.pem"), cluster_folder.join("key.pem"));
    fs::write(&chain, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    (TlsServer::from_pem(&chain, &key).unwrap(), TlsClient::from_pem(&chain).unwrap())
}

#[test]
fn a_cluster_with_tls_works_and_turns_plain_connections_away() {
    let mut cluster = Cluster::with(|conf, folder| {
        let (server, client) = tls(folder);
        conf.security.tls_server = Some(server);
        conf.security.tls_client = Some(client);
    });
    let worker = cluster.worker("w", 1);
    let app = cluster.app("echo hello; exec sleep 1000");
    let id = app.id();
    eventually("it runs", || stdout(&worker, &id, 0).filter(|said| said == "hello\n"));
    let driver = crate::drivers::script(cluster.folder.path(), "driver", "exit 0");
    cluster.submit_client().submit(&driver).unwrap();

    cluster.security.tls_client = None;
    let masters = [cluster.master.address().clone()];
    let plain = App::start(AppClientConf {
        machine: impatient(&masters),
        security: cluster.security.clone(),
        redial: redial(),
        ..AppClientConf::new(&masters, description(shell("exit 0")))
    });

    plain.dead();
    assert_eq!(cluster.status().apps.len(), 1);
}
