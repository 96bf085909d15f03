//! Who is let in, and what the others are told.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use proptest::{collection::vec, prelude::*};

use super::support::{Proxy, Rig, echo, eventually};
use crate::{
    Address, Dialer, MAGIC, NetError, Realm, Secret, Service, VERSION,
    frame::{self, take},
    hello::{ClientHello, ClientProof, Greeting, Prelude, Refusal, ServerHello, Verdict},
    stream::is_timeout,
};

const PRELUDE: Prelude = Prelude { version: VERSION, tls: false, service: Service::Artifacts as u8 };

/// What a server says to raw bytes, until it closes.
fn say(rig: &Rig, bytes: &[u8]) -> Vec<u8> {
    let mut socket = TcpStream::connect(rig.listener.address()).unwrap();
    socket.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    // A reset after the answer is an end like any other.
    let _ = socket.read_to_end(&mut answer);
    answer
}

fn greeting(mut answer: &[u8]) -> Greeting {
    let mut prelude = [0; 5];
    answer.read_exact(&mut prelude).unwrap();
    assert_eq!((&prelude[..4], prelude[4]), (&MAGIC[..], VERSION));
    frame::take(&mut answer, 100, &mut Vec::new()).unwrap()
}

#[test]
fn a_wrong_secret_and_an_unknown_realm_are_refused_in_the_same_words() {
    let rig = Rig::new();
    let refusal = |change: fn(&mut Dialer)| {
        let mut dialer = rig.dialer();
        change(&mut dialer);
        echo(&dialer, &rig.address()).unwrap_err()
    };

    let secret = refusal(|dialer| dialer.secret = Secret::random());
    let realm = refusal(|dialer| dialer.realm = Realm::from("app-2"));

    assert!(matches!(secret, NetError::Refused { .. }), "{secret}");
    assert!(!secret.is_transient() && secret.to_string().contains("the secret is not the same"), "{secret}");
    assert_eq!(secret.to_string(), realm.to_string());
    eventually("the end of the connections", || rig.listener.connections() == 0);
    rig.assert_goes_on();
}

#[test]
fn a_service_that_is_not_there_is_refused_with_the_reason() {
    let rig = Rig::new();

    let error = rig.dialer().stream(&rig.address(), Service::Blocks).unwrap_err();

    assert!(matches!(error, NetError::Refused { .. }) && !error.is_transient(), "{error}");
    assert!(error.to_string().contains("does not offer this service"), "{error}");
    let unknown = Prelude { service: 200, ..PRELUDE }.encode();
    assert_eq!(greeting(&say(&rig, &unknown)), Greeting::Refused(Refusal::NoService));
    rig.assert_goes_on();
}

/// A proof for one service is none for another, though realm and secret are the same.
#[test]
fn a_connection_cannot_be_led_to_another_service() {
    let rig = Rig::new();
    let to = rig.listener.address();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let between = Address::from(listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect(to).unwrap();
        let mut prelude = [0; Prelude::LEN];
        client.read_exact(&mut prelude).unwrap();
        prelude[Prelude::LEN - 1] = Service::Artifacts as u8;
        server.write_all(&prelude).unwrap();
        let (mut up, mut down) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut up, &mut server));
        let _ = std::io::copy(&mut down, &mut client);
    });

    let error = rig.dialer().stream(&between, Service::Master).unwrap_err();

    assert!(matches!(error, NetError::Refused { .. }), "{error}");
}

#[test]
fn another_version_is_told_so() {
    let rig = Rig::new();
    let prelude = Prelude { version: VERSION + 1, ..PRELUDE }.encode();

    assert_eq!(greeting(&say(&rig, &prelude)), Greeting::Refused(Refusal::Version));
    rig.assert_goes_on();
}

