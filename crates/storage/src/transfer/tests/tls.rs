//! The same over TLS.

use std::{fs, path::Path};

use firesteel_types::StorageLevel;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::{
    super::{BlockClient, ClientConf, TlsClient, TlsError, TlsServer, TransferError},
    support::{Fate, Proxy, Rig, bytes, fetch, fetch_one, file_of, id},
};
use crate::transfer::Payload;

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
    Rig::with(|conf| conf.tls = Some(tls))
}

fn client(rig: &Rig, tls: TlsClient) -> BlockClient {
    BlockClient::new(ClientConf { tls: Some(tls), ..rig.client_conf() })
}

#[test]
fn blocks_and_uploads_go_through_tls_and_cannot_be_read_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path(), "127.0.0.1");
    let rig = rig(folder.path());
    let content = bytes(1_000_003, 6);
    rig.put(1, content.clone());
    rig.put_file(2, &content);
    rig.put(3, "words that an ear on the wire would recognise");
    let proxy = Proxy::start(rig.server.local_addr(), &[Fate::Pass]);
    let client = client(&rig, TlsClient::from_pem(folder.path().join("ca.pem")).unwrap());

    let got = fetch(&client, &proxy.address, &[1, 2, 9, 3]);
    let upload = Payload::File { file: file_of(&content), offset: 1, len: 999_999 };
    client.upload(&proxy.address, id(5), StorageLevel::MEMORY_ONLY, &upload).unwrap();

    assert_eq!(got[0].1.as_ref().unwrap(), &content);
    assert_eq!(got[1].1.as_ref().unwrap(), &content);
    assert!(matches!(got[2].1, Err(TransferError::Missing { .. })));
    assert_eq!(got[3].1.as_ref().unwrap(), "words that an ear on the wire would recognise");
    assert_eq!(rig.source.stored.lock()[0].2, content[1..1_000_000]);
    let seen = proxy.seen.lock();
    assert!(!seen.windows(18).any(|window| window == b"an ear on the wire"));
    assert!(!seen.windows(32).any(|window| window == &content[..32] || window == &content[1..33]));
    assert_eq!((client.idle_connections(), rig.waits()), (1, 0), "TLS connections are kept too");
}

#[test]
fn a_certificate_of_another_authority_or_for_another_host_is_not_trusted() {
    let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    certificates(ours.path(), "block.example.org");
    certificates(theirs.path(), "block.example.org");
    let rig = rig(ours.path());
    rig.put(1, "one");
    let trust = |folder: &Path| TlsClient::from_pem(folder.join("ca.pem")).unwrap();

    let host = fetch_one(&client(&rig, trust(ours.path())), &rig.address(), 1).unwrap_err();
    assert!(matches!(host, TransferError::Untrusted { .. }), "{host}");

    let named = |folder| trust(folder).with_server_name("block.example.org").unwrap();
    let authority = fetch_one(&client(&rig, named(theirs.path())), &rig.address(), 1).unwrap_err();
    assert!(matches!(authority, TransferError::Untrusted { .. }), "{authority}");
    assert_eq!(rig.waits(), 0);

    assert_eq!(fetch_one(&client(&rig, named(ours.path())), &rig.address(), 1).unwrap(), "one");
}

#[test]
fn tls_on_one_side_only_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path(), "127.0.0.1");
    let (plain, secure) = (Rig::new(), rig(folder.path()));
    let tls = TlsClient::from_pem(folder.path().join("ca.pem")).unwrap();

    let needed = fetch_one(&secure.client(), &secure.address(), 1).unwrap_err();
    let unknown = fetch_one(&client(&plain, tls), &plain.address(), 1).unwrap_err();

    assert!(needed.to_string().contains("it takes only TLS"), "{needed}");
    assert!(unknown.to_string().contains("it has no certificate"), "{unknown}");
    assert_eq!((plain.waits(), secure.waits()), (0, 0));
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
