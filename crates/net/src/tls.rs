//! Optional encryption: [`TlsServer`] and [`TlsClient`], made from PEM files.
//!
//! TLS 1.3 only, since both ends are ours. The certificate tells a client that it talks to the right host; who may
//! talk to it is decided by the secret of the realm, inside the encrypted connection.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    crypto::{CryptoProvider, ring::default_provider},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};

use crate::{address::Address, stream::Socket};

/// What is wrong with the TLS files or names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum TlsError {
    /// A file cannot be read or holds no PEM of the kind that is wanted.
    #[error("cannot read {what} from {}: {reason}", path.display())]
    File { what: &'static str, path: PathBuf, reason: String },
    /// Certificate and key, or the authorities, cannot be used.
    #[error("cannot use {what} from {}: {source}", path.display())]
    Unusable { what: &'static str, path: PathBuf, source: rustls::Error },
    /// The name that the certificate must carry is none.
    #[error("{name} cannot be the name in a certificate; set the server name of the TLS client")]
    Name { name: String },
}

/// The certificate and key that a listener shows.
#[derive(Clone)]
pub struct TlsServer(Arc<ServerConfig>);

impl TlsServer {
    /// Reads the certificate chain, the server's own first, and its key.
    pub fn from_pem(chain: impl AsRef<Path>, key: impl AsRef<Path>) -> Result<Self, TlsError> {
        let (chain, key) = (chain.as_ref(), key.as_ref());
        let certificates = certificates(chain, "the certificate chain")?;
        let private = PrivateKeyDer::from_pem_file(key).map_err(|reason| TlsError::File {
            what: "the private key",
            path: key.to_path_buf(),
            reason: reason.to_string(),
        })?;
        let unusable = |source| TlsError::Unusable {
            what: "the certificate chain and its key",
            path: chain.to_path_buf(),
            source,
        };
        let config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(certificates, private)
            .map_err(unusable)?;
        Ok(Self(Arc::new(config)))
    }

    pub(crate) fn accept(
        &self,
        socket: Socket,
    ) -> Result<StreamOwned<ServerConnection, Socket>, rustls::Error> {
        Ok(StreamOwned::new(ServerConnection::new(self.0.clone())?, socket))
    }
}

impl fmt::Debug for TlsServer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("TlsServer").finish_non_exhaustive()
    }
}

/// The authorities whose certificates a client believes.
#[derive(Clone)]
pub struct TlsClient {
    config: Arc<ClientConfig>,
    name: Option<ServerName<'static>>,
}

impl TlsClient {
    /// Reads the authorities. A server's certificate must be signed by one of them and name the server's host.
    pub fn from_pem(authorities: impl AsRef<Path>) -> Result<Self, TlsError> {
        let path = authorities.as_ref();
        let mut roots = RootCertStore::empty();
        let unusable =
            |source| TlsError::Unusable { what: "the authorities", path: path.to_path_buf(), source };
        for certificate in certificates(path, "the authorities")? {
            roots.add(certificate).map_err(unusable)?;
        }
        let config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(unusable)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { config: Arc::new(config), name: None })
    }

    /// Expects `name` in every server's certificate instead of its host: one certificate for the whole cluster.
    pub fn with_server_name(mut self, name: &str) -> Result<Self, TlsError> {
        self.name = Some(server_name(name)?);
        Ok(self)
    }

    pub(crate) fn connect(
        &self,
        socket: Socket,
        to: &Address,
    ) -> Result<StreamOwned<ClientConnection, Socket>, String> {
        let name = match &self.name {
            Some(name) => name.clone(),
            None => server_name(to.host.as_str()).map_err(|error| error.to_string())?,
        };
        let session = ClientConnection::new(self.config.clone(), name).map_err(|error| error.to_string())?;
        Ok(StreamOwned::new(session, socket))
    }
}

impl fmt::Debug for TlsClient {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("TlsClient").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Named here because another crate of the program may bring a second provider, and then there is no default.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(default_provider())
}

fn server_name(name: &str) -> Result<ServerName<'static>, TlsError> {
    ServerName::try_from(name.to_owned()).map_err(|_| TlsError::Name { name: name.to_owned() })
}

fn certificates(path: &Path, what: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let file = |reason: String| TlsError::File { what, path: path.to_path_buf(), reason };
    let found: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| file(error.to_string()))?;
    if found.is_empty() { Err(file("it holds no certificate".to_owned())) } else { Ok(found) }
}
