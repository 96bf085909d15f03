//! How a connection begins: prelude, TLS when configured, then the proof of both sides.
//!
//! Everything happens under one deadline, so that a peer which sends a byte now and then is closed like a silent one,
//! and with small messages only: no peer can make us allocate much before the proof.

use std::{
    io::{self, Read, Write},
    time::{Duration, Instant},
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    address::Address,
    dialer::Dialer,
    error::NetError,
    frame::{self, FrameError},
    hello::{
        ClientHello, ClientProof, Greeting, HANDSHAKE_MAX, MAGIC, Prelude, Refusal, ServerHello, VERSION,
        Verdict,
    },
    proof::{Said, Side},
    realm::Realm,
    secret::{Secret, random_bytes},
    secrets::Secrets,
    service::Service,
    stream::{Socket, Stream, is_timeout},
    tls::{self, TlsServer},
};

/// Why a server did not take a connection: what the peer was told, and what the log says.
#[derive(Debug)]
pub(crate) struct Rejected {
    pub(crate) told: Refusal,
    pub(crate) detail: String,
}

impl Rejected {
    fn new(told: Refusal, detail: impl Into<String>) -> Self {
        Self { told, detail: detail.into() }
    }
}

impl From<FrameError> for Rejected {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Io(error) => error.into(),
            FrameError::TooLong { .. } | FrameError::Malformed { .. } => {
                Self::new(Refusal::Malformed, error.to_string())
            }
        }
    }
}

impl From<io::Error> for Rejected {
    fn from(error: io::Error) -> Self {
        let detail =
            if is_timeout(&error) { "the handshake took too long".to_owned() } else { error.to_string() };
        Self::new(Refusal::Malformed, detail)
    }
}

/// The bytes with which a server refuses a connection that it does not look at.
pub(crate) fn refusal(why: Refusal) -> Vec<u8> {
    greeting(&Greeting::Refused(why))
}

fn greeting(greeting: &Greeting) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.push(VERSION);
    frame::put(&mut bytes, greeting);
    bytes
}

/// What a server asks of a client.
pub(crate) struct Door<'a> {
    pub(crate) tls: Option<&'a TlsServer>,
    pub(crate) secrets: &'a dyn Secrets,
    /// Whether there is such a service here.
    pub(crate) serves: &'a dyn Fn(Service) -> bool,
    pub(crate) timeout: Duration,
}

/// A client that has proved itself.
pub(crate) struct Guest {
    pub(crate) stream: Stream,
    pub(crate) service: Service,
    pub(crate) realm: Realm,
}

impl Door<'_> {
    /// The server's side: gives the stream, what the client wants and the realm that it proved to be of.
    pub(crate) fn accept(&self, socket: Socket) -> Result<Guest, Rejected> {
        let mut stream = Stream::plain(socket);
        stream.set_deadline(Instant::now() + self.timeout);
        let service = self.welcome(&mut stream).inspect_err(|rejected| {
            let _ = stream.write_all(&refusal(rejected.told));
            stream.finish();
        })?;
        let mut stream = match self.tls {
            Some(tls) => {
                stream.with_server_tls(tls).map_err(|reason| Rejected::new(Refusal::Malformed, reason))?
            }
            None => stream,
        };
        let realm = self.prove_to_client(&mut stream, service).inspect_err(|rejected| {
            let _ = send(&mut stream, &Verdict::Refused(rejected.told));
            stream.finish();
        })?;
        stream.clear_deadline()?;
        Ok(Guest { stream, service, realm })
    }

    /// Reads the client's prelude and welcomes it.
    fn welcome(&self, stream: &mut Stream) -> Result<Service, Rejected> {
        let mut prelude = [0; Prelude::LEN];
        stream.read_exact(&mut prelude)?;
        let Some(prelude) = Prelude::decode(prelude) else {
            return Err(Rejected::new(
                Refusal::Malformed,
                "the first bytes are not those of a peer; does something else connect to this port?",
            ));
        };
        if prelude.version != VERSION {
            let detail = format!("the peer speaks version {}, this process {VERSION}", prelude.version);
            return Err(Rejected::new(Refusal::Version, detail));
        }
        match (prelude.tls, self.tls.is_some()) {
            (false, true) => {
                return Err(Rejected::new(Refusal::TlsNeeded, "the peer has no TLS configured"));
            }
            (true, false) => {
                return Err(Rejected::new(Refusal::TlsUnknown, "the peer wants TLS, which has no key here"));
            }
            _ => {}
        }
        let Some(service) = Service::from_byte(prelude.service).filter(|service| (self.serves)(*service))
        else {
            let detail = format!("the peer wants service {}, which is not offered here", prelude.service);
            return Err(Rejected::new(Refusal::NoService, detail));
        };
        stream.write_all(&greeting(&Greeting::Welcome))?;
        Ok(service)
    }

    /// Lets the client prove itself, and only then proves this side.
    fn prove_to_client(&self, stream: &mut Stream, service: Service) -> Result<Realm, Rejected> {
        let hello: ClientHello = receive(stream)?;
        let nonce = random_bytes();
        send(stream, &ServerHello { nonce })?;
        let ClientProof { proof } = receive(stream)?;

        let realm = Realm::from(hello.realm.as_str());
        // A random secret stands in for an unknown realm: the answers do not tell the two apart.
        let known = self.secrets.secret(&realm);
        let secret = known.clone().unwrap_or_else(Secret::random);
        let said = |side| Said { side, service, realm: realm.as_str(), client: &hello.nonce, server: &nonce };
        let proved = said(Side::Client).is_proved_by(&secret, &proof);
        if known.is_none() {
            let detail = format!("{:?} is not served here", realm.as_str());
            return Err(Rejected::new(Refusal::NotAuthenticated, detail));
        }
        if !proved {
            let detail = format!("the peer does not know the secret of {realm}");
            return Err(Rejected::new(Refusal::NotAuthenticated, detail));
        }
        send(stream, &Verdict::Accepted { proof: said(Side::Server).prove(&secret) })?;
        Ok(realm)
    }
}

