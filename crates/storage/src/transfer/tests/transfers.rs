//! What works: memory, files, parts, uploads, order, reuse.

use std::{
    io::{self, Read, Write},
    time::Duration,
};

use firesteel_net::NetError;
use firesteel_types::{ExecutorId, StorageLevel};

use super::{
    super::{
        Destination, Incoming, Payload, PeerAddr, Sink, TransferError,
        frame::{Answer, Request},
        pool::Pool,
    },
    support::{
        Fate, GUARD, OF, PANICS, Proxy, Rig, bytes, eventually, fetch, fetch_of, fetch_one, file_of, id,
    },
};
use crate::block::BlockId;

#[test]
fn blocks_of_all_sizes_arrive_whole_from_memory_and_from_files() {
    let rig = Rig::new();
    let sizes = [0, 1, 100, 8 << 10, 64 << 10, (64 << 10) + 1, 300_000, 5 << 20];
    for (at, &size) in sizes.iter().enumerate() {
        rig.put(at as u64, bytes(size, 1));
        rig.put_file(100 + at as u64, &bytes(size, 2));
    }
    let numbers: Vec<u64> = (0..sizes.len() as u64).flat_map(|at| [at, 100 + at]).collect();

    let got = fetch(&rig.client(), &rig.peer(), &numbers);

    assert_eq!(
        got.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        numbers.iter().map(|&n| id(n)).collect::<Vec<_>>()
    );
    for (pair, &size) in got.chunks(2).zip(&sizes) {
        assert_eq!(pair[0].1.as_ref().unwrap(), &bytes(size, 1), "{size} bytes in memory");
        assert_eq!(pair[1].1.as_ref().unwrap(), &bytes(size, 2), "{size} bytes in a file");
    }
}

#[test]
fn a_block_of_parts_arrives_in_one_piece() {
    let rig = Rig::new();
    let file = file_of(b"0123456789");
    rig.put(
        1,
        Payload::Many(vec![
            Payload::from("<"),
            Payload::File { file: file.clone(), offset: 3, len: 4 },
            Payload::Many(vec![Payload::from("|"), Payload::File { file, offset: 0, len: 2 }]),
            Payload::from(">"),
        ]),
    );

    assert_eq!(fetch_one(&rig.client(), &rig.peer(), 1).unwrap(), "<3456|01>");
}

#[test]
fn more_blocks_than_fit_in_one_request_all_arrive() {
    let rig = Rig::new();
    let numbers: Vec<u64> = (0..10_000).collect();
    for &number in &numbers {
        rig.put(number, number.to_string());
    }

    let got = fetch(&rig.client(), &rig.peer(), &numbers);

    assert_eq!(got.len(), numbers.len());
    for (number, (block, content)) in got.into_iter().enumerate() {
        assert_eq!((block, content.unwrap()), (id(number as u64), number.to_string().into()));
    }
}

#[test]
fn a_missing_block_is_told_with_its_reason_not_tried_again_and_costs_the_others_nothing() {
    let rig = Rig::new();
    rig.put(1, "one");
    rig.put(3, "three");

    let got = fetch(&rig.client(), &rig.peer(), &[1, 2, 3]);

    assert_eq!(got[0].1.as_ref().unwrap(), "one");
    let error = got[1].1.as_ref().unwrap_err();
    assert!(matches!(error, TransferError::Missing { .. }) && !error.is_transient());
    assert!(
        error.to_string().contains("taskresult_2") && error.to_string().contains("app-1 has no such block")
    );
    assert_eq!(got[2].1.as_ref().unwrap(), "three");
    assert_eq!(rig.waits(), 0);
}

#[test]
fn requests_name_whose_blocks_they_are_and_go_over_the_same_connection() {
    let rig = Rig::new();
    rig.put(1, "one");
    let client = rig.client();
    let other = PeerAddr { executor: ExecutorId(8), ..rig.peer() };

    let error = fetch_one(&client, &other, 1).unwrap_err().to_string();
    let upload = client.upload(&other, id(2), StorageLevel::MEMORY_ONLY, &Payload::from("two"));

    assert!(error.contains("this is executor-7, not executor-8"), "{error}");
    assert!(upload.unwrap_err().to_string().contains("this is executor-7, not executor-8"));
    assert_eq!(fetch_one(&client, &rig.peer(), 1).unwrap(), "one");
    assert!(rig.source.stored.lock().is_empty());
    assert_eq!((client.idle_connections(), rig.server.connections()), (1, 1));
}

