//! A client with a clock of its own, and what masters may do to it.

use std::{sync::Arc, time::Duration};

use firesteel_types::{ExecutorId, ExecutorRequest, Host, ProfileId, Timestamp};

use super::*;
use crate::{
    deploy::{ExecutorState, MasterAddress},
    master::{AppDescription, AppMessage, ProfileTotal, RecoveryState, Reply},
};

const APP: &str = "app-20240229123456-0000";

struct Harness {
    client: Client,
    now: Timestamp,
}

fn description() -> AppDescription {
    AppDescription {
        name: "app".to_owned(),
        cores_max: None,
        executor: ExecutorRequest::default(),
        executor_limit: Some(0),
        driver_url: "driver:1".to_owned(),
        page: None,
        command: Arc::default(),
    }
}

impl Harness {
    fn new() -> Self {
        let config = ClientConfig::new(vec!["m1".into(), "m2".into()]);
        let client = Client::new(config, description()).expect("the settings are valid");
        Self { client, now: Timestamp::from_secs(1_000) }
    }

    fn registering() -> Self {
        let mut harness = Self::new();
        harness.send(ClientEvent::Started);
        harness
    }

    /// Taken in by `m1`.
    fn connected() -> Self {
        let mut harness = Self::registering();
        harness.answer("m1", registered());
        harness
    }

    fn send(&mut self, event: ClientEvent) -> Vec<ClientEffect> {
        self.client.handle(self.now, event)
    }

    fn hear(&mut self, master: &str, message: AppMessage) -> Vec<ClientEffect> {
        self.send(ClientEvent::FromMaster { master: master.into(), message })
    }

    fn answer(&mut self, master: &str, reply: Reply) -> Vec<ClientEffect> {
        self.send(ClientEvent::Answered { master: master.into(), reply })
    }

    fn lose(&mut self, master: &str) -> Vec<ClientEffect> {
        self.send(ClientEvent::MasterLost { master: master.into() })
    }

    fn request(&mut self, request: u64, total: i64) -> Vec<ClientEffect> {
        self.send(ClientEvent::RequestExecutors { request: RequestId(request), totals: totals(total) })
    }

    fn kill(&mut self, request: u64, executor: u32) -> Vec<ClientEffect> {
        let executors = vec![ExecutorId(executor)];
        self.send(ClientEvent::KillExecutors { request: RequestId(request), executors })
    }

    /// Lets `wait` pass with a tick at every deadline on the way, and gives what was done and when.
    fn pass(&mut self, wait: Duration) -> Vec<(Duration, ClientEffect)> {
        let (began, end) = (self.now, self.now + wait);
        let mut done = Vec::new();
        while let Some(at) = self.client.next_deadline().filter(|&at| at <= end) {
            self.now = at;
            let effects = self.send(ClientEvent::Tick);
            done.extend(effects.into_iter().map(|effect| (at.since(began), effect)));
        }
        self.now = end;
        done
    }
}

fn totals(total: i64) -> Vec<ProfileTotal> {
    vec![ProfileTotal { profile: ProfileId::DEFAULT, executor: None, total }]
}

fn to_master(master: &str, message: AppToMaster) -> ClientEffect {
    ClientEffect::ToMaster { master: master.into(), message }
}

fn register_at(master: &str) -> ClientEffect {
    to_master(master, AppToMaster::RegisterApplication(Box::new(description())))
}

fn reconnect_at(master: &str) -> ClientEffect {
    to_master(master, AppToMaster::ReconnectApplication { app: APP.into() })
}

fn acknowledge_at(master: &str) -> ClientEffect {
    to_master(master, AppToMaster::MasterChangeAcknowledged { app: APP.into() })
}

fn request_at(master: &str, total: i64) -> ClientEffect {
    to_master(master, AppToMaster::RequestExecutors { app: APP.into(), totals: totals(total) })
}

fn registered() -> Reply {
    Reply::RegisteredApplication { app: APP.into() }
}

fn connected() -> ClientEffect {
    ClientEffect::Connected { app: APP.into() }
}

fn answer(request: u64, accepted: bool) -> ClientEffect {
    ClientEffect::Answer { request: RequestId(request), accepted }
}

