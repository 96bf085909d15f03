//! What is fetched, how much of it at a time, and where it goes.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
};

use parking_lot::{Condvar, Mutex};

use super::{
    super::{FetchConf, FetchError, FetchLimits, FetchStats, LocalBlocks, PeerBlocks},
    support::{
        GUARD, Scripted, block, blocks_at, conf, content, eventually, limited, peer, read, read_all,
        scattered, send, start,
    },
};
use crate::{
    block::BlockId,
    transfer::{Payload, PeerAddr},
};

/// Behaviours: SHUF-013.
#[test]
fn every_block_comes_once_and_empty_ones_are_not_asked_for() {
    let transport = Scripted::willing();
    let mut plan = scattered(0..50, 10);
    plan.push(PeerBlocks {
        peer: peer(1),
        blocks: (50..99).map(|map| (block(map), u64::from(map % 2))).collect(),
    });
    let fetcher = start(&transport, plan, conf());
    assert_eq!(fetcher.remaining(), 74);

    let mut got: Vec<_> = read_all(fetcher).into_iter().map(Result::unwrap).collect();

    got.sort();
    let wanted: Vec<_> = (0..50).chain((50..99).filter(|map| map % 2 == 1)).map(block).collect();
    assert_eq!(got.iter().map(|(id, _)| *id).collect::<Vec<_>>(), wanted);
    assert!(got.iter().all(|(id, bytes)| *bytes == content(id)));
    assert_eq!(transport.asked(), wanted);
}

#[test]
fn an_empty_plan_gives_nothing() {
    let transport = Scripted::willing();

    assert!(start(&transport, Vec::new(), conf()).next().is_none());
    assert!(start(&transport, vec![blocks_at(1, &[1, 2], 0)], conf()).next().is_none());
    assert!(transport.asked().is_empty());
}

/// Behaviours: SHUF-008.
#[test]
fn a_dropped_block_lets_the_next_request_go() {
    let transport = Scripted::willing();
    let limits = FetchLimits { max_bytes_in_flight: 10, ..FetchLimits::default() };
    let mut fetcher = start(&transport, scattered(0..6, 5), limited(limits));

    let first = fetcher.next().unwrap().unwrap();
    let second = fetcher.next().unwrap().unwrap();
    assert_eq!(transport.asked().len(), 2, "ten bytes are held");

    drop(first);
    eventually("the third request", || transport.asked().len() == 3);
    drop(second);
    eventually("the fourth request", || transport.asked().len() == 4);
}

#[test]
fn a_reader_that_keeps_every_block_still_gets_them_all() {
    let transport = Scripted::willing();
    let limits = FetchLimits { max_bytes_in_flight: 10, ..FetchLimits::default() };

    let kept: Vec<_> = start(&transport, scattered(0..40, 7), limited(limits)).map(Result::unwrap).collect();

    assert_eq!(kept.len(), 40);
}

/// Behaviours: SHUF-008.
#[test]
fn five_peers_serve_at_once() {
    let together = Arc::new((Mutex::new(0), Condvar::new()));
    let meet = together.clone();
    let transport = Scripted::new(move |_, ids, sink| {
        let (here, all_here) = &*meet;
        let mut here = here.lock();
        *here += 1;
        all_here.notify_all();
        while *here < 5 {
            assert!(!all_here.wait_for(&mut here, GUARD).timed_out(), "the others never came");
        }
        drop(here);
        for id in ids {
            send(id, content(id), sink);
        }
    });
    let limits = FetchLimits { max_bytes_in_flight: 50, ..FetchLimits::default() };

    let got = read_all(start(&transport, scattered(0..5, 10), limited(limits)));

    assert!(got.iter().all(Result::is_ok), "{got:?}");
}

/// Behaviours: SHUF-008.
#[test]
fn no_more_requests_are_on_the_way_than_allowed() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counter, highest) = (now.clone(), most.clone());
    let transport = Scripted::new(move |_, ids, sink| {
        highest.fetch_max(counter.fetch_add(1, SeqCst) + 1, SeqCst);
        for id in ids {
            send(id, content(id), sink);
        }
        counter.fetch_sub(1, SeqCst);
    });
    let limits = FetchLimits { max_requests_in_flight: 2, ..FetchLimits::default() };

    assert_eq!(read_all(start(&transport, scattered(0..100, 10), limited(limits))).len(), 100);

    assert!(most.load(SeqCst) <= 2);
}