#[test]
fn a_file_that_was_cut_and_a_source_that_panics_fail_their_block_only() {
    let rig = Rig::new();
    rig.put(1, Payload::File { file: file_of(b"short"), offset: 0, len: 100 });
    rig.put(2, "two");
    let client = rig.client();
    let mut got = Vec::new();

    client.fetch_bytes(&rig.peer(), &[id(1), PANICS, id(2)], 100, &mut |_, block| got.push(block));

    let failed = |at: usize, text: &str| match &got[at] {
        Err(TransferError::Failed { reason, .. }) => assert!(reason.contains(text), "{reason}"),
        other => panic!("{other:?}"),
    };
    failed(0, "ends at byte 5, before 100");
    failed(1, "panicked");
    assert_eq!(got[2].as_ref().unwrap(), "two");
    assert_eq!(client.idle_connections(), 1, "the connection is as good as before");
}

#[test]
fn requests_sent_before_the_first_answer_are_answered_in_order() {
    let rig = Rig::new();
    rig.put(1, "one");
    rig.put(2, "two");
    let mut link = rig.link();

    for number in [2, 7, 1] {
        link.ask(&fetch_of(number)).unwrap();
    }

    let mut got = Vec::new();
    for _ in 0..3 {
        let mut left = [id(0)].into();
        let mut sink = Keep::default();
        // The answer to a request that was sent before; the link asks nothing itself here.
        link.receive_block(&mut left, &mut sink).unwrap();
        got.extend(sink.blocks.into_iter().map(|block| block.map_err(|_| "missing")));
    }
    assert_eq!(got, [Ok("two".into()), Err("missing"), Ok("one".into())]);
}

#[derive(Default)]
struct Keep {
    blocks: Vec<Result<bytes::Bytes, TransferError>>,
}

impl Sink for Keep {
    fn place(&mut self, _: &BlockId, _: u64) -> io::Result<Destination> {
        Ok(Destination::Memory)
    }

    fn deliver(&mut self, _: BlockId, result: Result<Incoming, TransferError>) {
        self.blocks.push(result.map(|incoming| match incoming {
            Incoming::Bytes(bytes) => bytes,
            Incoming::Written { .. } => panic!("placed in memory"),
        }));
    }
}

#[test]
fn connections_are_kept_and_used_again() {
    let rig = Rig::new();
    rig.put(1, "one");
    let client = rig.client();

    for _ in 0..5 {
        fetch_one(&client, &rig.peer(), 1).unwrap();
    }

    assert_eq!((client.idle_connections(), rig.server.connections()), (1, 1));
    client.close_idle();
    eventually("the end of the connection", || rig.server.connections() == 0);
}

#[test]
fn a_kept_connection_that_the_server_closed_costs_no_try() {
    let rig = Rig::with(|_, limits| limits.idle_timeout = Duration::from_millis(20));
    rig.put(1, "one");
    let client = rig.client();
    fetch_one(&client, &rig.peer(), 1).unwrap();
    eventually("the end of the idle connection", || rig.server.connections() == 0);

    assert_eq!(fetch_one(&client, &rig.peer(), 1).unwrap(), "one");
    assert_eq!(rig.waits(), 0);
}

#[test]
fn a_kept_connection_that_breaks_when_it_is_used_costs_no_try() {
    let rig = Rig::new();
    rig.put(1, "one");
    let whole = Proxy::start(rig.server.address(), &[Fate::Pass]);
    fetch_one(&rig.client(), &whole.peer, 1).unwrap();
    let first = whole.up.lock().len();
    // All that the first fetch sends passes, and one byte of the second.
    let proxy = Proxy::start(rig.server.address(), &[Fate::CutUp(first + 1), Fate::Pass]);
    let client = rig.client();

    assert_eq!(fetch_one(&client, &proxy.peer, 1).unwrap(), "one");
    assert_eq!(client.idle_connections(), 1);
    assert_eq!(fetch_one(&client, &proxy.peer, 1).unwrap(), "one");

    assert_eq!(rig.waits(), 0);
}

