//! Makes connections: [`Dialer`].

use std::{io, net::TcpStream, sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    address::Address,
    error::NetError,
    handshake::Caller,
    line::{Handler, Line, LineConf},
    realm::Realm,
    secret::Secret,
    service::Service,
    stream::{Socket, Stream},
    tls::TlsClient,
};

/// Makes connections in the name of a realm.
///
/// Every call makes one attempt; who tries again, and when, is the caller's business.
#[derive(Clone, Debug)]
pub struct Dialer {
    /// The realm whose secret both ends must know.
    pub realm: Realm,
    /// The secret.
    pub secret: Secret,
    /// The authorities; none for connections in clear. A dialer with TLS never talks in clear.
    pub tls: Option<TlsClient>,
    /// How long a listener may take to accept a connection, for each address that its host has.
    pub connect_timeout: Duration,
    /// How long the proof of both sides may take.
    pub handshake_timeout: Duration,
}

impl Dialer {
    /// The usual patience, without TLS.
    pub fn new(realm: impl Into<Realm>, secret: Secret) -> Self {
        Self {
            realm: realm.into(),
            secret,
            tls: None,
            connect_timeout: Duration::from_secs(30),
            handshake_timeout: Duration::from_secs(30),
        }
    }

    /// Makes a connection for bytes, without time-outs yet.
    pub fn stream(&self, to: &Address, service: Service) -> Result<Stream, NetError> {
        let tcp = self.dial(to)?;
        let socket = Socket::new(tcp).map_err(|error| NetError::of_io(to, self.connect_timeout, error))?;
        Caller { to, service, dialer: self }.connect(socket)
    }

    /// Makes a connection for messages. What arrives goes to `handler`, on a thread of the line.
    ///
    /// The example of the crate shows it.
    pub fn line<Out: Serialize, In: DeserializeOwned + Send + 'static>(
        &self,
        to: &Address,
        service: Service,
        conf: &LineConf,
        handler: impl Handler<In>,
    ) -> Result<Line<Out>, NetError> {
        self.line_with(to, service, conf, |_| handler)
    }

    /// The same for a handler that answers: it is made from the line.
    ///
    /// A handler that keeps the line keeps it open, until it is closed by name or by the peer.
    pub fn line_with<Out: Serialize, In: DeserializeOwned + Send + 'static, H: Handler<In>>(
        &self,
        to: &Address,
        service: Service,
        conf: &LineConf,
        handler: impl FnOnce(&Line<Out>) -> H,
    ) -> Result<Line<Out>, NetError> {
        let stream = self.stream(to, service)?;
        let broken = |error| NetError::of_io(to, self.handshake_timeout, error);
        let (line, reader) = Line::open(stream, conf).map_err(broken)?;
        let handler = handler(&line);
        reader.spawn(handler).map_err(broken)?;
        Ok(line)
    }

    /// Opens a TCP connection to the first address of the host that answers.
    fn dial(&self, to: &Address) -> Result<Arc<TcpStream>, NetError> {
        use std::net::ToSocketAddrs;
        let failed = |error| NetError::Connect { address: to.clone(), source: Arc::new(error) };
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for addr in (to.host.as_str(), to.port).to_socket_addrs().map_err(failed)? {
            match TcpStream::connect_timeout(&addr, self.connect_timeout) {
                Ok(tcp) => return Ok(Arc::new(tcp)),
                Err(error) => last = error,
            }
        }
        Err(failed(last))
    }
}
