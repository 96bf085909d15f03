//! Where a listener listens.

use std::{net::TcpListener, sync::Arc};

use crate::{Listener, ListenerConf, NetError, OneSecret, Realm, Secret, Services};

fn bind(host: &str, port: u16, tries: u16) -> Result<Listener, NetError> {
    let secrets = OneSecret { realm: Realm::cluster(), secret: Secret::public() };
    Listener::bind(host, port, tries, ListenerConf::new(Arc::new(secrets)), Services::new())
}

/// Two neighbouring ports, the first of them taken.
fn taken_and_free() -> (TcpListener, u16) {
    loop {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let Some(next) = port.checked_add(1) else { continue };
        if TcpListener::bind(("127.0.0.1", next)).is_ok() {
            return (taken, port);
        }
    }
}

#[test]
fn a_taken_port_is_an_error_that_names_it_or_the_next_one_is_used() {
    let (_taken, port) = taken_and_free();

    let error = bind("127.0.0.1", port, 0).unwrap_err();
    assert!(error.to_string().contains(&format!("cannot listen at 127.0.0.1, tried port {port}")), "{error}");
    let next = bind("127.0.0.1", port, 16).unwrap();

    assert!(next.address().port() > port && next.address().port() <= port + 16, "{next:?}");
    let error = bind("127.0.0.1", port, 0).unwrap_err();
    assert!(!error.is_transient(), "{error}");
}

#[test]
fn a_host_that_is_not_this_one_is_not_tried_at_other_ports() {
    let error = bind("192.0.2.1", 7077, 16).unwrap_err();

    assert!(error.to_string().contains("tried port 7077:"), "{error}");
}
