//! How a connection begins: prelude, TLS when configured, then the proof of both sides.
//!
//! Everything happens under one deadline, so that a peer which sends a byte now and then is closed like a silent one,
//! and with small messages only: nobody can make us take memory before the proof.

use std::{
    io::{self, Read, Write},
    sync::Arc,
    time::{Duration, Instant},
};

use firesteel_types::AppId;
use serde::{Serialize, de::DeserializeOwned};

use super::{
    address::Address,
    auth::{Said, Secret, Secrets, Side, random_bytes},
    error::TransferError,
    frame::{
        self, ClientHello, ClientProof, FrameError, Greeting, HANDSHAKE_MAX, Prelude, Refusal, ServerHello,
        VERSION, Verdict,
    },
    stream::{Socket, Stream, is_timeout},
    tls::{TlsClient, TlsServer},
};

/// Why a server did not take a connection: what the peer was told, and what the log says.
#[derive(Debug)]
pub(super) struct Rejected {
    pub(super) told: Refusal,
    pub(super) detail: String,
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
pub(super) fn refusal(why: Refusal) -> Vec<u8> {
    greeting(&Greeting::Refused(why))
}

fn greeting(greeting: &Greeting) -> Vec<u8> {
    let mut bytes = super::frame::MAGIC.to_vec();
    bytes.push(VERSION);
    frame::put(&mut bytes, greeting);
    bytes
}

/// The server's side: gives the stream and the application that the client proved to be of.
pub(super) fn accept(
    socket: Socket,
    tls: Option<&TlsServer>,
    secrets: &dyn Secrets,
    timeout: Duration,
) -> Result<(Stream, AppId), Rejected> {
    let mut stream = Stream::Plain(socket);
    stream.set_deadline(Instant::now() + timeout);
    if let Err(rejected) = welcome(&mut stream, tls.is_some()) {
        let _ = stream.write_all(&refusal(rejected.told));
        stream.finish();
        return Err(rejected);
    }
    let mut stream = match (stream, tls) {
        (Stream::Plain(socket), Some(tls)) => {
            let session =
                tls.accept(socket).map_err(|error| Rejected::new(Refusal::Malformed, error.to_string()))?;
            Stream::TlsServer(Box::new(session))
        }
        (stream, _) => stream,
    };
    match prove_to_client(&mut stream, secrets) {
        Ok(app) => {
            stream.clear_deadline()?;
            Ok((stream, app))
        }
        Err(rejected) => {
            let _ = send(&mut stream, &Verdict::Refused(rejected.told));
            stream.finish();
            Err(rejected)
        }
    }
}

/// Reads the client's prelude and welcomes it.
fn welcome(stream: &mut Stream, tls: bool) -> Result<(), Rejected> {
    let mut prelude = [0; Prelude::LEN];
    stream.read_exact(&mut prelude)?;
    let Some(prelude) = Prelude::decode(prelude) else {
        return Err(Rejected::new(
            Refusal::Malformed,
            "the first bytes are not those of a block client; does something else connect to this port?",
        ));
    };
    if prelude.version != VERSION {
        let detail = format!("the peer speaks version {}, this server {VERSION}", prelude.version);
        return Err(Rejected::new(Refusal::Version, detail));
    }
    match (prelude.tls, tls) {
        (false, true) => Err(Rejected::new(Refusal::TlsNeeded, "the peer has no TLS configured")),
        (true, false) => Err(Rejected::new(Refusal::TlsUnknown, "the peer wants TLS, which has no key here")),
        _ => Ok(stream.write_all(&greeting(&Greeting::Welcome))?),
    }
}

/// Lets the client prove itself, and only then proves this side.
fn prove_to_client(stream: &mut Stream, secrets: &dyn Secrets) -> Result<AppId, Rejected> {
    let hello: ClientHello = receive(stream)?;
    let nonce = random_bytes();
    send(stream, &ServerHello { nonce })?;
    let ClientProof { proof } = receive(stream)?;

    let app = AppId::from(hello.app.as_str());
    // A secret that nobody knows stands in for an unknown application: the answers do not tell the two apart.
    let known = secrets.secret(&app);
    let secret = known.clone().unwrap_or_else(Secret::random);
    let said = |side| Said { side, app: hello.app.as_str(), client: &hello.nonce, server: &nonce };
    let proved = secret.accepts(&said(Side::Client), &proof);
    if known.is_none() {
        let detail = format!("the application {app:?} is not served here");
        return Err(Rejected::new(Refusal::NotAuthenticated, detail));
    }
    if !proved {
        let detail = format!("the peer does not know the secret of {app}");
        return Err(Rejected::new(Refusal::NotAuthenticated, detail));
    }
    send(stream, &Verdict::Accepted { proof: secret.prove(&said(Side::Server)) })?;
    Ok(app)
}

/// Who the client is and whom it wants.
pub(super) struct Caller<'a> {
    pub(super) to: &'a Address,
    pub(super) app: &'a AppId,
    pub(super) secret: &'a Secret,
    pub(super) tls: Option<&'a TlsClient>,
    pub(super) timeout: Duration,
}