#[test]
fn garbage_is_refused_and_the_service_goes_on() {
    let rig = Rig::new();
    for garbage in [&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..], &[0xff; 5000], b"FSTL\x01\x07\x01"] {
        assert_eq!(greeting(&say(&rig, garbage)), Greeting::Refused(Refusal::Malformed));
    }

    let mut prelude = PRELUDE.encode().to_vec();
    frame::put(&mut prelude, &"no hello at all, but a text that is framed as one");
    let answer = say(&rig, &prelude);
    assert_eq!(greeting(&answer), Greeting::Welcome);
    let refused: Verdict = frame::take(&mut &answer[5 + 5..], 100, &mut Vec::new()).unwrap();
    assert_eq!(refused, Verdict::Refused(Refusal::Malformed));
    rig.assert_goes_on();
}

#[test]
fn a_long_message_before_the_proof_is_refused() {
    let rig = Rig::new();
    let mut bytes = PRELUDE.encode().to_vec();
    bytes.extend(u32::MAX.to_le_bytes());

    let answer = say(&rig, &bytes);

    let refused: Verdict = frame::take(&mut &answer[5 + 5..], 100, &mut Vec::new()).unwrap();
    assert_eq!(refused, Verdict::Refused(Refusal::Malformed));
    rig.assert_goes_on();
}

#[test]
fn a_silent_peer_and_one_that_sends_byte_by_byte_are_closed_in_time() {
    let rig = Rig::with(|conf, _| conf.handshake_timeout = Duration::from_millis(150));
    let mut silent = TcpStream::connect(rig.listener.address()).unwrap();
    let mut slow = TcpStream::connect(rig.listener.address()).unwrap();
    slow.write_all(&PRELUDE.encode()).unwrap();
    slow.write_all(&4000_u32.to_le_bytes()).unwrap();
    slow.set_read_timeout(Some(Duration::from_millis(10))).unwrap();

    // At this pace the message would take 40 seconds, and no read of the server waits long.
    let mut sent = 0;
    let closed = loop {
        let ended = match slow.read(&mut [0; 100]) {
            Ok(0) => true,
            Ok(_) => false,
            Err(error) => !is_timeout(&error),
        };
        if ended || sent == 3999 || slow.write_all(&[0]).is_err() {
            break ended;
        }
        sent += 1;
    };

    assert!(closed || sent < 3999, "the server waited for all of the message");
    let _ = silent.read_to_end(&mut Vec::new());
    eventually("the end of both connections", || rig.listener.connections() == 0);
    rig.assert_goes_on();
}

/// A server that welcomes everybody and shows whatever `proof` makes of the client's.
fn impostor(proof: fn([u8; 32]) -> [u8; 32]) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::from(listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut out = MAGIC.to_vec();
        out.push(VERSION);
        frame::put(&mut out, &Greeting::Welcome);
        frame::put(&mut out, &ServerHello { nonce: [0; 32] });
        socket.write_all(&out).unwrap();
        socket.read_exact(&mut [0; Prelude::LEN]).unwrap();
        let _: ClientHello = frame::take(&mut socket, 1000, &mut Vec::new()).unwrap();
        let client: ClientProof = frame::take(&mut socket, 1000, &mut Vec::new()).unwrap();
        out.clear();
        frame::put(&mut out, &Verdict::Accepted { proof: proof(client.proof) });
        socket.write_all(&out).unwrap();
        let _ = socket.read(&mut [0]);
    });
    address
}

#[test]
fn a_server_that_does_not_know_the_secret_is_not_trusted() {
    let rig = Rig::new();
    for address in [impostor(|_| [7; 32]), impostor(|clients| clients)] {
        let error = rig.dialer().stream(&address, Service::Master).unwrap_err();
        assert!(matches!(error, NetError::Untrusted { .. }) && !error.is_transient(), "{error}");
    }
}

#[test]
fn something_else_at_the_port_is_not_taken_for_a_peer() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::from(listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(b"220 mail.example.org ESMTP\r\n").unwrap();
        let _ = socket.read(&mut [0; 100]);
    });

    let error = Rig::new().dialer().stream(&address, Service::Master).unwrap_err();

    assert!(matches!(error, NetError::Protocol { .. }), "{error}");
}

