//! Reading an object of a remote store as a stream: [`RemoteReader`].
//!
//! The object is fetched in windows of some MiB, one ahead of the reader, so that a slow reader holds no connection
//! open and a fast one does not wait. A web server that gives no ranges sends the whole file as one stream instead.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;

use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt};

use super::http;
use super::runtime::{self, Pending};
use super::stores::RemoteObject;
use crate::error::IoError;
use crate::location::Location;

/// How much is fetched by one request.
const WINDOW_BYTES: u64 = 8 << 20;

/// How much is fetched beyond the part that the caller is sure to want.
const BEYOND_BYTES: u64 = 64 << 10;

/// How much of a stream is handed over at a time.
const STREAM_BYTES: usize = 1 << 20;

/// The bytes of an object from some place on.
///
/// Its errors are [`IoError`]s inside of [`io::Error`]s.
pub(super) struct RemoteReader {
    object: RemoteObject,
    current: Bytes,
    /// Where the byte behind `current` stands.
    offset: u64,
    soft_end: u64,
    /// The tag and the size of the version that is read, so that no window comes from another one.
    tag: Option<String>,
    size: Option<u64>,
    fetch: Fetch,
}

/// Opens a file of a remote store from byte `start` on; what lies before `soft_end` is wanted for sure.
pub(crate) fn open(file: &Location, start: u64, soft_end: u64) -> Result<Box<dyn Read + Send>, IoError> {
    Ok(Box::new(RemoteReader::open(RemoteObject::at(file)?, start, soft_end)?))
}

/// What comes after the current bytes.
enum Fetch {
    /// Nothing was asked for yet.
    Idle,
    Window(Pending<Result<Window, object_store::Error>>),
    Stream(Pending<StreamStep>),
    End,
}

/// Part of an object, and how large the whole is.
struct Window {
    bytes: Bytes,
    /// Which part it is, by the server's word.
    range: Range<u64>,
    size: u64,
    tag: Option<String>,
}

struct StreamStep {
    bytes: Result<Bytes, object_store::Error>,
    rest: BoxStream<'static, Result<Bytes, object_store::Error>>,
}

impl RemoteReader {
    /// Asks for the object from byte `start` on; that it exists is known when this returns.
    pub(super) fn open(object: RemoteObject, start: u64, soft_end: u64) -> Result<Self, IoError> {
        let current = Bytes::new();
        let fetch = Fetch::Idle;
        let mut reader = Self { object, current, offset: start, soft_end, tag: None, size: None, fetch };
        reader.advance()?;
        Ok(reader)
    }

    /// Replaces the current bytes, which are used up, by the next ones; none are left at the end.
    fn advance(&mut self) -> Result<(), IoError> {
        match std::mem::replace(&mut self.fetch, Fetch::End) {
            Fetch::End => Ok(()),
            Fetch::Idle => {
                let pending = self.request()?;
                self.take_window(pending)
            }
            Fetch::Window(pending) => self.take_window(pending),
            Fetch::Stream(pending) => self.take_step(pending),
        }
    }

    fn take_window(&mut self, pending: Pending<Result<Window, object_store::Error>>) -> Result<(), IoError> {
        let window = match pending.wait()? {
            Ok(window) => window,
            Err(error) if self.object.location.is_http() && http::is_whole_only(&error) => {
                return self.start_stream();
            }
            Err(error) => return self.end_or(error),
        };
        let (sent, promised) = (window.bytes.len() as u64, window.range.end - window.range.start);
        if window.range.start != self.offset || sent != promised || sent == 0 {
            let reason = format!("{sent} bytes instead of the {promised} from byte {} on", self.offset);
            return Err(self.bad_answer(reason));
        }
        self.check_size(window.size)?;
        self.offset += window.bytes.len() as u64;
        self.current = window.bytes;
        // A weak tag does not promise the same bytes, and no server takes it as a condition.
        self.tag = window.tag.filter(|tag| !tag.starts_with("W/"));
        if self.offset < window.size {
            self.fetch =
                if self.offset < self.soft_end { Fetch::Window(self.request()?) } else { Fetch::Idle };
        }
        Ok(())
    }

