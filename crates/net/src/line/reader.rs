//! The thread that reads a line: [`Reader`].

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use serde::de::DeserializeOwned;

use super::{
    closed::Closed,
    core::Core,
    handler::Handler,
    inbox::{Frame, Inbox, MESSAGE_MAX, TooLong},
    wire::Raw,
};
use crate::notice::notice;
use crate::{
    frame::{FrameError, decode},
    stream::is_timeout,
};

/// Room for what the types of a user do while they are deserialized.
pub(crate) const STACK_BYTES: usize = 2 << 20;

/// The receiving end of a line, to be run on a thread of its own.
///
/// Dropped without that, it ends the line.
pub(crate) struct Reader {
    core: Arc<Core>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.core.end(Closed::ByUs);
        self.core.set_ended();
    }
}

impl Reader {
    pub(super) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// Starts a thread that reads until the line ends.
    pub(crate) fn spawn<In: DeserializeOwned + Send + 'static>(
        self,
        handler: impl Handler<In>,
    ) -> io::Result<()> {
        let thread = thread::Builder::new().name("line-read".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(move || self.run(handler)).map(|_| ())
    }

    /// Reads on this thread until the line ends, and tells the handler why it did.
    pub(crate) fn run<In: DeserializeOwned>(self, mut handler: impl Handler<In>) {
        let found = catch_unwind(AssertUnwindSafe(|| self.read_all(&mut handler)));
        let found = found.unwrap_or_else(|_| Closed::Broken(io::Error::other("its handler panicked")));
        let why = self.core.end(found);
        let (line, peer) = (self.core.id(), self.core.peer());
        match why {
            Closed::Malformed { .. } | Closed::TooLarge { .. } => {
                notice(|| tracing::warn!(line, %peer, %why, "cut off a peer"));
            }
            _ => tracing::debug!(line, %peer, %why, "line ended"),
        }
        let told = catch_unwind(AssertUnwindSafe(|| {
            handler.closed(why);
            drop(handler);
        }));
        if told.is_err() {
            notice(|| tracing::error!(line = self.core.id(), "the handler of a line panicked at its end"));
        }
    }

    fn read_all<In: DeserializeOwned>(&self, handler: &mut impl Handler<In>) -> Closed {
        let core = &self.core;
        let (mut inbox, mut raw) = (Inbox::new(core.conf().max_message.min(MESSAGE_MAX)), Raw::default());
        let mut messages = Vec::new();
        loop {
            match core.wire().read(&mut raw, inbox.room()) {
                Ok(0) => return Closed::Broken(ended_without_goodbye()),
                Ok(_) => {}
                Err(error) if is_timeout(&error) => {
                    return Closed::Silent { silence: core.conf().silence.unwrap_or_default() };
                }
                Err(error) => return Closed::Broken(error),
            }
            if core.wire().wants_write() {
                core.nudge();
            }
            let ended = decode_all(&mut inbox, &mut messages);
            if !messages.is_empty() && core.is_open() {
                handler.messages(&mut messages);
            }
            messages.clear();
            if let Err(why) = ended {
                return why;
            }
        }
    }
}

fn decode_all<In: DeserializeOwned>(inbox: &mut Inbox, messages: &mut Vec<In>) -> Result<(), Closed> {
    let max = inbox.max_message();
    let too_large = |TooLong { len }| Closed::TooLarge { bytes: len, max };
    while let Some(frame) = inbox.next().map_err(too_large)? {
        match frame {
            Frame::Ping => {}
            Frame::Goodbye => return Err(Closed::ByPeer),
            Frame::Message(body) => {
                messages.push(decode(body).map_err(|error| malformed(body.len(), &error))?)
            }
        }
    }
    Ok(())
}

fn malformed(len: usize, error: &FrameError) -> Closed {
    Closed::Malformed { len, reason: error.to_string() }
}

fn ended_without_goodbye() -> io::Error {
    let text = "the connection ended without a goodbye; did the peer's process die?";
    io::Error::new(io::ErrorKind::UnexpectedEof, text)
}
