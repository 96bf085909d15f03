//! The service of artifacts, one connection at a time: [`serve`].

use std::{
    fs::File,
    io::{self, Read, Write},
    sync::Arc,
    time::Duration,
};

use firesteel_net::{
    Realm, Stream,
    frame::{self, FrameError},
    is_timeout,
};
use firesteel_scheduler::deploy::ContentHash;

use super::message::{Answer, MAX_FRAME, Request};

/// How long a client may send no request, or receive none of what is sent.
const IDLE_TIMEOUT: Duration = Duration::from_mins(2);

/// Content by hash, behind a server. Called from many threads at once.
pub trait Shelf: Send + Sync {
    /// The file with this content, and its length.
    fn open(&self, sha256: &ContentHash) -> Option<(Arc<File>, u64)>;

    /// Whether `len` bytes of this content are wanted; false when they are there, and a reason when they may not come.
    fn may_store(&self, sha256: &ContentHash, len: u64) -> Result<bool, String> {
        let _ = (sha256, len);
        Err("nothing is taken here".to_owned())
    }

    /// Keeps content that was wanted. `body` gives at least `len` bytes or an error.
    fn store(&self, sha256: &ContentHash, len: u64, body: &mut dyn Read) -> Result<(), String> {
        let _ = (sha256, len, body);
        Err("nothing is taken here".to_owned())
    }
}

/// Gives what a listener does with connections for [`Service::Artifacts`](firesteel_net::Service::Artifacts).
///
/// ```
/// use std::sync::Arc;
/// use firesteel_deploy::artifact::{Offer, serve};
/// use firesteel_net::{Service, Services};
///
/// let services = Services::new().streams(Service::Artifacts, serve(Arc::new(Offer::default())));
/// assert_eq!(format!("{services:?}"), "{Artifacts}");
/// ```
pub fn serve(shelf: Arc<dyn Shelf>) -> impl Fn(Stream, Realm) + Send + Sync + 'static {
    move |stream, realm| {
        let peer = stream.peer();
        match (Session { stream, shelf: &*shelf }).run() {
            Ok(()) => tracing::debug!(%peer, %realm, "a connection for artifacts ended"),
            Err(error) => tracing::warn!(%peer, %realm, %error, "a connection for artifacts broke"),
        }
    }
}

struct Session<'a> {
    stream: Stream,
    shelf: &'a dyn Shelf,
}

impl Session<'_> {
    fn run(mut self) -> Result<(), FrameError> {
        self.stream.set_read_timeout(IDLE_TIMEOUT)?;
        self.stream.set_write_timeout(IDLE_TIMEOUT)?;
        let mut scratch = Vec::new();
        loop {
            match frame::take(&mut self.stream, MAX_FRAME, &mut scratch) {
                Ok(Request::Get { sha256 }) => self.give(&sha256)?,
                Ok(Request::Put { sha256, len }) => self.keep(&sha256, len)?,
                Err(FrameError::Io(error)) if is_end(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn give(&mut self, sha256: &ContentHash) -> Result<(), FrameError> {
        match self.shelf.open(sha256) {
            Some((file, len)) => {
                self.say(&Answer::Content { len })?;
                self.stream.send_file(&file, 0, len)?;
                Ok(())
            }
            None => self.say(&Answer::Refused { reason: "it is not here".to_owned() }),
        }
    }

    fn keep(&mut self, sha256: &ContentHash, len: u64) -> Result<(), FrameError> {
        match self.shelf.may_store(sha256, len) {
            Ok(false) => self.say(&Answer::Stored),
            Ok(true) => {
                self.say(&Answer::Send)?;
                let mut body = Read::by_ref(&mut self.stream).take(len);
                let stored = self.shelf.store(sha256, len, &mut body);
                // The client reads our answer only when it has sent everything.
                io::copy(&mut body, &mut io::sink())?;
                match stored {
                    Ok(()) => self.say(&Answer::Stored),
                    Err(reason) => self.say(&Answer::Refused { reason }),
                }
            }
            Err(reason) => self.say(&Answer::Refused { reason }),
        }
    }

    fn say(&mut self, answer: &Answer) -> Result<(), FrameError> {
        let mut bytes = Vec::new();
        frame::put(&mut bytes, answer);
        self.stream.write_all(&bytes)?;
        Ok(self.stream.flush()?)
    }
}

/// Whether the client has left, or had nothing to ask for long.
fn is_end(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof || is_timeout(error)
}
