//! What breaks in the middle, and what is tried again.

use std::{
    io::{self, Write},
    sync::Arc,
    time::Duration,
};

use firesteel_net::NetError;
use firesteel_types::StorageLevel;
use parking_lot::Mutex;

use super::{
    super::{BlockClient, ClientConf, Destination, Incoming, Payload, Retry, Sink, TransferError},
    support::{Fate, Proxy, Rig, bytes, eventually, fetch, fetch_of, fetch_one, id},
};
use crate::block::BlockId;

#[test]
fn a_connection_cut_in_mid_block_is_made_again_and_the_block_comes_whole() {
    let rig = Rig::new();
    let content = bytes(1 << 20, 3);
    rig.put(1, "one");
    rig.put(2, content.clone());
    rig.put_file(3, &content);
    let proxy =
        Proxy::start(rig.server.address(), &[Fate::CutDown(500_000), Fate::CutDown(1_200_000), Fate::Pass]);

    let got = fetch(&rig.client(), &proxy.peer, &[1, 2, 3]);

    assert_eq!(got.len(), 3);
    assert_eq!(got[0].1.as_ref().unwrap(), "one");
    assert_eq!(got[1].1.as_ref().unwrap(), &content);
    assert_eq!(got[2].1.as_ref().unwrap(), &content);
    let waits = rig.pauses.waits.lock().clone();
    assert_eq!(waits.len(), 2);
    assert!(
        waits[0] <= Duration::from_secs(1) && waits[1] >= waits[0].min(Duration::from_secs(1)),
        "{waits:?}"
    );
}

#[test]
fn after_the_last_try_every_block_that_did_not_come_has_the_error() {
    let rig = Rig::new();
    rig.put(1, "one");
    rig.put(2, bytes(1 << 20, 3));
    let proxy = Proxy::start(rig.server.address(), &[Fate::CutDown(100_000)]);

    let got = fetch(&rig.client(), &proxy.peer, &[1, 2, 3]);

    assert_eq!(got[0].1.as_ref().unwrap(), "one");
    for (_, result) in &got[1..] {
        assert!(matches!(result, Err(TransferError::Net(NetError::Broken { .. }))), "{result:?}");
    }
    assert_eq!((got.len(), rig.waits()), (3, 2), "three tries, two waits");
}

#[test]
fn a_server_that_stalls_in_mid_block_is_given_up_after_the_read_timeout() {
    let rig = Rig::new();
    let content = bytes(1 << 20, 3);
    rig.put(1, content.clone());
    let conf = || ClientConf { read_timeout: Duration::from_millis(100), ..rig.client_conf() };

    let stalls = Proxy::start(rig.server.address(), &[Fate::Stall(300_000)]);
    let client = BlockClient::new(ClientConf { retry: Retry::NEVER, ..conf() });
    let error = fetch_one(&client, &stalls.peer, 1).unwrap_err();
    assert!(matches!(error, TransferError::Net(NetError::TimedOut { .. })), "{error}");
    assert!(error.to_string().contains("silent for 100ms"), "{error}");
    assert_eq!(client.idle_connections(), 0);

    let recovers = Proxy::start(rig.server.address(), &[Fate::Stall(300_000), Fate::Pass]);
    assert_eq!(fetch_one(&BlockClient::new(conf()), &recovers.peer, 1).unwrap(), content);
    assert_eq!(rig.waits(), 1);
}

#[test]
fn a_server_that_stalls_in_the_handshake_is_given_up_too() {
    let rig = Rig::new();
    let proxy = Proxy::start(rig.server.address(), &[Fate::Stall(12)]);
    let mut conf = ClientConf { retry: Retry::NEVER, ..rig.client_conf() };
    conf.dialer.handshake_timeout = Duration::from_millis(100);
    let client = BlockClient::new(conf);

    let error = fetch_one(&client, &proxy.peer, 1).unwrap_err();

    assert!(matches!(error, TransferError::Net(NetError::TimedOut { .. })), "{error}");
}

/// Keeps each destination that was asked for.
struct Places<'a> {
    places: Vec<Arc<Mutex<Vec<u8>>>>,
    results: Vec<Result<Incoming, TransferError>>,
    at_first_write: Option<&'a (dyn Fn() + Sync)>,
}

struct Place(Arc<Mutex<Vec<u8>>>);

