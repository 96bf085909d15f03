//! Which variant an error has: a program must be able to tell what to do about it.

use std::{
    future::Future as _,
    net::TcpListener,
    pin::Pin,
    task::{Context as PollContext, Poll, Waker},
};

use firesteel::{StorageLevel, prelude::*, sent_file};

/// The error of a context at a cluster whose master is not there.
fn start_error(settings: &[(&str, &str)]) -> Error {
    let builder = Context::builder().master("firesteel://127.0.0.1:1");
    let builder = builder.set("firesteel.registration.timeout", "100ms").unwrap();
    let builder = settings.iter().fold(builder, |builder, (key, value)| builder.set(key, value).unwrap());
    builder.start().expect_err("there is no master")
}

#[test]
fn a_cluster_that_cannot_be_used_says_which_part_of_it() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let here = ("firesteel.driver.host", "127.0.0.1");

    let no_master = start_error(&[here]);
    let busy = start_error(&[here, ("firesteel.driver.port", &port), ("firesteel.port.maxRetries", "0")]);
    let short = start_error(&[here, ("firesteel.authenticate.secret", "too short")]);
    let unprotected = start_error(&[("firesteel.driver.host", "0.0.0.0")]);
    let half = start_error(&[here, ("firesteel.ssl.certificate", "cert.pem")]);

    assert!(matches!(no_master, Error::NoMaster { .. }), "{no_master}");
    assert!(matches!(busy, Error::CannotListen { .. }), "{busy}");
    for error in [short, unprotected, half] {
        assert!(matches!(error, Error::Security { .. }), "{error}");
    }
}

#[test]
fn what_another_call_would_repair_has_a_variant_of_its_own() {
    let ctx = Context::local(1).unwrap();
    let rows = ctx.range(0..4);
    let folder = tempfile::tempdir().unwrap();

    let level = rows.cache().persist(StorageLevel::DISK_ONLY).unwrap_err();
    let nowhere = rows.checkpoint().unwrap_err();
    let broken = ctx.checkpoint_file::<u64>(folder.path().to_str().unwrap()).unwrap_err();
    let file = sent_file("words.txt").unwrap_err();

    assert!(matches!(level, Error::AlreadyPersisted { .. }), "{level}");
    assert!(matches!(nowhere, Error::NoCheckpointDir), "{nowhere}");
    assert!(matches!(broken, Error::BrokenCheckpoint { .. }), "{broken}");
    assert!(matches!(&file, Error::NotSent { name } if name == "words.txt"), "{file}");
}

#[test]
fn a_value_can_be_taken_once() {
    let ctx = Context::local(1).unwrap();
    let mut handle = ctx.range(0..4).count_async();
    let mut poll = || Pin::new(&mut handle).poll(&mut PollContext::from_waker(Waker::noop()));

    let value = loop {
        if let Poll::Ready(value) = poll() {
            break value;
        }
        std::thread::yield_now();
    };

    assert_eq!(value.unwrap(), 4);
    assert!(matches!(poll(), Poll::Ready(Err(Error::Taken))));
}