fn ignored(reason: ClientIgnored) -> ClientEffect {
    ClientEffect::Ignored { reason }
}

fn dead(reason: &str) -> ClientEffect {
    ClientEffect::Dead { reason: reason.to_owned() }
}

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn update(state: ExecutorState, exit_code: Option<i32>, host: Option<&str>) -> AppMessage {
    let (message, worker_host) = (Some("why".to_owned()), host.map(Host::from));
    AppMessage::ExecutorUpdated { executor: ExecutorId(3), state, message, exit_code, worker_host }
}

/// Behaviours: CLI-001, CLI-007.
#[test]
fn all_masters_are_asked_at_once_three_times_and_then_the_application_is_dead() {
    let mut harness = Harness::new();

    let at_once = harness.send(ClientEvent::Started);
    let later = harness.pass(secs(600));

    assert_eq!(at_once, [register_at("m1"), register_at("m2")]);
    let mut expected = Vec::new();
    for at in [20, 40] {
        expected.extend([(secs(at), register_at("m1")), (secs(at), register_at("m2"))]);
    }
    expected.push((secs(60), dead("all masters are unresponsive, giving up")));
    assert_eq!(later, expected);
}

/// Behaviours: CLI-001.
#[test]
fn an_answer_ends_the_tries() {
    let mut harness = Harness::registering();
    harness.pass(secs(25));

    assert_eq!(harness.answer("m2", registered()), [connected()]);

    assert_eq!(harness.pass(secs(600)), []);
    assert_eq!(harness.client.app(), Some(&APP.into()));
}

#[test]
fn a_refused_application_is_dead() {
    let mut harness = Harness::registering();

    let effects = harness.answer("m1", Reply::RegisterApplicationFailed { message: "no cores".to_owned() });

    assert_eq!(effects, [dead("m1 refused the application: no cores")]);
    assert_eq!(harness.client.next_deadline(), None);
}

#[test]
fn an_application_that_two_masters_took_in_leaves_the_second() {
    let mut harness = Harness::connected();

    let second = Reply::RegisteredApplication { app: "app-2".into() };
    let effects = harness.answer("m2", second);

    let leave = AppToMaster::UnregisterApplication { app: "app-2".into() };
    let already = ignored(ClientIgnored::AlreadyRegistered { master: "m2".into() });
    assert_eq!(effects, [to_master("m2", leave), already.clone()]);
    let again = ignored(ClientIgnored::AlreadyRegistered { master: "m1".into() });
    assert_eq!(harness.answer("m1", registered()), [again], "a second answer to two tries says nothing new");
}

/// Behaviours: CLI-002.
#[test]
fn before_the_registration_requests_are_answered_with_no() {
    let mut harness = Harness::registering();

    assert_eq!(harness.request(1, 2), [answer(1, false)]);
    assert_eq!(harness.kill(2, 0), [answer(2, false)]);
}

/// Behaviours: CLI-002.
#[test]
fn afterwards_the_answers_are_the_masters() {
    let mut harness = Harness::connected();

    let asked = harness.request(1, 2);
    let kill = harness.kill(2, 7);
    let again = harness.request(3, -1);
    let answers = [
        harness.answer("m1", Reply::ExecutorsRequested { accepted: true }),
        harness.answer("m1", Reply::ExecutorsKilled { accepted: true }),
        harness.answer("m1", Reply::ExecutorsRequested { accepted: false }),
    ];

    assert_eq!(asked, [request_at("m1", 2)]);
    let order = AppToMaster::KillExecutors { app: APP.into(), executors: vec!["7".to_owned()] };
    assert_eq!(kill, [to_master("m1", order)]);
    assert_eq!(again, [request_at("m1", -1)]);
    assert_eq!(answers.concat(), [answer(1, true), answer(2, true), answer(3, false)]);
    assert!(harness.client.is_quiescent());
}