#[test]
fn the_pool_gives_no_connection_that_the_server_closed_or_that_is_too_old() {
    let rig = Rig::new();
    let (fresh, old) = (Pool::new(2, GUARD), Pool::new(2, Duration::ZERO));
    for _ in 0..3 {
        fresh.put(rig.link());
    }
    old.put(rig.link());

    assert_eq!(fresh.len(), 2, "no more are kept than allowed");
    assert!(old.take(&rig.peer().address()).is_none());
    assert!(fresh.take(&rig.peer().address()).is_some());
    rig.server.stop();
    assert!(fresh.take(&rig.peer().address()).is_none());
}

#[test]
fn blocks_go_to_the_writer_that_the_sink_chooses() {
    struct ToFiles(Vec<std::sync::Arc<std::fs::File>>, Vec<u64>);
    impl Sink for ToFiles {
        fn place(&mut self, _: &BlockId, _: u64) -> io::Result<Destination> {
            self.0.push(file_of(b""));
            Ok(Destination::Writer(Box::new(self.0.last().unwrap().clone())))
        }
        fn deliver(&mut self, _: BlockId, result: Result<Incoming, TransferError>) {
            match result.unwrap() {
                Incoming::Written { len } => self.1.push(len),
                Incoming::Bytes(_) => panic!("placed in a file"),
            }
        }
    }
    let rig = Rig::new();
    let content = bytes(3_000_001, 9);
    rig.put(1, content.clone());
    rig.put_file(2, &content);
    let mut sink = ToFiles(Vec::new(), Vec::new());

    rig.client().fetch(&rig.peer(), &[id(1), id(2)], &mut sink);

    assert_eq!(sink.1, [content.len() as u64; 2]);
    for file in sink.0 {
        let mut read = Vec::new();
        let whole = Payload::File { file, offset: 0, len: content.len() as u64 };
        whole.reader().read_to_end(&mut read).unwrap();
        assert_eq!(read, content);
    }
}

#[test]
fn a_full_disk_on_this_side_fails_that_block_and_the_rest_still_come() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    struct Mixed(Vec<Result<Incoming, TransferError>>);
    impl Sink for Mixed {
        fn place(&mut self, block: &BlockId, _: u64) -> io::Result<Destination> {
            Ok(if *block == id(1) { Destination::Writer(Box::new(Full)) } else { Destination::Memory })
        }
        fn deliver(&mut self, _: BlockId, result: Result<Incoming, TransferError>) {
            self.0.push(result);
        }
    }
    let rig = Rig::new();
    rig.put(1, bytes(1 << 20, 1));
    rig.put(2, "two");
    let mut sink = Mixed(Vec::new());

    rig.client().fetch(&rig.peer(), &[id(1), id(2)], &mut sink);

    assert_eq!(sink.0.len(), 2);
    assert!(matches!(sink.0[0], Err(TransferError::Local { .. })), "{:?}", sink.0[0]);
    assert!(matches!(&sink.0[1], Ok(Incoming::Bytes(bytes)) if *bytes == "two"));
    assert_eq!(rig.waits(), 0);
}

#[test]
fn a_block_above_the_memory_limit_is_an_error_before_memory_is_taken() {
    let rig = Rig::new();
    rig.put(1, "much too long");
    let mut got = None;

    rig.client().fetch_bytes(&rig.peer(), &[id(1)], 5, &mut |_, block| got = Some(block));

    let error = got.unwrap().unwrap_err();
    assert!(error.to_string().contains("13 bytes, and 5 may go to memory"), "{error}");
}

