//! Messages between drivers and executors, tables of map outputs, journals.

use bytes::Bytes;
use firesteel_net::{Address, frame::decode};
use firesteel_scheduler::{
    Event, ExecutorSpec, SchedulerConfig, TaskDescription,
    journal::{JournalReader, Recorder},
    map_output::{BlockSizes, MapStatus, SizeLimits, decode_table, encode_table},
};
use firesteel_storage::block::BlockId;
use firesteel_types::{
    AttemptId, AttemptNumber, Cpus, ExecutorId, Locality, PartitionId, ProfileId, Properties, RddId,
    ShuffleId, StageAttemptId, StageId, TaskFailure, TaskIndex, TaskMetrics, Timestamp,
};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    damage::{damaged, many},
    memory::measured,
};
use crate::{
    build::Build,
    protocol::{
        Answer, Joining, Question, StageInputs, StageOrder, Stored, TaskOrder, ToDriver, ToExecutor, Welcome,
    },
    task::{Report, ResultValue, TaskEnd, TaskOutput},
};

/// Damages the bytes of messages. What can be read then is another message, which is written as it was read.
fn messages<T: Serialize + DeserializeOwned>(valid: &[T]) {
    let bytes: Vec<_> = valid.iter().map(|message| postcard::to_stdvec(message).unwrap()).collect();
    for bytes in &bytes {
        assert_eq!(postcard::to_stdvec(&decode::<T>(bytes).unwrap()).unwrap(), *bytes);
    }
    proptest!(many(), |(bytes in damaged(bytes))| {
        if let Some(message) = measured(&bytes, decode::<T>) {
            let written = postcard::to_stdvec(&message).unwrap();
            let again = postcard::to_stdvec(&decode::<T>(&written).unwrap()).unwrap();
            prop_assert_eq!(again, written);
        }
    });
}

fn set() -> StageAttemptId {
    StageAttemptId { stage: StageId(3), attempt: 1 }
}

fn address() -> Address {
    Address::new("h", 4000)
}

fn report(end: TaskEnd) -> Report {
    Report { attempt: AttemptId(7), end, metrics: TaskMetrics::default(), updates: <_>::default() }
}

fn task() -> TaskDescription {
    TaskDescription {
        attempt: AttemptId(7),
        set: set(),
        index: TaskIndex(2),
        partition: PartitionId(2),
        number: AttemptNumber(0),
        executor: ExecutorId(1),
        locality: Locality::Node,
        speculative: false,
        ahead: true,
        cpus: Cpus::cores(1),
        resources: [("gpu".into(), vec![])].into(),
        epoch: 4,
        barrier: None,
    }
}

#[test]
fn what_a_driver_is_told() {
    let joining = Joining {
        executor: ExecutorId(1),
        host: "h".into(),
        cores: 2,
        profile: ProfileId::DEFAULT,
        resources: [("gpu".into(), vec!["0".into(), "1".into()])].into(),
        build: Build::of_this_process().unwrap(),
        blocks: address(),
        shuffles: address(),
        worker_page: Some("http://h:8081".to_owned()),
    };
    let value = ResultValue::Bytes(Bytes::from_static(b"rows"));
    let failure = TaskFailure::panicked("at home");
    messages(&[
        ToDriver::Register(Box::new(joining)),
        ToDriver::Launched,
        ToDriver::Begun(vec![AttemptId(1), AttemptId(2)]),
        ToDriver::Reports(vec![
            report(TaskEnd::Finished(TaskOutput::Result { value, size_bytes: 4 })),
            report(TaskEnd::Failed { failure, operator: Some(RddId(1)) }),
        ]),
        ToDriver::Heartbeat { running: vec![(AttemptId(1), TaskMetrics::default())] },
        ToDriver::Ask { number: 1, question: Question::MapTable(ShuffleId(2)) },
        ToDriver::Ask { number: 2, question: Question::Locations(BlockId::TaskResult(AttemptId(1))) },
    ]);
}

#[test]
fn what_an_executor_is_told() {
    let conf = vec![("firesteel.app.name".to_owned(), "app".to_owned())];
    let stage = StageOrder {
        set: set(),
        program: Bytes::from_static(b"program"),
        partitions: 4,
        properties: Properties::default(),
        generations: [(RddId(1), 2)].into(),
        inputs: StageInputs {
            epoch: 3,
            tables: vec![(ShuffleId(2), Bytes::from_static(b"table"))],
            addresses: vec![(ExecutorId(1), address())],
        },
    };
    let order = TaskOrder { task: Box::new(task()), data: vec![(RddId(1), 2, Bytes::from_static(b"rows"))] };
    let addresses = vec![(ExecutorId(1), address())];
    let table = Ok(Bytes::from_static(b"table"));
    messages(&[
        ToExecutor::Registered(Box::new(Welcome { app: "app".into(), conf })),
        ToExecutor::Refused { reason: "another build".to_owned() },
        ToExecutor::Launch { stages: vec![stage], tasks: vec![order] },
        ToExecutor::Kill { attempt: AttemptId(7), interrupt: true, reason: "enough".to_owned() },
        ToExecutor::TakeBack(vec![AttemptId(7)]),
        ToExecutor::Remove(Stored::Stale { rdd: RddId(1), generation: 2 }),
        ToExecutor::Remove(Stored::Broadcast { id: 3, destroyed: true }),
        ToExecutor::Answer { number: 1, answer: Answer::MapTable { table, addresses } },
    ]);
}

#[test]
fn tables_of_map_outputs() {
    let status = |executor: u32, sizes: &[u64]| MapStatus {
        executor: ExecutorId(executor),
        host: "h".into(),
        attempt: AttemptId(u64::from(executor)),
        sizes: BlockSizes::from_bytes(sizes, &SizeLimits::default()),
        checksum: Some(3),
    };
    let few = [Some(status(1, &[0, 7, 1 << 40])), None, Some(status(2, &[1; 3]))];
    let many_blocks = [Some(status(1, &vec![5; 3000])), Some(status(2, &vec![0; 3000]))];
    let valid = vec![
        encode_table(few.iter().map(Option::as_ref)),
        encode_table(many_blocks.iter().map(Option::as_ref)),
    ];
    proptest!(many(), |(bytes in damaged(valid))| {
        if let Some(table) = measured(&bytes, decode_table) {
            let again = encode_table(table.iter().map(Option::as_ref));
            prop_assert_eq!(decode_table(&again).unwrap(), table);
        }
    });
}

#[test]
fn journals_of_a_scheduler() {
    let mut recorder = Recorder::new(SchedulerConfig::default()).unwrap();
    for executor in 0..3 {
        let spec = ExecutorSpec {
            executor: ExecutorId(executor),
            host: "h".into(),
            address: "h:1".into(),
            cpus: Cpus::cores(2),
            resources: <_>::default(),
            profile: ProfileId::DEFAULT,
        };
        recorder.handle(Timestamp(u64::from(executor)), Event::ExecutorRegistered(spec));
    }
    recorder.checkpoint();
    proptest!(many(), |(bytes in damaged(vec![recorder.take_bytes()]))| {
        let entries = measured(&bytes, |bytes| JournalReader::new(bytes).map(|reader| {
            reader.fold((0, 0), |(sound, damaged), entry| match entry {
                Ok(_) => (sound + 1, damaged),
                Err(_) => (sound, damaged + 1),
            })
        }));
        prop_assert!(entries.is_none_or(|(_, damaged)| damaged <= 1), "what follows damage is not read");
    });
}
