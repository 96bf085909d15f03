//! The same over TLS.

use std::{fs, path::Path};

use firesteel_net::{TlsClient, TlsServer};
use firesteel_types::StorageLevel;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::{
    super::{BlockClient, TransferError},
    support::{Fate, Proxy, Rig, bytes, fetch, file_of, id},
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
    Rig::with(|conf, _| conf.tls = Some(tls))
}

fn client(rig: &Rig, tls: TlsClient) -> BlockClient {
    let mut conf = rig.client_conf();
    conf.dialer.tls = Some(tls);
    BlockClient::new(conf)
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
    let proxy = Proxy::start(rig.server.address(), &[Fate::Pass]);
    let client = client(&rig, TlsClient::from_pem(folder.path().join("ca.pem")).unwrap());

    let got = fetch(&client, &proxy.peer, &[1, 2, 9, 3]);
    let upload = Payload::File { file: file_of(&content), offset: 1, len: 999_999 };
    client.upload(&proxy.peer, id(5), StorageLevel::MEMORY_ONLY, &upload).unwrap();

    assert_eq!(got[0].1.as_ref().unwrap(), &content);
    assert_eq!(got[1].1.as_ref().unwrap(), &content);
    assert!(matches!(got[2].1, Err(TransferError::Missing { .. })));
    assert_eq!(got[3].1.as_ref().unwrap(), "words that an ear on the wire would recognise");
    assert_eq!(rig.source.stored.lock()[0].2, content[1..1_000_000]);
    for seen in [proxy.up.lock(), proxy.down.lock()] {
        assert!(!seen.windows(18).any(|window| window == b"an ear on the wire"));
        assert!(!seen.windows(32).any(|window| window == &content[..32] || window == &content[1..33]));
    }
    assert_eq!((client.idle_connections(), rig.waits()), (1, 0), "TLS connections are kept too");
}