/// Behaviours: SHUF-008.
#[test]
fn a_large_block_goes_to_a_file_that_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    let transport = Scripted::new(|_, ids, sink| {
        for id in ids {
            // The first connection broke in the middle of the block: it is placed twice.
            drop(sink.place(id, 40));
            send(id, content(id), sink);
        }
    });
    let limits = FetchLimits { max_block_in_memory: 5, ..FetchLimits::default() };
    let conf = FetchConf { limits, ..FetchConf::new(folder.path()) };
    let mut fetcher = start(&transport, vec![blocks_at(1, &[1, 2], 40)], conf);

    let first = fetcher.next().unwrap().unwrap();
    let second = fetcher.next().unwrap().unwrap();

    for block in [&first, &second] {
        assert!(matches!(block.data, Payload::File { .. }));
        assert_eq!(read(block), content(&block.id));
    }
    let bytes = first.data.len() + second.data.len();
    let FetchStats { remote_blocks, remote_bytes, remote_bytes_to_disk, .. } = fetcher.stats();
    assert_eq!((remote_blocks, remote_bytes, remote_bytes_to_disk), (2, bytes, bytes));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file has a name to be left behind");
}

/// Has the blocks of executor 1: the map 1 is missing, the map 2 damaged, the map 3 empty.
struct Here;

impl LocalBlocks for Here {
    fn has(&self, from: &PeerAddr) -> bool {
        *from == peer(1)
    }

    fn open(&self, _: &PeerAddr, id: &BlockId) -> Result<Payload, String> {
        match id {
            id if *id == block(1) => Err("the file is gone".to_owned()),
            id if *id == block(2) => Ok(Payload::from("damaged")),
            id if *id == block(3) => Ok(Payload::from("")),
            id => Ok(Payload::from(content(id))),
        }
    }
}

/// Behaviours: SHUF-009, SHUF-011.
#[test]
fn local_blocks_are_read_in_place_and_their_damage_is_told_at_once() {
    let transport = Scripted::willing();
    let conf = FetchConf {
        local: Some(Arc::new(Here)),
        verify: Arc::new(|id, data| match data {
            Payload::Bytes(bytes) if *bytes != content(id) => Err("wrong checksum".to_owned()),
            _ => Ok(()),
        }),
        ..conf()
    };
    let plan = vec![blocks_at(1, &[0, 1, 2, 3, 4], 10), blocks_at(2, &[20], 10), blocks_at(1, &[5], 0)];
    let mut fetcher = start(&transport, plan, conf);

    let (mut read, mut errors) = (Vec::new(), Vec::new());
    for item in &mut fetcher {
        match item {
            Ok(block) => read.push((block.id, block.is_remote())),
            Err(error) => errors.push(error.to_string()),
        }
    }

    read.sort();
    assert_eq!(read, [(block(0), false), (block(4), false), (block(20), true)]);
    assert_eq!(errors.len(), 3);
    assert!(errors[0].contains("the file is gone"), "{errors:?}");
    assert!(errors[1].contains("the stored bytes are damaged") && errors[1].contains("wrong checksum"));
    assert!(errors[2].contains("it is empty"));
    assert_eq!(transport.asked(), [block(20)]);
    let stats = fetcher.stats();
    assert_eq!((stats.local_blocks, stats.remote_blocks), (2, 1));
    assert_eq!(stats.local_bytes, 2 * content(&block(0)).len() as u64);
}

#[test]
fn a_reader_that_is_told_to_stop_does_not_wait_for_the_network() {
    let (stop, ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (told, over) = (stop.clone(), ended.clone());
    let transport = Scripted::new(move |_, _, sink| {
        // A peer that answers nothing until the request is cancelled.
        told.store(true, SeqCst);
        eventually("the end of the interest", || !sink.is_wanted());
        over.store(true, SeqCst);
    });
    let conf = FetchConf { is_cancelled: Arc::new(move || stop.load(SeqCst)), ..conf() };
    let mut fetcher = start(&transport, scattered(0..2, 10), conf);

    assert!(matches!(fetcher.next(), Some(Err(FetchError::Cancelled))));
    assert!(fetcher.next().is_none());
    eventually("the end of the request", || ended.load(SeqCst));
}

#[test]
fn the_threads_end_when_the_reader_goes() {
    let transport = Scripted::new(|_, ids, sink| {
        send(&ids[0], content(&ids[0]), sink);
        eventually("the end of the interest", || !sink.is_wanted());
    });
    let mut fetcher = start(&transport, scattered(0..50, 10), conf());
    let block = fetcher.next().unwrap().unwrap();

    drop(fetcher);
    drop(block);

    eventually("the end of the threads", || Arc::strong_count(&transport) == 1);
    assert!(transport.asked().len() <= 5, "nothing was asked after that");
}
