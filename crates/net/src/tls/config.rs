//! Certificates and authorities, read from PEM files: [`TlsServer`] and [`TlsClient`].

use std::{fmt, path::Path, sync::Arc};

use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    crypto::{CryptoProvider, ring::default_provider},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};

use super::{error::TlsError, session::TlsStream};
use crate::{address::Address, stream::Socket};

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
        let unusable = |source: rustls::Error| TlsError::Unusable {
            what: "the certificate chain and its key",
            path: chain.to_path_buf(),
            source: source.into(),
        };
        let config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(certificates, private)
            .map_err(unusable)?;
        Ok(Self(Arc::new(config)))
    }

    pub(crate) fn accept(&self, socket: Socket) -> Result<TlsStream, String> {
        let session = ServerConnection::new(self.0.clone()).map_err(|error| error.to_string())?;
        Ok(TlsStream::Server(Box::new(StreamOwned::new(session, socket))))
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
        let unusable = |source: rustls::Error| TlsError::Unusable {
            what: "the authorities",
            path: path.to_path_buf(),
            source: source.into(),
        };
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

    pub(crate) fn connect(&self, socket: Socket, to: &Address) -> Result<TlsStream, String> {
        let name = match &self.name {
            Some(name) => name.clone(),
            None => server_name(to.host.as_str()).map_err(|error| error.to_string())?,
        };
        let session = ClientConnection::new(self.config.clone(), name).map_err(|error| error.to_string())?;
        Ok(TlsStream::Client(Box::new(StreamOwned::new(session, socket))))
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