#[test]
fn answers_that_nobody_asked_for_change_nothing() {
    let mut harness = Harness::connected();
    harness.kill(1, 7);

    let nothing = ignored(ClientIgnored::NothingAsked);
    let wrong_kind = harness.answer("m1", Reply::ExecutorsRequested { accepted: true });
    let wrong_master = harness.answer("m2", Reply::ExecutorsKilled { accepted: true });
    let not_for_apps = harness.answer("m1", Reply::NotAlive { state: RecoveryState::Standby });

    assert_eq!([wrong_kind, not_for_apps], [[nothing.clone()], [nothing]]);
    assert_eq!(wrong_master, [ignored(ClientIgnored::NotActiveMaster { master: "m2".into() })]);
    assert!(!harness.client.is_quiescent(), "the answer is still to come");
}

/// Behaviours: CLI-003.
#[test]
fn the_driver_hears_of_executors_and_workers() {
    let mut harness = Harness::connected();
    let added = AppMessage::ExecutorAdded {
        executor: ExecutorId(3),
        worker: "w".into(),
        host: "h".into(),
        port: 7,
        cores: 2,
        memory_mib: 64,
    };
    let removed = AppMessage::WorkerRemoved { worker: "w".into(), host: "h".into(), message: "x".to_owned() };

    let told = [
        harness.hear("m1", added),
        harness.hear("m1", update(ExecutorState::Running, None, None)),
        harness.hear("m1", update(ExecutorState::Decommissioned, None, Some("h"))),
        harness.hear("m1", update(ExecutorState::Exited, Some(3), None)),
        harness.hear("m1", update(ExecutorState::Lost, None, Some("h"))),
        harness.hear("m1", removed),
    ];

    let (executor, worker, host, message) = (ExecutorId(3), "w".into(), Host::from("h"), "why".to_owned());
    let worker_host = Some(host.clone());
    let gone = |exit_code, worker_host| {
        let message = "why".to_owned();
        ClientEffect::ExecutorRemoved { executor, message, exit_code, worker_host }
    };
    let (port, cores, memory_mib) = (7, 2, 64);
    assert_eq!(
        told.concat(),
        [
            ClientEffect::ExecutorAdded { executor, worker, host: host.clone(), port, cores, memory_mib },
            ignored(ClientIgnored::Progress { executor }),
            ClientEffect::ExecutorDecommissioned { executor, message, worker_host: worker_host.clone() },
            gone(Some(3), None),
            gone(None, worker_host),
            ClientEffect::WorkerRemoved { worker: "w".into(), host, message: "x".to_owned() },
        ]
    );
}

/// Behaviours: CLI-003, CLI-004.
#[test]
fn losing_the_master_is_told_once_and_the_client_comes_back_with_its_id() {
    let mut harness = Harness::connected();
    harness.request(1, 2);

    let lost = harness.lose("m1");
    let again = harness.lose("m1");
    let meanwhile = harness.request(2, 3);
    let later = harness.pass(secs(15));

    let expected = [ClientEffect::Disconnected, answer(1, false), reconnect_at("m1"), reconnect_at("m2")];
    assert_eq!(lost, expected);
    assert_eq!(again, [ignored(ClientIgnored::NotActiveMaster { master: "m1".into() })]);
    assert_eq!(meanwhile, [answer(2, false)]);
    assert_eq!(later, [(secs(10), reconnect_at("m1")), (secs(10), reconnect_at("m2"))]);
    assert_eq!(harness.client.app(), Some(&APP.into()));
}

/// Behaviours: CLI-004.
#[test]
fn a_new_master_is_acknowledged_and_told_what_the_old_one_granted() {
    let mut harness = Harness::connected();
    harness.request(1, 2);
    harness.answer("m1", Reply::ExecutorsRequested { accepted: true });
    harness.request(2, -5);
    harness.answer("m1", Reply::ExecutorsRequested { accepted: false });
    harness.lose("m1");

    let changed = harness.hear("m2", AppMessage::MasterChanged);
    let granted = harness.answer("m2", Reply::ExecutorsRequested { accepted: true });

    assert_eq!(changed, [acknowledge_at("m2"), request_at("m2", 2), connected()]);
    assert_eq!(granted, [], "no request waits for that answer");
    assert_eq!(harness.pass(secs(600)), []);
    assert_eq!(harness.lose("m1"), [ignored(ClientIgnored::NotActiveMaster { master: "m1".into() })]);
}

