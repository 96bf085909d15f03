//! Who is let in, and what the others are told.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use firesteel_types::AppId;

use super::{
    super::{
        Address, BlockClient, MAGIC, Secret, TransferError, VERSION,
        frame::{self, ClientHello, ClientProof, Greeting, Prelude, Refusal, ServerHello, Verdict},
    },
    support::{Fate, Proxy, Rig, eventually, fetch_one},
};

/// What a server says to raw bytes, until it closes.
fn say(rig: &Rig, bytes: &[u8]) -> Vec<u8> {
    let mut socket = TcpStream::connect(rig.server.local_addr()).unwrap();
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
fn a_wrong_secret_and_an_unknown_application_are_refused_in_the_same_words() {
    let rig = Rig::new();
    let refusal = |change: fn(&mut super::super::ClientConf)| {
        let mut conf = rig.client_conf();
        change(&mut conf);
        fetch_one(&BlockClient::new(conf), &rig.address(), 1).unwrap_err()
    };

    let secret = refusal(|conf| conf.secret = Secret::random());
    let app = refusal(|conf| conf.app = AppId::from("app-2"));

    assert!(matches!(secret, TransferError::Refused { .. }), "{secret}");
    assert!(secret.to_string().contains("the secret is not the same"), "{secret}");
    assert_eq!(secret.to_string(), app.to_string());
    assert_eq!(rig.waits(), 0, "a refusal is not tried again");
    eventually("the end of the connections", || rig.server.connections() == 0);
    rig.assert_goes_on();
}

#[test]
fn another_version_is_told_so() {
    let rig = Rig::new();
    let prelude = Prelude { version: VERSION + 1, tls: false }.encode();

    assert_eq!(greeting(&say(&rig, &prelude)), Greeting::Refused(Refusal::Version));
    rig.assert_goes_on();
}

#[test]
fn garbage_is_refused_and_the_service_goes_on() {
    let rig = Rig::new();
    for garbage in [&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..], &[0xff; 5000], b"FSBT\x01\x07"] {
        assert_eq!(greeting(&say(&rig, garbage)), Greeting::Refused(Refusal::Malformed));
    }

    let mut prelude = Prelude { version: VERSION, tls: false }.encode().to_vec();
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
    let mut bytes = Prelude { version: VERSION, tls: false }.encode().to_vec();
    bytes.extend(u32::MAX.to_le_bytes());

    let answer = say(&rig, &bytes);

    let refused: Verdict = frame::take(&mut &answer[5 + 5..], 100, &mut Vec::new()).unwrap();
    assert_eq!(refused, Verdict::Refused(Refusal::Malformed));
    rig.assert_goes_on();
}

#[test]
fn a_silent_peer_and_one_that_sends_byte_by_byte_are_closed_in_time() {
    let rig = Rig::with(|conf| conf.handshake_timeout = Duration::from_millis(150));
    let mut silent = TcpStream::connect(rig.server.local_addr()).unwrap();
    let mut slow = TcpStream::connect(rig.server.local_addr()).unwrap();
    slow.write_all(&Prelude { version: VERSION, tls: false }.encode()).unwrap();
    slow.write_all(&4000_u32.to_le_bytes()).unwrap();
    slow.set_read_timeout(Some(Duration::from_millis(10))).unwrap();

    // At this pace the message would take 40 seconds, and no read of the server waits long.
    let mut sent = 0;
    let closed = loop {
        let ended = match slow.read(&mut [0; 100]) {
            Ok(0) => true,
            Ok(_) => false,
            Err(error) => !super::super::stream::is_timeout(&error),
        };
        if ended || sent == 3999 || slow.write_all(&[0]).is_err() {
            break ended;
        }
        sent += 1;
    };

    assert!(closed || sent < 3999, "the server waited for all of the message");
    let _ = silent.read_to_end(&mut Vec::new());
    eventually("the end of both connections", || rig.server.connections() == 0);
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
        let error = fetch_one(&rig.client(), &address, 1).unwrap_err();
        assert!(matches!(error, TransferError::Untrusted { .. }), "{error}");
    }
    assert_eq!(rig.waits(), 0);
}

#[test]
fn something_else_at_the_port_is_no_block_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::from(listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket.write_all(b"220 mail.example.org ESMTP\r\n").unwrap();
        let _ = socket.read(&mut [0; 100]);
    });

    let error = fetch_one(&Rig::new().client(), &address, 1).unwrap_err();

    assert!(matches!(error, TransferError::Protocol { .. }), "{error}");
}

#[test]
fn the_secret_never_crosses_the_wire_and_no_two_proofs_are_alike() {
    let rig = Rig::new();
    rig.put(1, "one");
    let seen = || {
        let proxy = Proxy::start(rig.server.local_addr(), &[Fate::Pass]);
        fetch_one(&rig.client(), &proxy.address, 1).unwrap();
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
