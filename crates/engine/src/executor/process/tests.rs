//! Executors as real processes, whose driver is the test.

use std::{
    env,
    process::{Child, Command, Output, Stdio},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use bytes::Bytes;
use firesteel_net::{
    Accepted, Closed, Handler, Line, Listener, ListenerConf, OneSecret, Realm, Secret, Service, Services,
};
use firesteel_scheduler::TaskDescription;
use firesteel_types::{
    AttemptId, AttemptNumber, Cpus, ExecutorId, Locality, PartitionId, Properties, StageAttemptId, StageId,
    TaskFailure, TaskIndex,
};
use parking_lot::Mutex;
use tempfile::TempDir;

use super::ARGUMENT;
use crate::{
    protocol::{
        Answer, Question, StageInputs, StageOrder, TaskOrder, ToDriver, ToExecutor, Welcome, line_conf,
    },
    task::{Report, TaskEnd},
};

/// Longer than anything takes that works.
const GUARD: Duration = Duration::from_secs(60);
const APP: &str = "app-1";
const MESSAGE_MAX: u64 = 1 << 20;

/// A driver that leaves everything to the test, and its executor.
struct Rig {
    listener: Listener,
    lines: Receiver<Line<ToExecutor>>,
    heard: Receiver<ToDriver>,
    executor: Option<Child>,
    _folder: TempDir,
}

struct Ear(Sender<ToDriver>);

impl Handler<ToDriver> for Ear {
    fn messages(&mut self, messages: &mut Vec<ToDriver>) {
        for message in messages.drain(..) {
            // The test may be over.
            let _ = self.0.send(message);
        }
    }

    fn closed(&mut self, _: Closed) {}
}

impl Rig {
    /// Starts an executor and waits until it asks to join.
    fn start() -> (Self, Line<ToExecutor>) {
        let secret = Secret::random();
        let secrets = OneSecret { realm: Realm::from(APP), secret: secret.clone() };
        let ((tell, heard), (open, lines)) = (channel(), channel());
        let (tell, open) = (Mutex::new(tell), Mutex::new(open));
        let accept = move |accepted: Accepted<ToExecutor>| -> Option<Box<dyn Handler<ToDriver>>> {
            open.lock().send(accepted.line).ok()?;
            Some(Box::new(Ear(tell.lock().clone())))
        };
        let services = Services::new().lines(Service::Driver, line_conf(MESSAGE_MAX, GUARD), accept);
        let conf = ListenerConf::new(Arc::new(secrets));
        let listener = Listener::bind("127.0.0.1", 0, 0, conf, services).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut executor = executor(&listener.address().to_string(), &secret, &folder);
        let mut rig = Self { listener, lines, heard, executor: None, _folder: folder };
        rig.executor = Some(executor.stderr(Stdio::piped()).spawn().unwrap());
        let line = rig.lines.recv_timeout(GUARD).unwrap();
        assert!(matches!(rig.hears(), ToDriver::Register(joining) if joining.executor == ExecutorId(5)));
        (rig, line)
    }

    /// The same with an executor that has joined and is ready.
    fn joined() -> (Self, Line<ToExecutor>) {
        let (rig, line) = Self::start();
        let welcome = Welcome { app: APP.into(), conf: Vec::new() };
        line.send(&ToExecutor::Registered(Box::new(welcome))).unwrap();
        while !matches!(rig.hears(), ToDriver::Launched) {}
        (rig, line)
    }

    fn hears(&self) -> ToDriver {
        self.heard.recv_timeout(GUARD).unwrap()
    }

    /// Waits until the executor reports; gives what it said of beginnings before.
    fn report(&self) -> (Vec<AttemptId>, Report) {
        let mut begun = Vec::new();
        loop {
            match self.hears() {
                ToDriver::Begun(attempts) => begun.extend(attempts),
                ToDriver::Reports(mut reports) => {
                    assert_eq!(reports.len(), 1);
                    return (begun, reports.remove(0));
                }
                _ => (),
            }
        }
    }

    /// Waits until the executor has ended; gives its code and its log.
    fn ended(mut self) -> (Option<i32>, String) {
        let Output { status, stderr, .. } = self.executor.take().unwrap().wait_with_output().unwrap();
        (status.code(), String::from_utf8_lossy(&stderr).into_owned())
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some(executor) = &mut self.executor {
            // It may have ended.
            let _ = executor.kill();
            let _ = executor.wait();
        }
        self.listener.stop();
    }
}

/// This program as an executor with one slot.
fn executor(driver: &str, secret: &Secret, folder: &TempDir) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.arg(ARGUMENT).envs([
        ("FIRESTEEL_EXECUTOR_ID", "5"),
        ("FIRESTEEL_APP_ID", APP),
        ("FIRESTEEL_DRIVER_URL", driver),
        ("FIRESTEEL_EXECUTOR_HOST", "127.0.0.1"),
        ("FIRESTEEL_EXECUTOR_CORES", "1"),
        ("FIRESTEEL_EXECUTOR_MEMORY_MIB", "512"),
        ("FIRESTEEL_RESOURCE_PROFILE_ID", "0"),
        ("FIRESTEEL_MESSAGE_MAX", &MESSAGE_MAX.to_string()),
        ("FIRESTEEL_NETWORK_TIMEOUT_MS", &GUARD.as_millis().to_string()),
        ("FIRESTEEL_APP_SECRET", &secret.to_hex()),
        ("FIRESTEEL_LOCAL_DIRS", folder.path().to_str().unwrap()),
    ]);
    command
}

const SET: StageAttemptId = StageAttemptId::new(StageId(0), 0);

