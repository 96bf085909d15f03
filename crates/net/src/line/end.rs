//! The sending end of a line: [`Line`].

use std::{cell::Cell, fmt, io, marker::PhantomData, net::SocketAddr, sync::Arc, time::Duration};

use serde::Serialize;

use super::{closed::SendError, conf::LineConf, core::Core, inbox::MESSAGE_MAX, reader::Reader};
use crate::{
    frame::{self, PutError},
    stream::Stream,
};

/// The memory for encoding that a thread keeps.
const SCRATCH_MAX: usize = 64 << 10;

thread_local! {
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Sends messages to the peer of a connection.
///
/// Clones are the same line; when the last one is dropped the line closes, as by [`Self::close`].
pub struct Line<Out> {
    held: Arc<Held>,
    out: PhantomData<fn(&Out)>,
}

/// Closes the line when the last sender is dropped.
struct Held(Arc<Core>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<Out> Line<Out> {
    /// Makes a line of a connection. Nothing is read until the reader runs.
    pub(crate) fn open(stream: Stream, conf: &LineConf) -> io::Result<(Self, Reader)> {
        let core = Core::new(stream, conf)?;
        let line = Self { held: Arc::new(Held(core.clone())), out: PhantomData };
        Ok((line, Reader::new(core)))
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.held.0
    }

    /// A number that no other line of this process has.
    pub fn id(&self) -> u64 {
        self.core().id()
    }

    /// The socket's address at the other end.
    pub fn peer(&self) -> SocketAddr {
        self.core().peer()
    }

    /// Whether nothing can be sent any more. The handler may not have heard of it yet.
    pub fn is_closed(&self) -> bool {
        !self.core().is_open()
    }

    /// Closes the line after everything that was sent. Does not wait; no more messages are delivered.
    ///
    /// The peer's handler gets what was sent and hears [`Closed::ByPeer`](super::Closed::ByPeer). When the peer has
    /// read all, or after the time that the configuration allows, the handler here hears
    /// [`Closed::ByUs`](super::Closed::ByUs).
    pub fn close(&self) {
        self.core().close();
    }

    /// Waits until the handler has heard that the line ended; false when that takes longer than `timeout`.
    ///
    /// For those who must not leave before what they sent has arrived: `close`, then this. Not for the handler itself.
    pub fn wait_closed(&self, timeout: Duration) -> bool {
        self.core().wait_ended(timeout)
    }
}

impl<Out: Serialize> Line<Out> {
    /// Sends a message. Never waits: what the socket does not take at once is written by a thread of the line.
    ///
    /// Messages arrive in the order of the calls. That one was sent does not mean that it arrives: the line may break.
    pub fn send(&self, message: &Out) -> Result<(), SendError> {
        self.send_many([message])
    }

    /// Sends messages with one write; all of them, or none when one cannot be sent.
    pub fn send_many<'a>(&self, messages: impl IntoIterator<Item = &'a Out>) -> Result<(), SendError>
    where
        Out: 'a,
    {
        let max = self.core().conf().max_message.min(MESSAGE_MAX);
        let mut frames = SCRATCH.take();
        frames.clear();
        let encoded = messages.into_iter().try_for_each(|message| frame::try_put(&mut frames, message, max));
        let sent = match encoded {
            Ok(()) => self.core().send(&mut frames),
            Err(PutError::TooLong { len, .. }) => Err(SendError::TooLarge { bytes: len, max }),
            Err(PutError::NotSerializable(error)) => {
                Err(SendError::NotSerializable { reason: error.to_string() })
            }
        };
        if frames.capacity() <= SCRATCH_MAX {
            SCRATCH.set(frames);
        }
        sent
    }
}

impl<Out> Clone for Line<Out> {
    fn clone(&self) -> Self {
        Self { held: self.held.clone(), out: PhantomData }
    }
}

impl<Out> fmt::Debug for Line<Out> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Line").field("id", &self.id()).field("peer", &self.peer()).finish_non_exhaustive()
    }
}