/// Who the client is and whom it wants.
pub(crate) struct Caller<'a> {
    pub(crate) to: &'a Address,
    pub(crate) service: Service,
    pub(crate) dialer: &'a Dialer,
}

impl Caller<'_> {
    /// The client's side: gives the stream to a server that proved itself.
    pub(crate) fn connect(&self, socket: Socket) -> Result<Stream, NetError> {
        let mut stream = Stream::plain(socket);
        stream.set_deadline(Instant::now() + self.dialer.handshake_timeout);
        let tls = self.dialer.tls.as_ref();
        let prelude = Prelude { version: VERSION, tls: tls.is_some(), service: self.service as u8 };
        // A server may refuse before it reads. Its refusal says more than our failure to write.
        let written = stream.write_all(&prelude.encode());
        match self.read_greeting(&mut stream)? {
            Greeting::Welcome => written.map_err(|error| self.broken(error))?,
            Greeting::Refused(why) => return Err(self.refused(why)),
        }
        let mut stream = match tls {
            Some(tls) => stream.with_client_tls(tls, self.to).map_err(|reason| self.untrusted(reason))?,
            None => stream,
        };
        self.prove_to_server(&mut stream)?;
        stream.clear_deadline().map_err(|error| self.broken(error))?;
        Ok(stream)
    }

    fn read_greeting(&self, stream: &mut Stream) -> Result<Greeting, NetError> {
        let mut prelude = [0; 5];
        stream.read_exact(&mut prelude).map_err(|error| self.broken(error))?;
        let [a, b, c, d, version] = prelude;
        if [a, b, c, d] != MAGIC {
            let reason = "its first bytes are not those of a peer; is the port right?".to_owned();
            return Err(NetError::Protocol { address: self.to.clone(), reason });
        }
        if version != VERSION {
            return Err(self.refused(Refusal::Version));
        }
        self.receive(stream)
    }

    fn prove_to_server(&self, stream: &mut Stream) -> Result<(), NetError> {
        let Dialer { realm, secret, .. } = self.dialer;
        let nonce = random_bytes();
        self.send(stream, &ClientHello { realm: realm.to_string(), nonce })?;
        let ServerHello { nonce: theirs } = self.receive(stream)?;
        let said = |side| Said {
            side,
            service: self.service,
            realm: realm.as_str(),
            client: &nonce,
            server: &theirs,
        };
        self.send(stream, &ClientProof { proof: said(Side::Client).prove(secret) })?;
        match self.receive(stream)? {
            Verdict::Refused(why) => Err(self.refused(why)),
            Verdict::Accepted { proof } if said(Side::Server).is_proved_by(secret, &proof) => Ok(()),
            Verdict::Accepted { .. } => {
                Err(self.untrusted(format!("it did not prove that it knows the secret of {realm}")))
            }
        }
    }

    fn send<T: Serialize>(&self, stream: &mut Stream, message: &T) -> Result<(), NetError> {
        send(stream, message).map_err(|error| self.broken(error))
    }

    fn receive<T: DeserializeOwned>(&self, stream: &mut Stream) -> Result<T, NetError> {
        receive(stream).map_err(|error| match error {
            FrameError::Io(error) => self.broken(error),
            other => NetError::of_frame(self.to, self.dialer.handshake_timeout, other),
        })
    }

    fn broken(&self, error: io::Error) -> NetError {
        // What the TLS layer does not accept will not be accepted the next time.
        if tls::is_refusal(&error) {
            return self.untrusted(error.to_string());
        }
        NetError::of_io(self.to, self.dialer.handshake_timeout, error)
    }

    fn refused(&self, why: Refusal) -> NetError {
        let address = self.to.clone();
        match why {
            Refusal::Busy => NetError::Busy { address },
            Refusal::Version
            | Refusal::TlsNeeded
            | Refusal::TlsUnknown
            | Refusal::NoService
            | Refusal::NotAuthenticated
            | Refusal::Malformed => NetError::Refused { address, reason: why.to_string() },
        }
    }

    fn untrusted(&self, reason: String) -> NetError {
        NetError::Untrusted { address: self.to.clone(), reason }
    }
}

fn send<T: Serialize>(stream: &mut Stream, message: &T) -> io::Result<()> {
    let mut bytes = Vec::new();
    frame::put(&mut bytes, message);
    stream.write_all(&bytes)?;
    stream.flush()
}

fn receive<T: DeserializeOwned>(stream: &mut Stream) -> Result<T, FrameError> {
    frame::take(stream, HANDSHAKE_MAX, &mut Vec::new())
}