/// Behaviours: CLI-004.
#[test]
fn a_master_that_says_it_changed_before_the_loss_is_noticed_is_followed() {
    let mut harness = Harness::connected();
    harness.kill(1, 0);

    let same = harness.hear("m1", AppMessage::MasterChanged);
    let other = harness.hear("m2", AppMessage::MasterChanged);

    assert_eq!(same, [acknowledge_at("m1")]);
    assert_eq!(other, [answer(1, false), acknowledge_at("m2")]);
    let late = harness.hear("m1", update(ExecutorState::Exited, Some(0), None));
    assert_eq!(late, [ignored(ClientIgnored::NotActiveMaster { master: "m1".into() })]);
}

/// Behaviours: CLI-003, CLI-004.
#[test]
fn being_removed_is_fatal_and_said_once() {
    let mut harness = Harness::connected();
    harness.kill(1, 0);
    let removed = || AppMessage::ApplicationRemoved { message: "its executors fail".to_owned() };

    let effects = harness.hear("m1", removed());
    let again = harness.hear("m1", removed());

    assert_eq!(effects, [answer(1, false), dead("m1 removed the application: its executors fail")]);
    assert_eq!(again, [ignored(ClientIgnored::Ended)]);
    assert_eq!(harness.request(2, 1), [answer(2, false)]);
    assert_eq!(harness.lose("m1"), [ignored(ClientIgnored::Ended)]);
}

/// Behaviours: CLI-004.
#[test]
fn while_the_master_is_lost_only_its_own_word_is_fatal() {
    let mut harness = Harness::connected();
    harness.lose("m1");
    let removed = || AppMessage::ApplicationRemoved { message: "unknown".to_owned() };

    let from_other = harness.hear("m2", removed());
    let from_last = harness.hear("m1", removed());

    assert_eq!(from_other, [ignored(ClientIgnored::NotActiveMaster { master: "m2".into() })]);
    assert_eq!(from_last, [dead("m1 removed the application: unknown")]);
}

/// Behaviours: CLI-005.
#[test]
fn stopping_unregisters_the_application() {
    let mut harness = Harness::connected();
    harness.request(1, 2);

    let stopped = harness.send(ClientEvent::Stopped);

    let leave = AppToMaster::UnregisterApplication { app: APP.into() };
    assert_eq!(stopped, [to_master("m1", leave.clone()), answer(1, false)]);
    assert_eq!(harness.send(ClientEvent::Stopped), []);
    let late = harness.answer("m2", registered());
    let already = ignored(ClientIgnored::AlreadyRegistered { master: "m2".into() });
    assert_eq!(late, [to_master("m2", leave), already], "a late answer leaves nothing behind");
    assert_eq!(harness.client.next_deadline(), None);
}

#[test]
fn nothing_counts_before_the_start_and_the_start_counts_once() {
    let mut harness = Harness::new();

    assert_eq!(harness.hear("m1", AppMessage::MasterChanged), [ignored(ClientIgnored::OutOfOrder)]);
    assert_eq!(harness.answer("m1", registered()), [ignored(ClientIgnored::OutOfOrder)]);
    harness.send(ClientEvent::Started);
    assert_eq!(harness.send(ClientEvent::Started), [ignored(ClientIgnored::OutOfOrder)]);
}

#[test]
fn settings_that_cannot_work_are_rejected() {
    let check = |config: ClientConfig| Client::new(config, description()).map(|_| ()).unwrap_err();
    let config = || ClientConfig::new(vec![MasterAddress::from("m1")]);

    assert_eq!(check(ClientConfig::new(vec![])), ClientConfigError::NoMasters);
    let setting = "the number of registration tries";
    let zero = ClientConfig { registration_tries: 0, ..config() };
    assert_eq!(check(zero), ClientConfigError::Zero { setting });
    let setting = "the reconnect interval";
    let zero = ClientConfig { reconnect_interval: Duration::ZERO, ..config() };
    assert_eq!(check(zero), ClientConfigError::Zero { setting });
}
