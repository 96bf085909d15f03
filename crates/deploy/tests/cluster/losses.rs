//! Workers that fall silent, and masters that never answer.

use std::{sync::mpsc::channel, time::Duration};

use firesteel_deploy::{Ending, FromMaster, ToMaster, master::WorkerLineState};
use firesteel_net::{Closed, Handler, Line, LineConf, Service};
use firesteel_scheduler::deploy::{Grant, MasterToWorker, WorkerDescription, WorkerReport, WorkerToMaster};

use crate::support::*;

/// A worker that only listens.
struct Silent(std::sync::mpsc::Sender<FromMaster>);

impl Handler<FromMaster> for Silent {
    fn messages(&mut self, messages: &mut Vec<FromMaster>) {
        for message in messages.drain(..) {
            // The test may be over.
            let _ = self.0.send(message);
        }
    }

    fn closed(&mut self, _: Closed) {}
}

/// Behaviours: MAST-013, MAST-014, MAST-015.
#[test]
fn a_worker_that_falls_silent_is_lost_with_its_executors() {
    let cluster = Cluster::with(|conf, _| conf.machine.worker_timeout = Duration::from_millis(300));
    let (tell, told) = channel();
    let address = cluster.master.address();
    let line: Line<ToMaster> =
        cluster.security.dialer().line(address, Service::Master, &LineConf::default(), Silent(tell)).unwrap();
    let worker = WorkerDescription {
        id: "silent".into(),
        host: "h".into(),
        port: 1,
        resources: Grant { cores: 1, memory_mib: 1024, ..Grant::default() },
        page: None,
    };
    let contacted: firesteel_scheduler::deploy::MasterAddress = address.to_string().into();
    let register = WorkerToMaster::RegisterWorker { worker, contacted: contacted.clone() };
    line.send(&ToMaster::Worker(register)).unwrap();
    let taken_in = MasterToWorker::RegisteredWorker { contacted, duplicate: false };
    assert_eq!(told.recv_timeout(GUARD), Ok(FromMaster::Worker(taken_in)));
    let report = WorkerReport { worker: "silent".into(), executors: vec![], drivers: vec![] };
    line.send(&ToMaster::Worker(WorkerToMaster::LatestState(report))).unwrap();

    let app = cluster.app("never started");
    let ordered = told.recv_timeout(GUARD);
    assert!(matches!(ordered, Ok(FromMaster::Worker(MasterToWorker::LaunchExecutor(_)))), "{ordered:?}");

    let (message, code) = app.removed(0);
    assert!(message.contains("not receiving heartbeat") && code.is_none(), "{message}");
    app.notes.wait(|news| matches!(news, News::WorkerRemoved { .. }).then_some(()));
    let listed = &cluster.status().workers[0];
    assert_eq!((listed.id.as_str(), listed.state), ("silent", WorkerLineState::Dead));
    line.send(&ToMaster::Worker(WorkerToMaster::Heartbeat { worker: "silent".into() })).unwrap();
    assert_eq!(told.recv_timeout(GUARD), Ok(FromMaster::Worker(MasterToWorker::ReconnectWorker)));
}

/// Behaviours: WORK-003.
#[test]
fn a_worker_that_sends_heartbeats_stays() {
    let cluster = Cluster::with(|conf, _| conf.machine.worker_timeout = Duration::from_millis(200));
    let mut conf = cluster.worker_conf("w", 1);
    conf.machine.heartbeat_interval = Duration::from_millis(20);
    let _worker = started(conf);
    let first = cluster.status().workers[0].last_heartbeat;

    eventually("it is heard of again and again", || {
        let heard = cluster.status().workers[0].last_heartbeat;
        (heard.since(first) > Duration::from_millis(600)).then_some(())
    });

    assert_eq!(cluster.alive_workers(), 1);
}

/// Behaviours: WORK-001.
#[test]
fn a_worker_that_finds_no_master_gives_up() {
    let cluster = Cluster::new();
    let mut conf = cluster.worker_conf("w", 1);
    conf.machine.masters = vec!["127.0.0.1:1".into()];
    conf.machine.initial_registration_interval = Duration::from_millis(4);
    conf.machine.prolonged_registration_interval = Duration::from_millis(4);

    let worker = firesteel_deploy::worker::WorkerServer::start(conf).unwrap();

    let ending = worker.wait();
    let reason = "all masters are unresponsive, giving up".to_owned();
    assert_eq!(ending, Ending::GaveUp { code: 1, reason });
    assert_eq!((ending.code(), worker.status()), (1, None));
}

/// Behaviours: WORK-015.
#[test]
fn a_worker_offers_the_resources_of_its_file_and_executors_are_told_their_addresses() {
    let cluster = Cluster::new();
    let file = cluster.folder.path().join("resources.json");
    std::fs::write(&file, r#"[{"id":{"resourceName":"gpu"},"addresses":["g0","g1"]}]"#).unwrap();
    let mut conf = cluster.worker_conf("w", 2);
    conf.machine.resource_file = Some(file.to_str().unwrap().to_owned());
    let worker = started(conf);
    let mut description = description(shell("echo $FIRESTEEL_RESOURCES; exec sleep 1000"));
    description.executor.resources = [("gpu".into(), 1)].into();

    let app = cluster.app_with(description);
    let id = app.id();

    let said =
        eventually("it says its addresses", || stdout(&worker, &id, 0).filter(|said| said.ends_with('\n')));
    assert_eq!(said.trim(), r#"[{"id":{"resourceName":"gpu"},"addresses":["g0"]}]"#);
    assert_eq!(cluster.status().apps[0].executors[0].addresses["gpu"].len(), 1);
}

#[test]
fn a_worker_whose_discovery_script_fails_says_so_and_ends() {
    let cluster = Cluster::new();
    let mut conf = cluster.worker_conf("w", 2);
    let script = Some("/no/such/script".to_owned());
    let gpu = firesteel_scheduler::worker::ResourceRequest { amount: 1, discovery_script: script };
    conf.machine.resources = [("gpu".into(), gpu)].into();

    let ending = firesteel_deploy::worker::WorkerServer::start(conf).unwrap().wait();

    let Ending::GaveUp { code: 1, reason } = ending else { panic!("{ending:?}") };
    assert!(reason.contains("/no/such/script"), "{reason}");
}