#[test]
fn nothing_more_is_read_for_a_sink_that_wants_nothing_more() {
    struct Two(usize, usize);
    impl Sink for Two {
        fn place(&mut self, _: &BlockId, _: u64) -> io::Result<Destination> {
            Ok(Destination::Memory)
        }
        fn deliver(&mut self, _: BlockId, result: Result<Incoming, TransferError>) {
            match result {
                Ok(_) => self.0 += 1,
                Err(error) => {
                    assert!(matches!(error, TransferError::Cancelled));
                    self.1 += 1;
                }
            }
        }
        fn is_wanted(&self) -> bool {
            self.0 < 2
        }
    }
    let rig = Rig::new();
    rig.put(1, "one");
    let mut sink = Two(0, 0);

    rig.client().fetch(&rig.peer(), &[id(1); 5], &mut sink);

    assert_eq!((sink.0, sink.1), (2, 3));
}

#[test]
fn uploads_are_stored_with_their_level_from_memory_and_from_files() {
    let rig = Rig::new();
    let client = rig.client();
    let content = bytes(1_000_000, 4);
    let file = Payload::File { file: file_of(&content), offset: 10, len: 999_000 };

    client.upload(&rig.peer(), id(1), StorageLevel::MEMORY_ONLY, &content.clone().into()).unwrap();
    client.upload(&rig.peer(), id(2), StorageLevel::MEMORY_ONLY_SER, &file).unwrap();
    client.upload(&rig.peer(), id(3), StorageLevel::MEMORY_ONLY, &Payload::from("")).unwrap();

    let stored = rig.source.stored.lock();
    assert_eq!(stored[0], (id(1), StorageLevel::MEMORY_ONLY, content.to_vec()));
    assert_eq!(stored[1], (id(2), StorageLevel::MEMORY_ONLY_SER, content[10..999_010].to_vec()));
    assert_eq!(stored[2], (id(3), StorageLevel::MEMORY_ONLY, Vec::new()));
    assert_eq!(client.idle_connections(), 1);
}

#[test]
fn an_upload_that_the_source_cannot_store_is_told_and_the_connection_goes_on() {
    let rig = Rig::with(|_, limits| limits.max_upload = 1_000_000);
    rig.put(1, "one");
    let client = rig.client();
    let upload = |len| {
        let payload = Payload::from(bytes(len, 1));
        client.upload(&rig.peer(), id(5), StorageLevel::MEMORY_ONLY, &payload).unwrap_err().to_string()
    };
    *rig.source.fail_store_at.lock() = Some(100);

    assert!(upload(900_000).contains("the disk is full"));
    assert!(upload(1_000_001).contains("1000001 bytes, and 1000000 are allowed"));
    let short = Payload::File { file: file_of(b"abc"), offset: 0, len: 4 };
    let error = client.upload(&rig.peer(), id(6), StorageLevel::MEMORY_ONLY, &short).unwrap_err();
    assert!(matches!(error, TransferError::Local { .. }), "{error}");

    assert_eq!(fetch_one(&client, &rig.peer(), 1).unwrap(), "one");
    assert!(rig.source.stored.lock().is_empty());
    assert_eq!(rig.waits(), 0);
}

#[test]
fn stop_ends_every_connection_and_the_listener() {
    let rig = Rig::new();
    let mut links: Vec<_> = (0..5).map(|_| rig.link()).collect();
    assert_eq!(rig.server.connections(), 5);

    rig.server.stop();
    rig.server.stop();

    assert_eq!(rig.server.connections(), 0);
    for link in &mut links {
        assert!(!link.is_usable());
        assert!(link.answer().unwrap_err().is_transient());
    }
    assert!(std::net::TcpStream::connect(rig.server.address()).is_err());
}

#[test]
fn an_answer_to_nothing_is_a_protocol_error() {
    let rig = Rig::new();
    let mut link = rig.link();
    let upload = Request::Upload { of: OF, id: id(1), level: StorageLevel::MEMORY_ONLY, len: 0 };
    link.ask(&upload).unwrap();

    let error = link.receive_block(&mut [id(1)].into(), &mut Keep::default()).unwrap_err();

    assert!(
        matches!(&error, TransferError::Net(NetError::Protocol { reason, .. }) if reason.contains("Ready")),
        "{error}"
    );
    assert_eq!(link.answer().unwrap(), Answer::Stored);
}
