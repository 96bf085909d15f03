//! The same over TLS.

use std::{fs, path::Path};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::support::{Proxy, Rig, echo};
use crate::{Dialer, NetError, TlsClient, TlsError, TlsServer};

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

#[test]
fn a_certificate_of_another_authority_or_for_another_host_is_not_trusted() {
    let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    certificates(ours.path(), "node.example.org");
    certificates(theirs.path(), "node.example.org");
    let rig = rig(ours.path());
    let trust = |folder: &Path| TlsClient::from_pem(folder.join("ca.pem")).unwrap();

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
