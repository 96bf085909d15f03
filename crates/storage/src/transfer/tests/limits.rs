//! How much one peer, or many, can take from a server.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use firesteel_types::StorageLevel;

use super::{
    super::{
        BlockClient, ClientConf, Retry, TransferError, VERSION,
        frame::{self, Greeting, Prelude, Refusal, Request},
    },
    support::{Rig, eventually, fetch_one, id},
};

#[test]
fn of_two_hundred_connections_ten_are_taken_and_the_others_told_why_not() {
    let rig = Rig::with(|conf| conf.max_connections = 10);
    rig.put(1, "one");
    let sockets: Vec<_> = (0..200).map(|_| TcpStream::connect(rig.server.local_addr()).unwrap()).collect();

    let (mut welcome, mut busy) = (0, 0);
    for mut socket in &sockets {
        // The server may have closed it already.
        let _ = socket.write_all(&Prelude { version: VERSION, tls: false }.encode());
        socket.read_exact(&mut [0; 5]).unwrap();
        match frame::take(&mut socket, 100, &mut Vec::new()).unwrap() {
            Greeting::Welcome => welcome += 1,
            Greeting::Refused(Refusal::Busy) => busy += 1,
            other @ Greeting::Refused(_) => panic!("{other:?}"),
        }
    }
    assert_eq!((welcome, busy), (10, 190));
    assert_eq!(rig.server.connections(), 10);
    let client = BlockClient::new(ClientConf { retry: Retry::NEVER, ..rig.client_conf() });
    let error = fetch_one(&client, &rig.address(), 1).unwrap_err();
    assert!(matches!(error, TransferError::Busy { .. }) && error.is_transient(), "{error}");

    drop(sockets);
    eventually("the end of the connections", || rig.server.connections() == 0);
    rig.assert_goes_on();
}

#[test]
fn a_busy_server_is_tried_again() {
    let rig = Rig::with(|conf| conf.max_connections = 1);
    rig.put(1, "one");
    let mut only = Some(rig.link());
    *rig.pauses.then.lock() = Some(Box::new(move || drop(only.take())));
    let client = BlockClient::new(ClientConf {
        retry: Retry { max_tries: u32::MAX, ..Retry::default() },
        ..rig.client_conf()
    });

    assert_eq!(fetch_one(&client, &rig.address(), 1).unwrap(), "one");
    assert!(rig.waits() >= 1);
}

#[test]
fn an_oversized_or_malformed_request_ends_its_connection_only() {
    let rig = Rig::with(|conf| conf.max_message = 1000);
    rig.put(1, "one");
    let many = Request::Fetch { ids: vec![id(u64::MAX); 500] };
    let broken = |bytes: &[u8]| {
        let mut link = rig.link();
        link.write_raw(bytes);
        link.answer().unwrap_err()
    };
    let mut long = Vec::new();
    frame::put(&mut long, &many);

    assert!(matches!(broken(&long), TransferError::Broken { .. }));
    assert!(matches!(broken(&[0xff; 4]), TransferError::Broken { .. }));
    assert!(matches!(broken(&[2, 0, 0, 0, 0x77, 0x77]), TransferError::Broken { .. }));

    eventually("the end of the connections", || rig.server.connections() == 0);
    rig.assert_goes_on();
}

#[test]
fn a_request_and_an_upload_that_stop_in_the_middle_are_closed() {
    let rig = Rig::with(|conf| conf.read_timeout = Duration::from_millis(50));
    let mut half = rig.link();
    half.write_raw(&[200, 0, 0, 0, 1]);
    let mut upload = rig.link();
    upload.ask(&Request::Upload { id: id(1), level: StorageLevel::MEMORY_ONLY, len: 100 }).unwrap();
    upload.write_raw(b"and then nothing");

    eventually("the end of the connections", || rig.server.connections() == 0);
    assert!(rig.source.stored.lock().is_empty());
    rig.assert_goes_on();
}