impl Caller<'_> {
    /// The client's side: gives the stream to a server that proved itself.
    pub(super) fn connect(&self, socket: Socket) -> Result<Stream, TransferError> {
        let mut stream = Stream::Plain(socket);
        stream.set_deadline(Instant::now() + self.timeout);
        let prelude = Prelude { version: VERSION, tls: self.tls.is_some() }.encode();
        // A server may refuse before it reads. Its refusal says more than our failure to write.
        let written = stream.write_all(&prelude);
        match self.read_greeting(&mut stream) {
            Ok(Greeting::Welcome) => written.map_err(|error| self.broken(error))?,
            Ok(Greeting::Refused(why)) => return Err(self.refused(why)),
            Err(error) => return Err(error),
        }
        let mut stream = match (stream, self.tls) {
            (Stream::Plain(socket), Some(tls)) => {
                let session = tls.connect(socket, self.to).map_err(|reason| self.untrusted(reason))?;
                Stream::TlsClient(Box::new(session))
            }
            (stream, _) => stream,
        };
        self.prove_to_server(&mut stream)?;
        stream.clear_deadline().map_err(|error| self.broken(error))?;
        Ok(stream)
    }

    fn read_greeting(&self, stream: &mut Stream) -> Result<Greeting, TransferError> {
        let mut prelude = [0; 5];
        stream.read_exact(&mut prelude).map_err(|error| self.broken(error))?;
        let [a, b, c, d, version] = prelude;
        if [a, b, c, d] != frame::MAGIC {
            let reason = "its first bytes are not those of a block server; is the port right?".to_owned();
            return Err(TransferError::Protocol { address: self.to.clone(), reason });
        }
        if version != VERSION {
            return Err(self.refused(Refusal::Version));
        }
        self.receive(stream)
    }

    fn prove_to_server(&self, stream: &mut Stream) -> Result<(), TransferError> {
        let nonce = random_bytes();
        self.send(stream, &ClientHello { app: self.app.to_string(), nonce })?;
        let ServerHello { nonce: theirs } = self.receive(stream)?;
        let said = |side| Said { side, app: self.app.as_str(), client: &nonce, server: &theirs };
        self.send(stream, &ClientProof { proof: self.secret.prove(&said(Side::Client)) })?;
        match self.receive(stream)? {
            Verdict::Refused(why) => Err(self.refused(why)),
            Verdict::Accepted { proof } if self.secret.accepts(&said(Side::Server), &proof) => Ok(()),
            Verdict::Accepted { .. } => {
                Err(self.untrusted(format!("it did not prove that it knows the secret of {}", self.app)))
            }
        }
    }

    fn send<T: Serialize>(&self, stream: &mut Stream, message: &T) -> Result<(), TransferError> {
        send(stream, message).map_err(|error| self.broken(error))
    }

    fn receive<T: DeserializeOwned>(&self, stream: &mut Stream) -> Result<T, TransferError> {
        receive(stream).map_err(|error| match error {
            FrameError::Io(error) => self.broken(error),
            other => TransferError::of_frame(self.to, self.timeout, other),
        })
    }

    fn broken(&self, error: io::Error) -> TransferError {
        // What the TLS layer does not accept will not be accepted the next time.
        if error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>) {
            return self.untrusted(error.to_string());
        }
        TransferError::of_io(self.to, self.timeout, error)
    }

    fn refused(&self, why: Refusal) -> TransferError {
        let address = self.to.clone();
        match why {
            Refusal::Busy => TransferError::Busy { address },
            Refusal::Version
            | Refusal::TlsNeeded
            | Refusal::TlsUnknown
            | Refusal::NotAuthenticated
            | Refusal::Malformed => TransferError::Refused { address, reason: why.to_string() },
        }
    }

    fn untrusted(&self, reason: String) -> TransferError {
        TransferError::Untrusted { address: self.to.clone(), reason }
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

/// Opens a TCP connection to the first address of the host that answers.
pub(super) fn dial(to: &Address, timeout: Duration) -> Result<Arc<std::net::TcpStream>, TransferError> {
    use std::net::{TcpStream, ToSocketAddrs};
    let failed = |error| TransferError::Connect { address: to.clone(), source: Arc::new(error) };
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for addr in (to.host.as_str(), to.port).to_socket_addrs().map_err(failed)? {
        match TcpStream::connect_timeout(&addr, timeout) {
            Ok(tcp) => return Ok(Arc::new(tcp)),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}