impl Write for Place {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.lock().write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Places<'_> {
    fn place(&mut self, _: &BlockId, _: u64) -> io::Result<Destination> {
        if let Some(act) = self.at_first_write.take() {
            act();
        }
        self.places.push(Arc::default());
        Ok(Destination::Writer(Box::new(Place(self.places.last().unwrap().clone()))))
    }

    fn deliver(&mut self, _: BlockId, result: Result<Incoming, TransferError>) {
        self.results.push(result);
    }
}

#[test]
fn a_server_that_dies_in_mid_block_is_asked_again_when_it_is_back() {
    let rig = Rig::new();
    // More than the socket buffers hold, so that the server is in the middle of it when it stops.
    let content = bytes(64 << 20, 3);
    rig.put(1, content.clone());
    let successor = rig.successor();
    let back = Arc::new(Mutex::new(None));
    *rig.pauses.then.lock() = Some({
        let back = back.clone();
        Box::new(move || *back.lock() = Some(successor()))
    });
    let stop = || rig.server.stop();
    let mut sink = Places { places: Vec::new(), results: Vec::new(), at_first_write: Some(&stop) };

    rig.client().fetch(&rig.peer(), &[id(1)], &mut sink);

    assert!(matches!(sink.results[..], [Ok(Incoming::Written { len })] if len == content.len() as u64));
    let places: Vec<_> = sink.places.iter().map(|place| place.lock().clone()).collect();
    assert_eq!(places.len(), 2, "the block was placed again");
    assert!(places[0].len() < content.len());
    assert_eq!(places[1], content, "the second time from its first byte");
    assert_eq!(rig.waits(), 1);
}

#[test]
fn a_refused_connection_is_tried_until_the_server_is_up() {
    let rig = Rig::new();
    rig.put(1, "one");
    let successor = rig.successor();
    rig.server.stop();
    let back = Arc::new(Mutex::new(None));
    let mut calls = 0;
    *rig.pauses.then.lock() = Some({
        let back = back.clone();
        Box::new(move || {
            calls += 1;
            if calls == 2 {
                *back.lock() = Some(successor());
            }
        })
    });

    assert_eq!(fetch_one(&rig.client(), &rig.peer(), 1).unwrap(), "one");
    assert_eq!(rig.waits(), 2);

    *back.lock() = None;
    *rig.pauses.then.lock() = None;
    let error = fetch_one(&rig.client(), &rig.peer(), 1).unwrap_err();
    assert!(matches!(error, TransferError::Net(NetError::Connect { .. })), "{error}");
    assert_eq!(rig.waits(), 4, "and given up after three tries");
}

#[test]
fn an_upload_that_breaks_is_sent_again_and_never_stored_in_part() {
    let rig = Rig::new();
    let content = bytes(1 << 20, 5);
    let proxy = Proxy::start(rig.server.address(), &[Fate::CutUp(400_000), Fate::Pass]);

    rig.client()
        .upload(&proxy.peer, id(1), StorageLevel::MEMORY_ONLY, &Payload::from(content.clone()))
        .unwrap();

    assert_eq!(*rig.source.stored.lock(), [(id(1), StorageLevel::MEMORY_ONLY, content.to_vec())]);
    assert_eq!(rig.waits(), 1);
}

#[test]
fn clients_that_disappear_leave_no_thread_behind() {
    let rig = Rig::new();
    rig.put(1, bytes(64 << 20, 1));
    rig.put_file(2, &bytes(64 << 20, 1));
    for number in [1, 2] {
        let mut link = rig.link();
        link.ask(&fetch_of(number)).unwrap();
    }
    drop(rig.link());

    eventually("the end of the connections", || rig.server.connections() == 0);
    rig.assert_goes_on();
}

#[test]
fn clients_that_read_nothing_are_closed_after_the_write_timeout() {
    let rig = Rig::with(|_, limits| limits.write_timeout = Duration::from_millis(100));
    rig.put(1, bytes(64 << 20, 1));
    rig.put_file(2, &bytes(64 << 20, 1));
    let links: Vec<_> = [1, 2]
        .into_iter()
        .map(|number| {
            let mut link = rig.link();
            link.ask(&fetch_of(number)).unwrap();
            link
        })
        .collect();

    eventually("the end of the connections", || rig.server.connections() == 0);
    drop(links);
    rig.assert_goes_on();
}