fn task(attempt: u64) -> TaskOrder {
    let task = TaskDescription {
        attempt: AttemptId(attempt),
        set: SET,
        index: TaskIndex(0),
        partition: PartitionId(0),
        number: AttemptNumber(0),
        executor: ExecutorId(5),
        locality: Locality::NoPref,
        speculative: false,
        ahead: false,
        cpus: Cpus::cores(1),
        resources: <_>::default(),
        epoch: 0,
        barrier: None,
    };
    TaskOrder { task: Box::new(task), data: Vec::new() }
}

/// A stage whose program ends before it has begun.
fn unreadable_stage() -> StageOrder {
    StageOrder {
        set: SET,
        program: Bytes::new(),
        partitions: 1,
        properties: Properties::default(),
        generations: [].into(),
        inputs: StageInputs::default(),
    }
}

fn failure(report: Report) -> TaskFailure {
    match report.end {
        TaskEnd::Failed { failure, .. } => failure,
        TaskEnd::Finished(_) => panic!("it finished"),
    }
}

/// Behaviours: EXE-001.
#[test]
fn an_executor_that_may_not_join_ends_with_code_1_and_the_reason() {
    let (rig, line) = Rig::start();

    line.send(&ToExecutor::Refused { reason: "there is no room".to_owned() }).unwrap();

    let (code, log) = rig.ended();
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("there is no room"), "{log}");
}

/// Behaviours: EXE-001.
#[test]
fn an_order_before_the_executor_exists_ends_it_with_code_1() {
    let launch = ToExecutor::Launch { stages: vec![unreadable_stage()], tasks: vec![task(1)] };
    let kill = ToExecutor::Kill { attempt: AttemptId(1), interrupt: false, reason: "enough".to_owned() };

    for order in [launch, kill] {
        let (rig, line) = Rig::start();
        line.send(&order).unwrap();

        let (code, log) = rig.ended();
        assert_eq!(code, Some(1), "{log}");
        assert!(log.contains("an order came before the executor was there"), "{log}");
    }
}

/// Behaviours: EXE-001.
#[test]
fn an_executor_that_cannot_be_made_ends_with_code_1() {
    let (rig, line) = Rig::start();
    let conf = vec![("firesteel.no.such.setting".to_owned(), "1".to_owned())];

    line.send(&ToExecutor::Registered(Box::new(Welcome { app: APP.into(), conf }))).unwrap();

    let (code, log) = rig.ended();
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("firesteel.no.such.setting"), "{log}");
}

/// Behaviours: EXE-001.
#[test]
fn a_driver_that_is_not_there_is_dialled_three_times() {
    let folder = tempfile::tempdir().unwrap();

    let ended = executor("127.0.0.1:1", &Secret::random(), &folder).output().unwrap();

    let log = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{log}");
    assert_eq!(log.matches("cannot reach the driver yet").count(), 2, "{log}");
    assert!(log.contains("cannot reach the driver at 127.0.0.1:1"), "{log}");
    assert!(log.contains("firesteel.driver.host"), "{log}");
}

/// Behaviours: EXE-003.
#[test]
fn a_task_begins_before_its_program_is_read_and_one_that_cannot_be_read_fails_alone() {
    let (rig, line) = Rig::joined();

    line.send(&ToExecutor::Launch { stages: vec![unreadable_stage()], tasks: vec![task(1)] }).unwrap();
    let (begun, report) = rig.report();

    assert_eq!(begun, [AttemptId(1)], "told before it was read");
    let TaskFailure::Panicked { message, .. } = failure(report) else { panic!("another failure") };
    assert!(message.contains("the operators of the stage cannot be deserialized"), "{message}");
    // It goes on.
    line.send(&ToExecutor::Launch { stages: Vec::new(), tasks: vec![task(2)] }).unwrap();
    assert_eq!(rig.report().1.attempt, AttemptId(2));
    line.send(&ToExecutor::Stop { reason: "enough".to_owned() }).unwrap();
    assert_eq!(rig.ended().0, Some(0));
}

/// Behaviours: EXE-004.
#[test]
fn a_task_that_cannot_even_begin_is_reported_and_forgotten() {
    let (rig, line) = Rig::joined();

    // Its stage was never sent.
    line.send(&ToExecutor::Launch { stages: Vec::new(), tasks: vec![task(1)] }).unwrap();
    let (begun, report) = rig.report();

    assert_eq!((begun.len(), report.attempt), (0, AttemptId(1)));
    let TaskFailure::Panicked { message, .. } = failure(report) else { panic!("another failure") };
    assert_eq!(message, "its stage did not come");
    // An executor that still knew it would wait for its end.
    line.send(&ToExecutor::Decommission).unwrap();
    answer_peers(&rig, &line);
    assert_eq!(rig.ended().0, Some(0));
}

/// Behaviours: EXE-014.
#[test]
fn an_executor_that_drains_leaves_with_code_0_when_nothing_runs_and_nothing_is_left_to_move() {
    let (rig, line) = Rig::joined();

    line.send(&ToExecutor::Decommission).unwrap();
    answer_peers(&rig, &line);

    let (code, log) = rig.ended();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("this executor has drained and leaves"), "{log}");
}

/// Answers requests for peers that could take blocks with none, until the executor has gone.
fn answer_peers(rig: &Rig, line: &Line<ToExecutor>) {
    while !line.is_closed() {
        if let Ok(ToDriver::Ask { number, question: Question::Peers }) =
            rig.heard.recv_timeout(Duration::from_millis(50))
        {
            let answer = Answer::Peers { peers: Vec::new(), addresses: Vec::new() };
            // It may be gone.
            let _ = line.send(&ToExecutor::Answer { number, answer });
        }
    }
}
