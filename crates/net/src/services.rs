//! What is done with accepted connections: [`Services`].

use std::{fmt, net::SocketAddr};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    connections::Slot,
    handshake::Guest,
    line::{Closed, Handler, Line, LineConf},
    realm::Realm,
    service::Service,
    stream::Stream,
};

/// What is done with an accepted connection, by service. Others are refused, with the reason.
///
/// The example of the crate shows lines. A service of streams gets the bytes to itself:
///
/// ```
/// use std::{io::{Read, Write}, sync::Arc};
///
/// use firesteel_net::*;
///
/// let secrets = Arc::new(OneSecret { realm: Realm::cluster(), secret: Secret::public() });
/// let services = Services::new().streams(Service::Artifacts, |mut stream, realm| {
///     // The peer may have gone: there is no one to report to.
///     let _ = write!(stream, "hello {realm}");
/// });
/// let listener = Listener::bind("127.0.0.1", 0, 0, ListenerConf::new(secrets), services)?;
///
/// let dialer = Dialer::new(Realm::cluster(), Secret::public());
/// let to = Address::from(listener.address());
/// let mut text = String::new();
/// dialer.stream(&to, Service::Artifacts)?.read_to_string(&mut text)?;
/// assert_eq!(text, "hello cluster");
///
/// let refused = dialer.stream(&to, Service::Blocks).unwrap_err();
/// assert!(refused.to_string().contains("does not offer this service"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Services {
    list: Vec<(Service, Box<Serve>)>,
}

type Serve = dyn Fn(Guest, &Slot) + Send + Sync;

/// A line that a listener accepted.
#[derive(Debug)]
pub struct Accepted<Out> {
    /// The line. It closes when this, and whatever was cloned from it, is dropped.
    pub line: Line<Out>,
    /// The realm whose secret the peer knows.
    pub realm: Realm,
    /// The socket's address at the other end.
    pub peer: SocketAddr,
}

impl Services {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Serves lines. `accept` is called for each new one, on its own thread, and gives its handler; none closes it.
    #[must_use]
    pub fn lines<Out: Serialize + 'static, In: DeserializeOwned + Send + 'static>(
        self,
        service: Service,
        conf: LineConf,
        accept: impl Fn(Accepted<Out>) -> Option<Box<dyn Handler<In>>> + Send + Sync + 'static,
    ) -> Self {
        self.with(service, move |guest, slot| {
            let (realm, peer) = (guest.realm, guest.stream.peer());
            let (line, reader) = match Line::open(guest.stream, &conf) {
                Ok(opened) => opened,
                Err(error) => return tracing::debug!(%peer, %realm, %error, "a line broke at once"),
            };
            slot.hold(reader.core());
            match accept(Accepted { line, realm, peer }) {
                Some(handler) => reader.run(handler),
                None => {
                    reader.core().close();
                    reader.run::<In>(Refused);
                }
            }
        })
    }

    /// Serves streams. `serve` is called for each new connection, on its own thread; its end is that of the connection.
    #[must_use]
    pub fn streams(self, service: Service, serve: impl Fn(Stream, Realm) + Send + Sync + 'static) -> Self {
        self.with(service, move |guest, _| serve(guest.stream, guest.realm))
    }

    fn with(mut self, service: Service, serve: impl Fn(Guest, &Slot) + Send + Sync + 'static) -> Self {
        self.list.retain(|(other, _)| *other != service);
        self.list.push((service, Box::new(serve)));
        self
    }

    pub(crate) fn find(&self, service: Service) -> Option<&Serve> {
        self.list.iter().find(|(other, _)| *other == service).map(|(_, serve)| &**serve)
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.list.iter().map(|(service, _)| service)).finish()
    }
}

/// Waits for the end of a line that no service takes.
struct Refused;

impl<In> Handler<In> for Refused {
    fn messages(&mut self, _: &mut Vec<In>) {}

    fn closed(&mut self, _: Closed) {}
}
