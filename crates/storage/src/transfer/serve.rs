//! The service of blocks, connection by connection: [`serve_blocks`], and where the blocks come from: [`BlockSource`].

use std::{
    io::{self, BufRead, BufReader, Read},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use firesteel_net::{
    Realm, Stream,
    frame::{self, FrameError},
    is_timeout,
};
use firesteel_types::{AppId, ExecutorId, StorageLevel};

use super::{
    frame::{Answer, Request, short},
    outgoing::Outgoing,
    payload::Payload,
};
use crate::block::BlockId;

/// The blocks behind a server.
///
/// Called from many threads at once. The application is the one whose secret the client knows: a source that serves
/// several must not give the blocks of one to another. The executor is the one that made the blocks, or is to keep them,
/// as the client believes: a worker serves the files of all that it started, and an executor must refuse what was meant
/// for another one that had its port before. A panic costs the block, not the server.
pub trait BlockSource: Send + Sync {
    /// Gives a block's bytes, or the reason why there is no such block, which the client gets to read.
    fn open(&self, app: &AppId, of: ExecutorId, id: &BlockId) -> Result<Payload, String>;

    /// Stores a block that a client uploads, `len` bytes read from `body`.
    ///
    /// A `body` that breaks off gives an error and never an early end, so what was read to the end is complete. The
    /// same block may come again when the client did not learn of the first success.
    fn store(
        &self,
        app: &AppId,
        of: ExecutorId,
        id: &BlockId,
        level: StorageLevel,
        len: u64,
        body: &mut dyn Read,
    ) -> Result<(), String>;
}

/// How much one client may ask for, and how slow it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    /// The longest request, in bytes, without the payload of an upload.
    pub max_message: usize,
    /// The largest block that may be uploaded.
    pub max_upload: u64,
    /// How long a client may have nothing to ask before its connection is closed.
    pub idle_timeout: Duration,
    /// How long the header of a request may take, and how long an upload may stall.
    pub read_timeout: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub write_timeout: Duration,
}

impl Default for BlockLimits {
    fn default() -> Self {
        Self {
            max_message: 128 << 10,
            max_upload: 8 << 30,
            idle_timeout: Duration::from_secs(600),
            read_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(120),
        }
    }
}

/// Serves the blocks of a source: what a listener does for [`Service::Blocks`](firesteel_net::Service::Blocks).
///
/// ```
/// use std::{io::Read, sync::Arc};
///
/// use firesteel_net::*;
/// use firesteel_storage::{block::BlockId, transfer::*};
/// use firesteel_types::{AppId, AttemptId, ExecutorId, StorageLevel};
///
/// struct Greeting;
///
/// impl BlockSource for Greeting {
///     fn open(&self, _: &AppId, of: ExecutorId, id: &BlockId) -> Result<Payload, String> {
///         match id {
///             BlockId::TaskResult(_) if of == ExecutorId(3) => Ok(Payload::from("hello")),
///             other => Err(format!("no {other} of {of} here")),
///         }
///     }
///     fn store(
///         &self, _: &AppId, _: ExecutorId, _: &BlockId, _: StorageLevel, _: u64, _: &mut dyn Read,
///     ) -> Result<(), String> {
///         Err("takes no uploads".to_owned())
///     }
/// }
///
/// let (realm, secret) = (Realm::from("app-1"), Secret::random());
/// let secrets = Arc::new(OneSecret { realm: realm.clone(), secret: secret.clone() });
/// let blocks = serve_blocks(Arc::new(Greeting), BlockLimits::default());
/// let services = Services::new().streams(Service::Blocks, blocks);
/// let listener = Listener::bind("127.0.0.1", 0, 0, ListenerConf::new(secrets), services)?;
///
/// let client = BlockClient::new(ClientConf::new(Dialer::new(realm, secret)));
/// let peer = PeerAddr::new(ExecutorId(3), "127.0.0.1", listener.address().port());
/// let mut got = Vec::new();
/// client.fetch_bytes(&peer, &[BlockId::TaskResult(AttemptId(1))], 1 << 20, &mut |_, block| {
///     got.push(block.expect("the block is served"));
/// });
/// assert_eq!(got, ["hello"]);
///
/// listener.stop();
/// assert_eq!(listener.connections(), 0);
/// # Ok::<(), NetError>(())
/// ```
pub fn serve_blocks(
    source: Arc<dyn BlockSource>,
    limits: BlockLimits,
) -> impl Fn(Stream, Realm) + Send + Sync + 'static {
    move |stream, realm| {
        let peer = stream.peer();
        let Some(app) = realm.app() else {
            return tracing::warn!(%peer, %realm, "closed a connection: blocks belong to applications");
        };
        match Session::new(stream, app, &*source, &limits).run() {
            Ok(()) => tracing::debug!(%peer, %realm, "connection ended"),
            Err(FrameError::Io(error)) if is_timeout(&error) => {
                tracing::warn!(%peer, %realm, "closed a connection: the peer was too slow");
            }
            Err(FrameError::Io(error)) => tracing::debug!(%peer, %realm, %error, "connection broke"),
            Err(error) => tracing::warn!(%peer, %realm, %error, "closed a connection"),
        }
    }
}

