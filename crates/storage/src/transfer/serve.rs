//! One connection of the server, from the proof to its end, and where its blocks come from: [`BlockSource`].

use std::{
    io::{self, BufRead, BufReader, Read},
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use firesteel_types::{AppId, StorageLevel};

use super::{
    frame::{self, Answer, FrameError, Request},
    outgoing::Outgoing,
    payload::Payload,
    server::ServerConf,
    stream::{Stream, is_timeout},
};
use crate::block::BlockId;

/// The blocks behind a server.
///
/// Called from many threads at once. The application is the one whose secret the client knows: a source that serves
/// several must not give the blocks of one to another. A panic costs the block, not the server.
pub trait BlockSource: Send + Sync {
    /// Gives a block's bytes, or the reason why there is no such block, which the client gets to read.
    fn open(&self, app: &AppId, id: &BlockId) -> Result<Payload, String>;

    /// Stores a block that a client uploads, `len` bytes read from `body`.
    ///
    /// A `body` that breaks off gives an error and never an early end, so what was read to the end is complete. The
    /// same block may come again when the client did not learn of the first success.
    fn store(
        &self,
        app: &AppId,
        id: &BlockId,
        level: StorageLevel,
        len: u64,
        body: &mut dyn Read,
    ) -> Result<(), String>;
}

/// A client that proved itself.
pub(super) struct Session<'a> {
    reader: BufReader<Stream>,
    out: Outgoing,
    scratch: Vec<u8>,
    app: AppId,
    source: &'a dyn BlockSource,
    conf: &'a ServerConf,
}

impl<'a> Session<'a> {
    pub(super) fn new(stream: Stream, app: AppId, source: &'a dyn BlockSource, conf: &'a ServerConf) -> Self {
        let (reader, out) = (BufReader::new(stream), Outgoing::default());
        Self { reader, out, scratch: Vec::new(), app, source, conf }
    }

    /// Answers requests in their order until the client leaves or is silent for too long.
    pub(super) fn run(&mut self) -> Result<(), FrameError> {
        while self.wait_for_request()? {
            // From its first byte on a request may not take for ever.
            self.reader.get_mut().set_deadline(Instant::now() + self.conf.read_timeout);
            let request = frame::take(&mut self.reader, self.conf.max_message, &mut self.scratch)?;
            self.reader.get_mut().clear_deadline()?;
            match request {
                Request::Fetch { ids } => ids.iter().try_for_each(|id| self.send_block(id))?,
                Request::Upload { id, level, len } => self.take_block(&id, level, len)?,
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

    fn send_block(&mut self, id: &BlockId) -> Result<(), FrameError> {
        let payload = match guarded(|| self.source.open(&self.app, id)) {
            Ok(Ok(payload)) => payload,
            Ok(Err(reason)) => return self.answer(&Answer::Missing { reason: frame::short(reason) }),
            Err(panic) => return self.answer(&Answer::Failed { reason: panic }),
        };
        let payload = match payload.prepare() {
            Ok(payload) => payload,
            Err(error) => {
                tracing::error!(block = %id, %error, "cannot serve a block");
                return self.answer(&Answer::Failed { reason: frame::short(error.to_string()) });
            }
        };
        self.answer(&Answer::Found { len: payload.len() })?;
        Ok(self.out.payload(self.reader.get_mut(), &payload)?)
    }

    fn take_block(&mut self, id: &BlockId, level: StorageLevel, len: u64) -> Result<(), FrameError> {
        if len > self.conf.max_upload {
            let reason = format!("it has {len} bytes, and {} are allowed", self.conf.max_upload);
            return self.answer(&Answer::Failed { reason });
        }
        self.answer(&Answer::Ready)?;
        self.out.flush(self.reader.get_mut())?;

        self.reader.get_mut().set_read_timeout(self.conf.read_timeout)?;
        let mut body = Body { reader: &mut self.reader, left: len };
        let stored = guarded(|| self.source.store(&self.app, id, level, len, &mut body));
        // What the source left unread stands before the next request.
        io::copy(&mut body, &mut io::sink())?;
        self.reader.get_mut().set_read_timeout(self.conf.idle_timeout)?;
        match stored {
            Ok(Ok(())) => self.answer(&Answer::Stored),
            Ok(Err(reason)) | Err(reason) => self.answer(&Answer::Failed { reason: frame::short(reason) }),
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
        frame::short(format!("the block server panicked: {text}"))
    })
}
