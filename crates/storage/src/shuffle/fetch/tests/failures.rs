//! What a reader sees of blocks that cannot be had.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

use bytes::Bytes;
use firesteel_net::{Address, NetError};

use super::{
    super::{Diagnosis, FetchCause, FetchConf, FetchError},
    support::{
        Scripted, block, blocks_at, conf, content, eventually, peer, read_all, scattered, send, start,
    },
};
use crate::transfer::{Payload, TransferError};

fn broken() -> TransferError {
    let source = Arc::new(io::Error::from(io::ErrorKind::ConnectionReset));
    NetError::Broken { address: Address::new("host-1", 7337), source }.into()
}

fn cause(item: Result<(crate::block::BlockId, Vec<u8>), FetchError>) -> FetchCause {
    match item.unwrap_err() {
        FetchError::Block { cause, .. } => cause,
        FetchError::Cancelled => panic!("the fetch was not cancelled"),
    }
}

/// Behaviours: SHUF-010.
#[test]
fn a_failed_request_fails_its_outstanding_blocks_after_those_that_came() {
    let transport = Scripted::new(|_, ids, sink| {
        send(&ids[0], content(&ids[0]), sink);
        for id in &ids[1..] {
            sink.deliver(*id, Err(broken()));
        }
    });

    let got = read_all(start(&transport, vec![blocks_at(1, &[5, 6, 7], 10)], conf()));

    assert_eq!(got.len(), 3);
    assert_eq!(got[0].as_ref().unwrap().0, block(5));
    for (item, map) in got[1..].iter().zip([6, 7]) {
        let error = item.as_ref().unwrap_err();
        let text = error.to_string();
        for named in
            ["executor-1", "host-1:7337", "shuffle-7", &format!("map partition-{map}"), "reduce partition-3"]
        {
            assert!(text.contains(named), "{named} in {text}");
        }
        let failure = error.to_failure().unwrap();
        assert_eq!(failure.location, Some((peer(1).executor, peer(1).host)));
        assert_eq!(failure.message, text);
    }
}

#[test]
fn a_full_disk_on_this_side_is_not_blamed_on_the_map_output() {
    let transport = Scripted::new(|_, ids, sink| {
        let source = Arc::new(io::Error::from(io::ErrorKind::StorageFull));
        sink.deliver(ids[0], Err(TransferError::Local { id: ids[0], source }));
    });

    let got = read_all(start(&transport, scattered(0..1, 10), conf()));

    assert_eq!(got[0].as_ref().unwrap_err().to_failure(), None);
}

/// Behaviours: SHUF-010.
#[test]
fn an_empty_answer_for_a_block_that_is_not_empty_is_a_failure() {
    let transport = Scripted::new(|_, ids, sink| send(&ids[0], Bytes::new(), sink));

    let got = read_all(start(&transport, scattered(0..1, 10), conf()));

    assert!(matches!(cause(got.into_iter().next().unwrap()), FetchCause::Empty { expected: 10 }));
}

/// A transport whose answer to the n-th request is `answer(n)`, and a check that only believes "good".
fn judged(answer: fn(u64) -> &'static str) -> (Arc<Scripted>, FetchConf) {
    let count = AtomicU64::new(0);
    let transport = Scripted::new(move |_, ids, sink| {
        for id in ids {
            send(id, answer(count.fetch_add(1, SeqCst)).into(), sink);
        }
    });
    let verify = |_: &_, data: &Payload| match data {
        Payload::Bytes(bytes) if *bytes == "good" => Ok(()),
        other => Err(format!("checksum of {} bytes", other.len())),
    };
    (transport, FetchConf { verify: Arc::new(verify), ..conf() })
}

/// Behaviours: SHUF-011.
#[test]
fn a_corrupt_block_is_fetched_once_more() {
    let (transport, conf) = judged(|count| if count == 0 { "bad" } else { "good" });

    let got = read_all(start(&transport, vec![blocks_at(1, &[1, 2], 10)], conf));

    assert!(got.iter().all(|item| item.as_ref().unwrap().1 == b"good"));
    assert_eq!(transport.asked(), [block(1), block(1), block(2)]);
}

/// Behaviours: SHUF-011.
#[test]
fn a_block_that_is_corrupt_twice_is_a_failure_with_a_diagnosis() {
    let diagnosis = |answer| {
        let (transport, conf) = judged(answer);
        let got = read_all(start(&transport, scattered(1..2, 10), conf));
        assert_eq!(transport.asked(), [block(1), block(1)], "never a third time");
        match cause(got.into_iter().next().unwrap()) {
            FetchCause::Corrupt { diagnosis, reason } => {
                assert!(reason.contains("checksum of"), "{reason}");
                diagnosis
            }
            other => panic!("{other:?}"),
        }
    };

    assert_eq!(diagnosis(|_| "bad"), Diagnosis::Disk);
    assert_eq!(diagnosis(|count| if count == 0 { "bad" } else { "worse" }), Diagnosis::Network);
}

/// Behaviours: SHUF-011.
#[test]
fn without_a_check_corrupt_bytes_are_given_as_they_came() {
    let (transport, _) = judged(|_| "bad");

    let got = read_all(start(&transport, scattered(1..2, 10), conf()));

    assert_eq!(got[0].as_ref().unwrap().1, b"bad");
}

#[test]
fn a_corrupt_block_gives_its_bytes_back_before_it_is_fetched_again() {
    let (transport, mut conf) = judged(|count| if count.is_multiple_of(2) { "bad" } else { "good" });
    conf.limits.max_bytes_in_flight = 10;
    conf.threads = 1;
    let mut fetcher = start(&transport, scattered(0..3, 10), conf);

    drop(fetcher.next().unwrap().unwrap());

    // The reader does not wait for it, so it goes only when there is room.
    eventually("the next request", || transport.asked().len() > 2);
    assert_eq!(fetcher.map(Result::unwrap).count(), 2);
}

#[test]
fn a_check_that_panics_is_a_verdict_and_not_a_reader_that_waits_for_ever() {
    let transport = Scripted::willing();
    let conf = FetchConf { verify: Arc::new(|_, _| panic!("a bug in the check")), ..conf() };

    let got = read_all(start(&transport, scattered(0..1, 10), conf));

    assert!(cause(got.into_iter().next().unwrap()).to_string().contains("panicked"));
}

#[test]
fn blocks_that_the_transport_forgets_or_panics_over_come_to_an_end() {
    let transport = Scripted::new(|from, ids, sink| {
        assert_ne!(*from, peer(1), "a bug in the transport");
        send(&ids[0], content(&ids[0]), sink);
    });

    let got = read_all(start(&transport, vec![blocks_at(1, &[1, 2], 9), blocks_at(2, &[3, 4], 9)], conf()));

    assert_eq!(got.len(), 4);
    let (blocks, errors): (Vec<_>, Vec<_>) = got.into_iter().partition(Result::is_ok);
    assert_eq!(blocks[0].as_ref().unwrap().0, block(3));
    let mut texts: Vec<_> = errors.into_iter().map(|item| cause(item).to_string()).collect();
    texts.sort();
    assert!(texts[0].contains("it panicked") && texts[1].contains("it panicked"), "{texts:?}");
    assert!(texts[2].contains("it returned"), "{texts:?}");
}
