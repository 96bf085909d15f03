//! An upload to a remote store that becomes an object when the driver completes it: [`RemoteSink`].

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use object_store::MultipartId;
use object_store::multipart::{MultipartStore, PartId};

use super::runtime::{self, Pending};
use super::stores::RemoteObject;
use crate::error::IoError;
use crate::location::Location;
use crate::output::StagedContent;

/// The size of a part. All but the last are the same, which some stores ask for; 10,000 of them are the most that S3
/// takes, so a file may have 160 GB.
const PART_BYTES: usize = 16 << 20;

/// How many parts are on their way at a time.
const PARTS_IN_FLIGHT: usize = 3;

/// Uploads what is written, in parts, to an upload of its own.
pub(crate) struct RemoteSink {
    object: RemoteObject,
    store: Arc<dyn MultipartStore>,
    buffer: Vec<u8>,
    /// There from the first part on.
    upload: Option<Upload>,
    part_bytes: usize,
}

/// A multipart upload under way.
struct Upload {
    id: MultipartId,
    /// Parts that the store has, in order.
    parts: Vec<String>,
    /// Parts on their way, which follow them.
    in_flight: VecDeque<Pending<object_store::Result<PartId>>>,
}

impl RemoteSink {
    pub(crate) fn new(file: &Location) -> Result<Self, IoError> {
        Self::with_part_bytes(RemoteObject::at(file)?, PART_BYTES)
    }

    pub(crate) fn with_part_bytes(object: RemoteObject, part_bytes: usize) -> Result<Self, IoError> {
        let store = object.uploads()?;
        Ok(Self { object, store, buffer: Vec::new(), upload: None, part_bytes })
    }

    /// Sends the rest and leaves the upload to the driver.
    pub(crate) fn close(mut self) -> Result<StagedContent, IoError> {
        if !self.buffer.is_empty() {
            let part = std::mem::take(&mut self.buffer);
            self.send_part(part)?;
        }
        self.await_parts(0)?;
        // Taken only now: an upload that fails is given up by `drop`.
        Ok(match self.upload.take() {
            Some(Upload { id, parts, .. }) => StagedContent::Upload { id, parts },
            None => StagedContent::Empty,
        })
    }

    fn send_part(&mut self, part: Vec<u8>) -> Result<(), IoError> {
        let (store, key) = (Arc::clone(&self.store), self.object.key.clone());
        let upload = match &mut self.upload {
            Some(upload) => upload,
            none => {
                let (store, key) = (Arc::clone(&store), key.clone());
                let id = runtime::block_on(async move { store.create_multipart(&key).await })?;
                let id = id.map_err(|error| IoError::write(&self.object.location, error))?;
                none.insert(Upload { id, parts: Vec::new(), in_flight: VecDeque::new() })
            }
        };
        let (id, index) = (upload.id.clone(), upload.parts.len() + upload.in_flight.len());
        let request = async move { store.put_part(&key, &id, index, part.into()).await };
        upload.in_flight.push_back(runtime::spawn(request)?);
        self.await_parts(PARTS_IN_FLIGHT)
    }

    /// Waits until at most `most` parts are on their way.
    fn await_parts(&mut self, most: usize) -> Result<(), IoError> {
        let Some(upload) = &mut self.upload else { return Ok(()) };
        while upload.in_flight.len() > most
            && let Some(oldest) = upload.in_flight.pop_front()
        {
            let part = oldest.wait()?.map_err(|error| IoError::write(&self.object.location, error))?;
            upload.parts.push(part.content_id);
        }
        Ok(())
    }
}

impl Write for RemoteSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        while self.buffer.len() >= self.part_bytes {
            let rest = self.buffer.split_off(self.part_bytes);
            let part = std::mem::replace(&mut self.buffer, rest);
            self.send_part(part)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for RemoteSink {
    fn drop(&mut self) {
        let Some(Upload { id, in_flight, .. }) = self.upload.take() else { return };
        drop(in_flight);
        let (store, key) = (Arc::clone(&self.store), self.object.key.clone());
        // The store would keep, and charge for, the parts of an upload that is never ended.
        let aborted = runtime::block_on(async move { store.abort_multipart(&key, &id).await });
        if let Ok(Err(error)) = aborted {
            tracing::warn!(location = %self.object.location, %error, "could not give up an upload");
        }
    }
}

impl fmt::Debug for RemoteSink {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RemoteSink").field("object", &self.object).finish_non_exhaustive()
    }
}
