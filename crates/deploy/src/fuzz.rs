//! Damaged bytes for everything that a master, a worker or a client reads: an error each time, never a panic, and never
//! more memory than the bytes are worth.
//!
//! Longer runs: `PROPTEST_CASES=1000000 cargo test -p firesteel-deploy --lib fuzz`.

use std::{alloc::System, sync::Arc};

use firesteel_net::frame::decode;
use firesteel_scheduler::{
    client::AppToMaster,
    deploy::{
        Artifact, ArtifactKind, ArtifactSource, Command, ContentHash, DriverLaunch, ExecutorState, Grant,
        MasterToWorker, WorkerDescription, WorkerToMaster,
    },
    master::{AppDescription, AppMessage, DriverDescription, RecoveryState, StoredDriver, StoredObject},
};
use firesteel_storage::memory::{CountingAllocator, TaskMeter, meter};
use firesteel_types::{ExecutorId, ExecutorKey, ExecutorRequest, Timestamp};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    artifact::message::{Answer, Request},
    protocol::{ClientToMaster, FromMaster, FromWorker, ToMaster, ToWorker},
    store::{Compression, form},
};

#[path = "../../../testing/damage.rs"]
mod damage;

use damage::{damaged, many};

#[global_allocator]
static ALLOCATOR: CountingAllocator<System> = CountingAllocator::new(System);

/// What a decoder may take beside a multiple of what it reads: a few lists of the size that serde reserves at most.
const RESERVED: u64 = 4 << 20;

/// Decodes `bytes`, and makes sure that this took no memory for promises.
fn measured<T, E>(bytes: &[u8], extra: u64, decode: impl FnOnce(&[u8]) -> Result<T, E>) -> Option<T> {
    let meter = TaskMeter::start();
    let decoded = decode(bytes).ok();
    let (peak, allowed) = (meter::peak(), RESERVED + extra + 512 * bytes.len() as u64);
    drop(meter);
    assert!(peak <= allowed, "{peak} bytes of memory for {} bytes", bytes.len());
    decoded
}

/// Damages the bytes of messages. What can be read then is another message, which is written as it was read.
fn messages<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(valid: &[T]) {
    let bytes: Vec<_> = valid.iter().map(|message| postcard::to_stdvec(message).unwrap()).collect();
    for (message, bytes) in valid.iter().zip(&bytes) {
        assert_eq!(decode::<T>(bytes).unwrap(), *message);
    }
    proptest!(many(), |(bytes in damaged(bytes))| {
        if let Some(message) = measured(&bytes, 0, decode::<T>) {
            let again = postcard::to_stdvec(&message).unwrap();
            prop_assert_eq!(decode::<T>(&again).unwrap(), message);
        }
    });
}

fn command() -> Command {
    let artifact = Artifact {
        name: "app".to_owned(),
        sha256: ContentHash([7; 32]),
        len: 1000,
        kind: ArtifactKind::Executable,
        from: ArtifactSource::Driver,
    };
    Command {
        program: Command::EXECUTABLE.to_owned(),
        arguments: vec!["one".to_owned(), "two".to_owned()],
        environment: [("NAME".to_owned(), "value".to_owned())].into(),
        artifacts: vec![artifact],
    }
}

fn app() -> AppDescription {
    AppDescription {
        name: "app".to_owned(),
        cores_max: Some(3),
        executor: ExecutorRequest { cores: Some(1), memory_mib: 512, ..ExecutorRequest::default() },
        executor_limit: None,
        driver_url: "h:1".to_owned(),
        page: Some("http://h:4040".to_owned()),
        command: Arc::new(command()),
    }
}

fn driver() -> DriverDescription {
    DriverDescription {
        cores: 1,
        memory_mib: 1024,
        resources: [("gpu".into(), 1)].into(),
        supervise: true,
        command: Arc::new(command()),
    }
}

fn worker() -> WorkerDescription {
    let addresses = [("gpu".into(), ["0".into(), "1".into()].into())].into();
    let resources = Grant { cores: 4, memory_mib: 4096, addresses };
    WorkerDescription { id: "w".into(), host: "h".into(), port: 1, page: None, resources }
}

fn stored() -> [StoredObject; 2] {
    let submitted = StoredDriver { id: "d".into(), submitted: Timestamp(7), description: driver() };
    [StoredObject::Worker(worker()), StoredObject::Driver(submitted)]
}

#[test]
fn what_a_master_is_told() {
    messages(&[
        ToMaster::App(AppToMaster::RegisterApplication(Box::new(app()))),
        ToMaster::Client(ClientToMaster::SubmitDriver(Box::new(driver()))),
        ToMaster::Client(ClientToMaster::DecommissionHosts { hosts: vec!["h1".to_owned(), "h2".to_owned()] }),
        ToMaster::Worker(WorkerToMaster::RegisterWorker { worker: worker(), contacted: "m:7077".into() }),
        ToMaster::Worker(WorkerToMaster::Heartbeat { worker: "w".into() }),
        ToMaster::App(AppToMaster::KillExecutors { app: "app".into(), executors: vec!["1".to_owned()] }),
        ToMaster::Client(ClientToMaster::KillDriver { driver: "driver-1".into() }),
    ]);
}

#[test]
fn what_a_master_tells() {
    messages(&[
        FromMaster::State(RecoveryState::Alive),
        FromMaster::AppWaits(None),
        FromMaster::Worker(MasterToWorker::LaunchDriver(Box::new(DriverLaunch {
            driver: "driver-1".into(),
            command: Arc::new(command()),
            grant: worker().resources,
            supervise: true,
        }))),
        FromMaster::Worker(MasterToWorker::KillExecutor { executor: ExecutorKey::new("app", 3) }),
        FromMaster::App(AppMessage::ExecutorUpdated {
            executor: ExecutorId(3),
            state: ExecutorState::Exited,
            message: Some("gone".to_owned()),
            exit_code: Some(1),
            worker_host: Some("h".into()),
        }),
    ]);
}

#[test]
fn what_a_worker_and_its_processes_tell() {
    messages(&[ToWorker::WatchAsExecutor(ExecutorId(7)), ToWorker::WatchAsDriver("driver-1".into())]);
    messages(&[FromWorker::Watched]);
}

#[test]
fn what_is_said_about_artifacts() {
    let sha256 = ContentHash([7; 32]);
    messages(&[Request::Get { sha256 }, Request::Put { sha256, len: 1000 }]);
    messages(&[Answer::Content { len: 1000 }, Answer::Stored, Answer::Refused { reason: "no".to_owned() }]);
}

#[test]
fn what_a_master_has_stored() {
    // What is unpacked may be as large as an object can be.
    let unpacked = 64 << 20;
    let written = |object: &StoredObject| {
        [Compression::None, Compression::Zstd].map(|compression| form::encode(object, compression).unwrap())
    };
    let all: Vec<Vec<u8>> = stored().iter().flat_map(written).collect();
    proptest!(many(), |(bytes in damaged(all))| {
        if let Some(object) = measured(&bytes, unpacked, form::decode) {
            let again = form::encode(&object, Compression::None).unwrap();
            prop_assert_eq!(form::decode(&again).unwrap(), object);
        }
    });
}