/// A client that proved itself.
struct Session<'a> {
    reader: BufReader<Stream>,
    out: Outgoing,
    scratch: Vec<u8>,
    app: AppId,
    source: &'a dyn BlockSource,
    limits: &'a BlockLimits,
}

impl<'a> Session<'a> {
    fn new(stream: Stream, app: AppId, source: &'a dyn BlockSource, limits: &'a BlockLimits) -> Self {
        let (reader, out) = (BufReader::new(stream), Outgoing::default());
        Self { reader, out, scratch: Vec::new(), app, source, limits }
    }

    /// Answers requests in their order until the client leaves or is silent for too long.
    fn run(&mut self) -> Result<(), FrameError> {
        let stream = self.reader.get_mut();
        stream.set_read_timeout(self.limits.idle_timeout)?;
        stream.set_write_timeout(self.limits.write_timeout)?;
        while self.wait_for_request()? {
            // From its first byte on a request may not take for ever.
            self.reader.get_mut().set_deadline(Instant::now() + self.limits.read_timeout);
            let request = frame::take(&mut self.reader, self.limits.max_message, &mut self.scratch)?;
            self.reader.get_mut().clear_deadline()?;
            match request {
                Request::Fetch { of, ids } => ids.iter().try_for_each(|id| self.send_block(of, id))?,
                Request::Upload { of, id, level, len } => self.take_block(of, &id, level, len)?,
            }
            self.out.flush(self.reader.get_mut())?;
        }
        Ok(())
    }

    /// False when the client left or had nothing to ask for a long time.
    fn wait_for_request(&mut self) -> Result<bool, FrameError> {
        if !self.reader.buffer().is_empty() {
            return Ok(true);
        }
        loop {
            match self.reader.fill_buf() {
                Ok(bytes) => return Ok(!bytes.is_empty()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn send_block(&mut self, of: ExecutorId, id: &BlockId) -> Result<(), FrameError> {
        let payload = match guarded(|| self.source.open(&self.app, of, id)) {
            Ok(Ok(payload)) => payload,
            Ok(Err(reason)) => return self.answer(&Answer::Missing { reason: short(reason) }),
            Err(panic) => return self.answer(&Answer::Failed { reason: panic }),
        };
        let payload = match payload.prepare() {
            Ok(payload) => payload,
            Err(error) => {
                tracing::error!(block = %id, %error, "cannot serve a block");
                return self.answer(&Answer::Failed { reason: short(error.to_string()) });
            }
        };
        self.answer(&Answer::Found { len: payload.len() })?;
        Ok(self.out.payload(self.reader.get_mut(), &payload)?)
    }

    fn take_block(
        &mut self,
        of: ExecutorId,
        id: &BlockId,
        level: StorageLevel,
        len: u64,
    ) -> Result<(), FrameError> {
        if len > self.limits.max_upload {
            let reason = format!("it has {len} bytes, and {} are allowed", self.limits.max_upload);
            return self.answer(&Answer::Failed { reason });
        }
        self.answer(&Answer::Ready)?;
        self.out.flush(self.reader.get_mut())?;

        self.reader.get_mut().set_read_timeout(self.limits.read_timeout)?;
        let mut body = Body { reader: &mut self.reader, left: len };
        let stored = guarded(|| self.source.store(&self.app, of, id, level, len, &mut body));
        // What the source left unread stands before the next request.
        io::copy(&mut body, &mut io::sink())?;
        self.reader.get_mut().set_read_timeout(self.limits.idle_timeout)?;
        match stored {
            Ok(Ok(())) => self.answer(&Answer::Stored),
            Ok(Err(reason)) | Err(reason) => self.answer(&Answer::Failed { reason: short(reason) }),
        }
    }

    fn answer(&mut self, answer: &Answer) -> Result<(), FrameError> {
        let mut header = Vec::new();
        frame::put(&mut header, answer);
        Ok(self.out.push(self.reader.get_mut(), header.into())?)
    }
}

/// The bytes of one upload.
struct Body<'a> {
    reader: &'a mut BufReader<Stream>,
    left: u64,
}

impl Read for Body<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).map_or(buf.len(), |left| left.min(buf.len()));
        if most == 0 {
            return Ok(0);
        }
        let read = self.reader.read(&mut buf[..most])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read as u64;
        Ok(read)
    }
}

fn guarded<T>(source: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(source)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        tracing::error!(text, "the source of a block server panicked");
        short(format!("the block server panicked: {text}"))
    })
}
