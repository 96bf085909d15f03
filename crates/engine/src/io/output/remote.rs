//! An object on a remote store that appears as a whole: [`RemoteSink`].
//!
//! What fits in one part is put at commit, under the condition that the name is free. More goes up in parts, some at a
//! time, which become an object when the upload is completed.

use std::collections::VecDeque;
use std::io::{self, Write};

use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};

use super::file::Committed;
use crate::io::error::IoError;
use crate::io::runtime::{self, Pending};
use crate::io::stores::RemoteObject;

/// The size of a part. All but the last are the same, which some stores ask for; 10,000 of them are the most that S3
/// takes, so a file may have 160 GB.
const PART_BYTES: usize = 16 << 20;

/// How many parts are on their way at a time.
const PARTS_IN_FLIGHT: usize = 3;

/// Collects what is written, and uploads it in parts if it is much.
#[derive(Debug)]
pub(super) struct RemoteSink {
    object: RemoteObject,
    buffer: Vec<u8>,
    upload: Option<Box<dyn MultipartUpload>>,
    in_flight: VecDeque<Pending<object_store::Result<()>>>,
    bytes: u64,
    part_bytes: usize,
}

impl RemoteSink {
    pub(super) fn new(object: RemoteObject) -> Self {
        Self::with_part_bytes(object, PART_BYTES)
    }

    pub(super) fn with_part_bytes(object: RemoteObject, part_bytes: usize) -> Self {
        let in_flight = VecDeque::new();
        Self { object, buffer: Vec::new(), upload: None, in_flight, bytes: 0, part_bytes }
    }

    /// Lets the object appear.
    pub(super) fn commit(mut self) -> Result<Committed, IoError> {
        let is_new = if self.upload.is_none() { self.put()? } else { self.complete()? };
        Ok(if is_new { Committed::Written { bytes: self.bytes } } else { Committed::KeptEarlier })
    }

    /// Sends everything at once; returns whether the name was free.
    fn put(&mut self) -> Result<bool, IoError> {
        let RemoteObject { store, key, .. } = self.object.clone();
        let payload = PutPayload::from(std::mem::take(&mut self.buffer));
        let put = runtime::block_on(async move {
            let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
            match store.put_opts(&key, payload.clone(), options).await {
                Ok(_) => Ok(true),
                Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
                // A store without conditions: look first. Two attempts at the same moment replace one another.
                Err(object_store::Error::NotImplemented { .. }) => match store.head(&key).await {
                    Ok(_) => Ok(false),
                    Err(object_store::Error::NotFound { .. }) => store.put(&key, payload).await.map(|_| true),
                    Err(error) => Err(error),
                },
                Err(error) => Err(error),
            }
        })?;
        put.map_err(|error| self.failed(error))
    }

    /// Ends the upload; returns whether the name was free.
    fn complete(&mut self) -> Result<bool, IoError> {
        if !self.buffer.is_empty() {
            let part = std::mem::take(&mut self.buffer);
            self.send_part(part)?;
        }
        while let Some(part) = self.in_flight.pop_front() {
            part.wait()?.map_err(|error| self.failed(error))?;
        }
        let RemoteObject { store, key, .. } = self.object.clone();
        let exists = match runtime::block_on(async move { store.head(&key).await })? {
            Ok(_) => true,
            Err(object_store::Error::NotFound { .. }) => false,
            Err(error) => return Err(self.failed(error)),
        };
        if exists {
            return Ok(false);
        }
        let Some(mut upload) = self.upload.take() else { return Ok(false) };
        let (result, upload) = runtime::block_on(async move { (upload.complete().await, upload) })?;
        if let Err(error) = result {
            self.upload = Some(upload);
            return Err(self.failed(error));
        }
        Ok(true)
    }

    fn send_part(&mut self, part: Vec<u8>) -> Result<(), IoError> {
        let upload = match &mut self.upload {
            Some(upload) => upload,
            none => {
                let RemoteObject { store, key, .. } = self.object.clone();
                let upload = runtime::block_on(async move { store.put_multipart(&key).await })?;
                none.insert(upload.map_err(|error| IoError::write(&self.object.location, error))?)
            }
        };
        self.in_flight.push_back(runtime::spawn(upload.put_part(part.into()))?);
        if self.in_flight.len() > PARTS_IN_FLIGHT
            && let Some(oldest) = self.in_flight.pop_front()
        {
            oldest.wait()?.map_err(|error| self.failed(error))?;
        }
        Ok(())
    }

    fn failed(&self, error: object_store::Error) -> IoError {
        IoError::write(&self.object.location, error)
    }
}

impl Write for RemoteSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        self.bytes += bytes.len() as u64;
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
        let Some(mut upload) = self.upload.take() else { return };
        self.in_flight.clear();
        // The store would keep, and charge for, the parts of an upload that nobody ends.
        if let Ok(Err(error)) = runtime::block_on(async move { upload.abort().await }) {
            tracing::warn!(location = %self.object.location, %error, "could not give up an upload");
        }
    }
}
