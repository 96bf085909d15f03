//! The same over TLS.

use std::{fs, io::Write, path::Path, thread};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::support::{Ears, Proxy, Rig, echo, eventually};
use crate::{
    Closed, Dialer, Line, LineConf, NetError, SendError, Service, TlsClient, TlsError, TlsServer, frame,
};

/// Writes `ca.pem`, and a certificate for `name` that it signed, to `folder`.
fn certificates(folder: &Path, name: &str) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let server = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    fs::write(folder.join("ca.pem"), authority.pem()).unwrap();
    fs::write(folder.join("server.pem"), server.pem()).unwrap();
    fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
}

fn rig(folder: &Path) -> Rig {
    let tls = TlsServer::from_pem(folder.join("server.pem"), folder.join("key.pem")).unwrap();
    Rig::with(|conf, _| conf.tls = Some(tls))
}

fn dialer(rig: &Rig, tls: TlsClient) -> Dialer {
    Dialer { tls: Some(tls), ..rig.dialer() }
}

fn trust(folder: &Path) -> TlsClient {
    TlsClient::from_pem(folder.join("ca.pem")).unwrap()
}

#[test]
fn both_ends_of_a_line_send_at_the_same_time_and_nothing_can_be_read_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path(), "127.0.0.1");
    let rig = rig(folder.path());
    let proxy = Proxy::start(rig.listener.address());
    let (line, ears, taken) = rig.line_over(&dialer(&rig, trust(folder.path())), &proxy.address);
    // Long ones among the short ones, so that the sockets are full now and then.
    let text = |number: usize| {
        format!(
            "{number} an ear on the wire {}",
            "x".repeat(if number.is_multiple_of(20) { 400_000 } else { 0 })
        )
    };

    thread::scope(|scope| {
        for line in [&line, &taken.line] {
            scope.spawn(move || (0..1000).for_each(|number| line.send(&text(number)).unwrap()));
        }
    });
    line.close();

    let (there, why) = taken.ears.end();
    assert!(matches!(why, Closed::ByPeer), "{why}");
    assert!(there.iter().enumerate().all(|(number, got)| *got == text(number)) && there.len() == 1000);
    // What the other end sent is delivered until this one closed.
    let (here, why) = ears.end();
    assert!(matches!(why, Closed::ByUs), "{why}");
    assert!(here.iter().enumerate().all(|(number, got)| *got == text(number)));
    let seen = proxy.seen.lock();
    assert!(!seen.windows(18).any(|window| window == b"an ear on the wire"));
    eventually("the end of the connection", || rig.listener.connections() == 0);
}

#[test]
fn what_the_handshake_read_too_much_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path(), "127.0.0.1");
    let rig = rig(folder.path());
    let mut stream = dialer(&rig, trust(folder.path())).stream(&rig.address(), Service::Artifacts).unwrap();
    let mut both = Vec::new();
    frame::put(&mut both, &"first");
    frame::put(&mut both, &"second");

    // Both come back in one record, of which the first message is only a part.
    stream.write_all(&both).and_then(|()| stream.flush()).unwrap();
    let first: String = frame::take(&mut stream, 100, &mut Vec::new()).unwrap();
    // Without pings, whose echo would wake the reader.
    let conf = LineConf { silence: None, ..rig.conf };
    let (_line, reader) = Line::<String>::open(stream, &conf).unwrap();
    let (ear, ears) = Ears::new();
    reader.spawn(ear).unwrap();

    assert_eq!((first.as_str(), &ears.messages(1)[..]), ("first", &["second".to_owned()][..]));
}

#[test]
fn what_is_encrypted_when_the_socket_is_full_goes_when_it_is_not() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path(), "127.0.0.1");
    let tls = TlsServer::from_pem(folder.path().join("server.pem"), folder.path().join("key.pem")).unwrap();
    let rig = Rig::with(|conf, line| {
        conf.tls = Some(tls);
        line.silence = None;
    });
    let proxy = Proxy::start(rig.listener.address());
    let (line, _ears, taken) = rig.line_over(&dialer(&rig, trust(folder.path())), &proxy.address);
    // The proxy cannot go on without it.
    let hold = proxy.seen.lock();
    let text = "x".repeat(1000);

    let mut sent = 0;
    while !line.core().wire().wants_write() {
        line.send(&text).unwrap();
        sent += 1;
    }
    drop(hold);

    assert_eq!(taken.ears.messages(sent).len(), sent);
}

#[test]
fn a_peer_that_does_not_take_what_is_encrypted_for_it_is_cut_off_too() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path(), "127.0.0.1");
    let tls = TlsServer::from_pem(folder.path().join("server.pem"), folder.path().join("key.pem")).unwrap();
    let rig = Rig::with(|conf, line| {
        conf.tls = Some(tls);
        line.max_queued = 4 << 20;
    });
    let proxy = Proxy::start(rig.listener.address());
    let (line, _ears, taken) = rig.line_over(&dialer(&rig, trust(folder.path())), &proxy.address);
    // The proxy cannot go on without it.
    let hold = proxy.seen.lock();

    let text = "x".repeat(100_000);
    let error = (0..10_000).find_map(|_| line.send(&text).err());

    assert_eq!(error, Some(SendError::Closed));
    assert!(line.is_closed());
    drop((hold, taken));
}

#[test]
fn a_certificate_of_another_authority_or_for_another_host_is_not_trusted() {
    let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    certificates(ours.path(), "node.example.org");
    certificates(theirs.path(), "node.example.org");
    let rig = rig(ours.path());

    let host = echo(&dialer(&rig, trust(ours.path())), &rig.address()).unwrap_err();
    assert!(matches!(host, NetError::Untrusted { .. }), "{host}");

    let named = |folder| trust(folder).with_server_name("node.example.org").unwrap();
    let authority = echo(&dialer(&rig, named(theirs.path())), &rig.address()).unwrap_err();
    assert!(matches!(authority, NetError::Untrusted { .. }), "{authority}");

    assert_eq!(echo(&dialer(&rig, named(ours.path())), &rig.address()).unwrap(), "still here");
}

#[test]
fn tls_on_one_side_only_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path(), "127.0.0.1");
    let (plain, secure) = (Rig::new(), rig(folder.path()));
    let tls = TlsClient::from_pem(folder.path().join("ca.pem")).unwrap();

    let needed = echo(&secure.dialer(), &secure.address()).unwrap_err();
    let unknown = echo(&dialer(&plain, tls), &plain.address()).unwrap_err();

    assert!(needed.to_string().contains("it takes only TLS"), "{needed}");
    assert!(unknown.to_string().contains("it has no certificate"), "{unknown}");
}

#[test]
fn files_that_are_no_certificates_are_named() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path(), "127.0.0.1");
    let file = |name: &str| folder.path().join(name);
    fs::write(file("empty.pem"), "").unwrap();

    let errors: [TlsError; 4] = [
        TlsServer::from_pem(file("absent.pem"), file("key.pem")).unwrap_err(),
        TlsServer::from_pem(file("server.pem"), file("empty.pem")).unwrap_err(),
        TlsServer::from_pem(file("ca.pem"), file("key.pem")).unwrap_err(),
        TlsClient::from_pem(file("empty.pem")).unwrap_err(),
    ];

    for (error, named) in errors.iter().zip(["absent.pem", "empty.pem", "ca.pem", "empty.pem"]) {
        assert!(error.to_string().contains(named), "{error}");
    }
}