#[test]
fn the_secret_never_crosses_the_wire_and_no_two_proofs_are_alike() {
    let rig = Rig::new();
    let seen = || {
        let proxy = Proxy::start(rig.listener.address());
        echo(&rig.dialer(), &proxy.address).unwrap();
        proxy.seen.lock().clone()
    };

    let (first, second) = (seen(), seen());

    for bytes in [&first, &second] {
        assert!(!bytes.windows(rig.secret.expose().len()).any(|window| window == rig.secret.expose()));
    }
    // Of the two recordings only the fixed words are the same, never 16 bytes in a row of nonce or proof.
    let common = first.windows(16).filter(|window| second.windows(16).any(|other| other == *window)).count();
    assert!(common < 20, "{common} common places");
}

#[test]
fn of_two_hundred_connections_ten_are_taken_and_the_others_told_why_not() {
    let rig = Rig::with(|conf, _| conf.max_connections = 10);
    let sockets: Vec<_> = (0..200).map(|_| TcpStream::connect(rig.listener.address()).unwrap()).collect();

    let (mut welcome, mut busy) = (0, 0);
    for mut socket in &sockets {
        // The server may have closed it already.
        let _ = socket.write_all(&PRELUDE.encode());
        socket.read_exact(&mut [0; 5]).unwrap();
        match frame::take(&mut socket, 100, &mut Vec::new()).unwrap() {
            Greeting::Welcome => welcome += 1,
            Greeting::Refused(Refusal::Busy) => busy += 1,
            other @ Greeting::Refused(_) => panic!("{other:?}"),
        }
    }
    assert_eq!((welcome, busy), (10, 190));
    assert_eq!(rig.listener.connections(), 10);
    let error = echo(&rig.dialer(), &rig.address()).unwrap_err();
    assert!(matches!(error, NetError::Busy { .. }) && error.is_transient(), "{error}");

    drop(sockets);
    eventually("the end of the connections", || rig.listener.connections() == 0);
    rig.assert_goes_on();
}

#[test]
fn a_peer_that_stalls_in_the_handshake_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::from(listener.local_addr().unwrap());
    let mut dialer = Rig::new().dialer();
    dialer.handshake_timeout = Duration::from_millis(50);

    let error = dialer.stream(&address, Service::Master).unwrap_err();

    assert!(matches!(error, NetError::TimedOut { .. }) && error.is_transient(), "{error}");
    drop(listener);
    let error = dialer.stream(&address, Service::Master).unwrap_err();
    assert!(matches!(error, NetError::Connect { .. }) && error.is_transient(), "{error}");
}

proptest! {
    #[test]
    fn no_bytes_make_a_decoder_panic_or_take_more_memory_than_its_limit(
        bytes in vec(any::<u8>(), 0..300),
        limit in 0_usize..200,
    ) {
        let mut scratch = Vec::new();
        drop(take::<Greeting>(&mut bytes.as_slice(), limit, &mut scratch));
        drop(take::<ClientHello>(&mut bytes.as_slice(), limit, &mut scratch));
        drop(take::<ServerHello>(&mut bytes.as_slice(), limit, &mut scratch));
        drop(take::<ClientProof>(&mut bytes.as_slice(), limit, &mut scratch));
        drop(take::<Verdict>(&mut bytes.as_slice(), limit, &mut scratch));
        prop_assert!(scratch.capacity() <= limit);
        if let Ok(prelude) = <[u8; Prelude::LEN]>::try_from(&bytes[..bytes.len().min(Prelude::LEN)]) {
            let _ = Prelude::decode(prelude);
        }
    }

    #[test]
    fn a_hello_is_read_as_it_was_written_and_a_changed_one_never_panics(
        realm in ".{0,60}", nonce in any::<[u8; 32]>(), at in any::<prop::sample::Index>(), wrong in any::<u8>(),
    ) {
        let hello = ClientHello { realm, nonce };
        let mut bytes = Vec::new();
        frame::put(&mut bytes, &hello);
        prop_assert_eq!(take::<ClientHello>(&mut bytes.as_slice(), 1000, &mut Vec::new()).unwrap(), hello);

        let at = at.index(bytes.len());
        bytes[at] = wrong;
        let mut scratch = Vec::new();
        let _ = take::<ClientHello>(&mut bytes.as_slice(), 1000, &mut scratch);
        prop_assert!(scratch.capacity() <= 1000);
    }
}
