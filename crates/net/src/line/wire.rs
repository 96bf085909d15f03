//! The socket of a line, plain or encrypted, read and written at the same time: [`Wire`].

use std::{
    io::{self, IoSlice, Write},
    net::{Shutdown, TcpStream},
    sync::Arc,
};

use parking_lot::Mutex;
use rustix::{
    buffer::spare_capacity,
    io::Errno,
    net::{SendAncillaryBuffer, SendFlags, sendmsg},
};

use crate::tls::Session;

/// How much of an encrypted connection is read at a time: two records of the largest size.
const RAW_BYTES: usize = 33 << 10;

/// Writes without waiting and reads with waiting.
///
/// Under TLS both work on one session. It is locked while bytes are encrypted or decrypted and never while the socket
/// is waited for, so that a waiting reader does not block writers.
#[derive(Debug)]
pub(crate) struct Wire {
    tcp: Arc<TcpStream>,
    session: Option<Mutex<Session>>,
}

/// Encrypted bytes that the reader has taken from the socket: its own, so that it can wait for them without a lock.
#[derive(Debug, Default)]
pub(super) struct Raw {
    bytes: Vec<u8>,
    start: usize,
}

impl Wire {
    pub(super) fn new(tcp: Arc<TcpStream>, session: Option<Session>) -> Self {
        Self { tcp, session: session.map(Mutex::new) }
    }

    /// Takes some of the bytes, none when the socket takes nothing now.
    pub(super) fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match &self.session {
            None => none_when_full(AtOnce(&self.tcp).write_vectored(slices)),
            Some(session) => {
                let mut session = session.lock();
                // The session takes what it has room for, which is none when the socket has been full for long.
                let taken = session.encrypt(slices)?;
                session.write_records(&mut AtOnce(&self.tcp))?;
                Ok(taken)
            }
        }
    }

    /// Writes what was taken; false when the socket does not take all of it now.
    pub(super) fn flush(&self) -> io::Result<bool> {
        match &self.session {
            None => Ok(true),
            Some(session) => session.lock().write_records(&mut AtOnce(&self.tcp)),
        }
    }

    /// Tells the peer that nothing more comes.
    pub(super) fn finish(&self) {
        if let Some(session) = &self.session {
            let mut session = session.lock();
            session.send_close_notify();
            // The peer has our goodbye; this is only for those who watch TLS.
            let _ = session.write_records(&mut AtOnce(&self.tcp));
        }
        let _ = self.tcp.shutdown(Shutdown::Write);
    }

    /// Ends both directions and wakes the threads that wait for the socket.
    pub(super) fn shut(&self) {
        let _ = self.tcp.shutdown(Shutdown::Both);
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        &self.tcp
    }

    /// Waits for bytes and appends them to `into`, which has room; 0 at the end of the connection.
    pub(super) fn read(&self, raw: &mut Raw, into: &mut Vec<u8>) -> io::Result<usize> {
        let Some(session) = &self.session else { return receive(&self.tcp, into) };
        let before = into.len();
        loop {
            let mut left = &raw.bytes[raw.start..];
            let open = session.lock().decrypt(&mut left, into)?;
            raw.start = raw.bytes.len() - left.len();
            if into.len() > before {
                return Ok(into.len() - before);
            }
            raw.bytes.clear();
            raw.start = 0;
            raw.bytes.reserve_exact(RAW_BYTES);
            if !open || receive(&self.tcp, &mut raw.bytes)? == 0 {
                return Ok(0);
            }
        }
    }

    /// Whether reading gave the session something to say, such as an answer to a change of keys.
    pub(crate) fn wants_write(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.lock().wants_write())
    }
}

fn receive(tcp: &TcpStream, into: &mut Vec<u8>) -> io::Result<usize> {
    loop {
        match rustix::io::read(tcp, spare_capacity(into)) {
            Err(Errno::INTR) => {}
            read => return Ok(read?),
        }
    }
}

fn none_when_full(written: io::Result<usize>) -> io::Result<usize> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        written => written,
    }
}

/// A socket that is written to without waiting, though reads of it wait.
struct AtOnce<'a>(&'a TcpStream);

impl Write for AtOnce<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        loop {
            match sendmsg(self.0, slices, &mut SendAncillaryBuffer::default(), flags) {
                Err(Errno::INTR) => {}
                written => return Ok(written?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
