//! How much one peer, or many, can take from a server.

use std::time::Duration;

use firesteel_net::{NetError, frame};
use firesteel_types::StorageLevel;

use super::{
    super::{BlockClient, ClientConf, Retry, TransferError, frame::Request},
    support::{OF, Rig, eventually, fetch_one, id},
};

#[test]
fn a_busy_server_is_tried_again() {
    let rig = Rig::with(|conf, _| conf.max_connections = 1);
    rig.put(1, "one");
    let mut only = Some(rig.link());
    *rig.pauses.then.lock() = Some(Box::new(move || drop(only.take())));
    let client = BlockClient::new(ClientConf {
        retry: Retry { max_tries: u32::MAX, ..Retry::default() },
        ..rig.client_conf()
    });

    assert_eq!(fetch_one(&client, &rig.peer(), 1).unwrap(), "one");
    assert!(rig.waits() >= 1);
}

#[test]
fn an_oversized_or_malformed_request_ends_its_connection_only() {
    let rig = Rig::with(|_, limits| limits.max_message = 1000);
    rig.put(1, "one");
    let many = Request::Fetch { of: OF, ids: vec![id(u64::MAX); 500] };
    let broken = |bytes: &[u8]| {
        let mut link = rig.link();
        link.write_raw(bytes);
        link.answer().unwrap_err()
    };
    let mut long = Vec::new();
    frame::put(&mut long, &many);

    assert!(matches!(broken(&long), TransferError::Net(NetError::Broken { .. })));
    assert!(matches!(broken(&[0xff; 4]), TransferError::Net(NetError::Broken { .. })));
    assert!(matches!(broken(&[2, 0, 0, 0, 0x77, 0x77]), TransferError::Net(NetError::Broken { .. })));

    eventually("the end of the connections", || rig.server.connections() == 0);
    rig.assert_goes_on();
}

#[test]
fn a_request_and_an_upload_that_stop_in_the_middle_are_closed() {
    let rig = Rig::with(|_, limits| limits.read_timeout = Duration::from_millis(50));
    let mut half = rig.link();
    half.write_raw(&[200, 0, 0, 0, 1]);
    let mut upload = rig.link();
    upload.ask(&Request::Upload { of: OF, id: id(1), level: StorageLevel::MEMORY_ONLY, len: 100 }).unwrap();
    upload.write_raw(b"and then nothing");

    eventually("the end of the connections", || rig.server.connections() == 0);
    assert!(rig.source.stored.lock().is_empty());
    rig.assert_goes_on();
}
