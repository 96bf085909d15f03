//! One connection of the client to one server: [`Link`].

use std::{
    collections::VecDeque,
    io::{self, BufRead, BufReader, Write},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use firesteel_net::{Address, NetError, Service, Stream, frame};
use firesteel_types::{ExecutorId, StorageLevel};

use super::{
    client::ClientConf,
    error::TransferError,
    frame::{ANSWER_MAX, Answer, IDS_MAX, Request},
    outgoing::Outgoing,
    payload::Payload,
    sink::{Destination, Incoming, Sink},
};
use crate::block::BlockId;

/// What is read ahead with a header: many small blocks, but only a small part of a large one, which is copied for it.
const READ_AHEAD_BYTES: usize = 16 << 10;

/// A piece of a block on its way to a writer.
const COPY_BYTES: usize = 256 << 10;

/// A connection that both sides have proved.
///
/// After an error other than [`Failed`](TransferError::Failed), which is the server's answer, the two sides no longer
/// agree on what comes next: the link must be dropped.
#[derive(Debug)]
pub(super) struct Link {
    address: Address,
    reader: BufReader<Stream>,
    out: Outgoing,
    scratch: Vec<u8>,
    read_timeout: Duration,
}

impl Link {
    pub(super) fn open(to: &Address, conf: &ClientConf) -> Result<Self, TransferError> {
        let mut stream = conf.dialer.stream(to, Service::Blocks)?;
        stream
            .set_read_timeout(conf.read_timeout)
            .and_then(|()| stream.set_write_timeout(conf.write_timeout))
            .map_err(|error| NetError::of_io(to, conf.read_timeout, error))?;
        Ok(Self {
            address: to.clone(),
            reader: BufReader::with_capacity(READ_AHEAD_BYTES, stream),
            out: Outgoing::default(),
            scratch: Vec::new(),
            read_timeout: conf.read_timeout,
        })
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Whether the idle link is still connected and in step.
    pub(super) fn is_usable(&mut self) -> bool {
        self.reader.buffer().is_empty() && self.reader.get_mut().is_quiet()
    }

    /// Fetches the blocks `left` of an executor from the front, each of which leaves the list when it is delivered.
    pub(super) fn fetch(
        &mut self,
        of: ExecutorId,
        left: &mut VecDeque<BlockId>,
        sink: &mut dyn Sink,
    ) -> Result<(), TransferError> {
        while !left.is_empty() {
            let ids: Vec<_> = left.iter().take(IDS_MAX).copied().collect();
            let asked = ids.len();
            self.ask(&Request::Fetch { of, ids })?;
            for _ in 0..asked {
                if !sink.is_wanted() {
                    return Err(TransferError::Cancelled);
                }
                self.receive_block(left, sink)?;
            }
        }
        Ok(())
    }

    pub(super) fn receive_block(
        &mut self,
        left: &mut VecDeque<BlockId>,
        sink: &mut dyn Sink,
    ) -> Result<(), TransferError> {
        let id = *left.front().expect("one answer is read for each block that is left");
        let address = self.address.clone();
        let result = match self.answer()? {
            Answer::Found { len } => match self.receive_payload(&id, len, sink) {
                Err(TransferError::Local { id, source }) => {
                    // The rest of the payload is not read: this link is of no use any more.
                    left.pop_front();
                    sink.deliver(id, Err(TransferError::Local { id, source: source.clone() }));
                    return Err(TransferError::Local { id, source });
                }
                incoming => Ok(incoming?),
            },
            Answer::Missing { reason } => Err(TransferError::Missing { address, id, reason }),
            Answer::Failed { reason } => Err(TransferError::Failed { address, id, reason }),
            other @ (Answer::Ready | Answer::Stored) => return Err(self.nonsense(&other)),
        };
        left.pop_front();
        sink.deliver(id, result);
        Ok(())
    }

    fn receive_payload(
        &mut self,
        id: &BlockId,
        len: u64,
        sink: &mut dyn Sink,
    ) -> Result<Incoming, TransferError> {
        let local = |error| TransferError::Local { id: *id, source: Arc::new(error) };
        match sink.place(id, len).map_err(local)? {
            Destination::Memory => {
                let mut bytes = Vec::new();
                let room = usize::try_from(len).ok().and_then(|len| bytes.try_reserve_exact(len).ok());
                if room.is_none() {
                    return Err(local(io::ErrorKind::OutOfMemory.into()));
                }
                self.fill(&mut bytes, len as usize).map_err(|error| self.broken(error))?;
                Ok(Incoming::Bytes(Bytes::from(bytes)))
            }
            Destination::Writer(mut writer) => {
                let mut piece = Vec::new();
                let mut left = len;
                while left > 0 {
                    piece.clear();
                    let want = usize::try_from(left).map_or(COPY_BYTES, |left| left.min(COPY_BYTES));
                    piece.reserve_exact(want);
                    self.fill(&mut piece, want).map_err(|error| self.broken(error))?;
                    writer.write_all(&piece).map_err(local)?;
                    left -= want as u64;
                }
                writer.flush().map_err(local)?;
                Ok(Incoming::Written { len })
            }
        }
    }

    /// Reads `want` bytes to the end of `into`: first what is buffered, the rest straight from the connection.
    fn fill(&mut self, into: &mut Vec<u8>, want: usize) -> io::Result<()> {
        let end = into.len() + want;
        let buffered = self.reader.buffer();
        let taken = buffered.len().min(want);
        into.extend_from_slice(&buffered[..taken]);
        self.reader.consume(taken);
        while into.len() < end {
            let missing = end - into.len();
            if self.reader.get_mut().read_spare(into, missing)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    /// Sends one block and waits until the server has stored it.
    pub(super) fn upload(
        &mut self,
        of: ExecutorId,
        id: BlockId,
        level: StorageLevel,
        payload: &Payload,
    ) -> Result<(), TransferError> {
        let failed =
            |address: &Address, reason| TransferError::Failed { address: address.clone(), id, reason };
        let payload =
            payload.prepare().map_err(|error| TransferError::Local { id, source: Arc::new(error) })?;
        self.ask(&Request::Upload { of, id, level, len: payload.len() })?;
        match self.answer()? {
            Answer::Ready => {}
            Answer::Failed { reason } => return Err(failed(&self.address, reason)),
            other => return Err(self.nonsense(&other)),
        }
        let stream = self.reader.get_mut();
        self.out
            .payload(stream, &payload)
            .and_then(|()| self.out.flush(stream))
            .map_err(|error| self.broken(error))?;
        match self.answer()? {
            Answer::Stored => Ok(()),
            Answer::Failed { reason } => Err(failed(&self.address, reason)),
            other => Err(self.nonsense(&other)),
        }
    }

    pub(super) fn ask(&mut self, request: &Request) -> Result<(), TransferError> {
        let mut header = Vec::new();
        frame::put(&mut header, request);
        let stream = self.reader.get_mut();
        stream.write_all(&header).and_then(|()| stream.flush()).map_err(|error| self.broken(error))
    }

    pub(super) fn answer(&mut self) -> Result<Answer, TransferError> {
        frame::take(&mut self.reader, ANSWER_MAX, &mut self.scratch)
            .map_err(|error| NetError::of_frame(&self.address, self.read_timeout, error).into())
    }

    fn broken(&self, error: io::Error) -> TransferError {
        NetError::of_io(&self.address, self.read_timeout, error).into()
    }

    fn nonsense(&self, answer: &Answer) -> TransferError {
        let reason = format!("{answer:?} is no answer to what was asked");
        NetError::Protocol { address: self.address.clone(), reason }.into()
    }
}

#[cfg(test)]
impl Link {
    /// Sends bytes that may be no request at all.
    pub(super) fn write_raw(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).unwrap();
    }
}