    /// Asks for the next window.
    fn request(&self) -> Result<Pending<Result<Window, object_store::Error>>, IoError> {
        let RemoteObject { store, key, .. } = self.object.clone();
        let wanted = self.soft_end.max(self.offset).saturating_add(BEYOND_BYTES);
        let range: Range<u64> = self.offset..wanted.min(self.offset.saturating_add(WINDOW_BYTES));
        let options = GetOptions {
            range: Some(GetRange::Bounded(range)),
            if_match: self.tag.clone(),
            ..GetOptions::default()
        };
        runtime::spawn(async move {
            let answer = store.get_opts(&key, options).await?;
            let (size, tag, range) = (answer.meta.size, answer.meta.e_tag.clone(), answer.range.clone());
            Ok(Window { bytes: answer.bytes().await?, range, size, tag })
        })
    }

    /// Makes sure that all windows come from an object of one size: not every store has tags.
    fn check_size(&mut self, size: u64) -> Result<(), IoError> {
        match self.size.replace(size) {
            Some(before) if before != size => {
                Err(self
                    .bad_answer(format!("its size changed from {before} to {size} bytes while it was read")))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn bad_answer(&self, reason: String) -> IoError {
        IoError::BadAnswer { location: self.object.location.to_string(), reason }
    }

    /// A range behind the end of an object is an error to every store; to a reader it is the end.
    fn end_or(&self, error: object_store::Error) -> Result<(), IoError> {
        let RemoteObject { store, key, location } = self.object.clone();
        if matches!(error, object_store::Error::NotFound { .. }) {
            return Err(IoError::missing(&location));
        }
        if !location.is_http()
            && let Ok(meta) = runtime::block_on(async move { store.head(&key).await })?
            && meta.size <= self.offset
        {
            return Ok(());
        }
        Err(http::read_error(&location, self.offset, error))
    }

    /// Asks for the whole object and passes over what lies before the wanted byte.
    fn start_stream(&mut self) -> Result<(), IoError> {
        let RemoteObject { store, key, location } = self.object.clone();
        let options = GetOptions { if_match: self.tag.clone(), ..GetOptions::default() };
        let answer = match runtime::block_on(async move { store.get_opts(&key, options).await })? {
            Ok(answer) => answer,
            Err(object_store::Error::NotFound { .. }) => return Err(IoError::missing(&location)),
            Err(error) => return Err(http::read_error(&location, self.offset, error)),
        };
        self.check_size(answer.meta.size)?;
        let stream = answer.into_stream();
        let mut skip = self.offset;
        self.offset = 0;
        self.fetch = Fetch::Stream(next_step(stream)?);
        while skip > 0 {
            self.advance()?;
            if self.current.is_empty() {
                return Ok(());
            }
            let step = skip.min(self.current.len() as u64);
            self.current.advance(step as usize);
            skip -= step;
        }
        if self.current.is_empty() { self.advance() } else { Ok(()) }
    }

    fn take_step(&mut self, pending: Pending<StreamStep>) -> Result<(), IoError> {
        let StreamStep { bytes, rest } = pending.wait()?;
        self.current = bytes.map_err(|error| http::read_error(&self.object.location, self.offset, error))?;
        self.offset += self.current.len() as u64;
        if !self.current.is_empty() {
            self.fetch = Fetch::Stream(next_step(rest)?);
        }
        Ok(())
    }
}

impl Read for RemoteReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.current.is_empty() {
            self.advance()?;
        }
        let read = out.len().min(self.current.len());
        self.current.copy_to_slice(&mut out[..read]);
        Ok(read)
    }
}

impl fmt::Debug for RemoteReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RemoteReader")
            .field("location", &self.object.location)
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}

/// Collects the next bytes of a stream; none at its end.
fn next_step(
    mut stream: BoxStream<'static, Result<Bytes, object_store::Error>>,
) -> Result<Pending<StreamStep>, IoError> {
    runtime::spawn(async move {
        let mut collected = Vec::new();
        while collected.len() < STREAM_BYTES {
            match stream.next().await {
                Some(Ok(bytes)) => collected.extend_from_slice(&bytes),
                Some(Err(error)) => return StreamStep { bytes: Err(error), rest: stream },
                None => break,
            }
        }
        StreamStep { bytes: Ok(collected.into()), rest: stream }
    })
}
