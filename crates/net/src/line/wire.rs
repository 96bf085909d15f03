//! The socket of a line, plain or encrypted, read and written at the same time: [`Wire`].

use std::{
    io::{self, BufRead, IoSlice, Write},
    net::{Shutdown, TcpStream},
    sync::Arc,
};

use parking_lot::Mutex;
use rustix::{
    buffer::spare_capacity,
    io::Errno,
    net::{SendAncillaryBuffer, SendFlags, sendmsg},
};
use rustls::Connection;

/// How much of an encrypted connection is read at a time: two records of the largest size.
const RAW_BYTES: usize = 33 << 10;

/// Writes without waiting and reads with waiting.
///
/// Under TLS both work on one session. It is locked while bytes are encrypted or decrypted and never while the socket
/// is waited for, so that a reader that waits keeps nobody from writing.
#[derive(Debug)]
pub(super) struct Wire {
    tcp: Arc<TcpStream>,
    session: Option<Mutex<Connection>>,
}

/// Encrypted bytes that the reader has taken from the socket: its own, so that it can wait for them without a lock.
#[derive(Debug, Default)]
pub(super) struct Raw {
    bytes: Vec<u8>,
    start: usize,
}

impl Wire {
    pub(super) fn new(tcp: Arc<TcpStream>, session: Option<Connection>) -> Self {
        Self { tcp, session: session.map(Mutex::new) }
    }

    /// Takes some of the bytes, none when the socket takes nothing now.
    pub(super) fn write(&self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match &self.session {
            None => none_when_full(AtOnce(&self.tcp).write_vectored(slices)),
            Some(session) => {
                let mut session = session.lock();
                // The session takes what it has room for, which is none when the socket has been full for long.
                let taken = session.writer().write_vectored(slices)?;
                write_records(&mut session, &self.tcp)?;
                Ok(taken)
            }
        }
    }

    /// Writes what was taken; false when the socket does not take all of it now.
    pub(super) fn flush(&self) -> io::Result<bool> {
        match &self.session {
            None => Ok(true),
            Some(session) => write_records(&mut session.lock(), &self.tcp),
        }
    }

    /// Tells the peer that nothing more comes.
    pub(super) fn finish(&self) {
        if let Some(session) = &self.session {
            let mut session = session.lock();
            session.send_close_notify();
            // The peer has our goodbye; this is only for those who watch TLS.
            let _ = write_records(&mut session, &self.tcp);
        }
        let _ = self.tcp.shutdown(Shutdown::Write);
    }

    /// Ends both directions and wakes whoever waits for the socket.
    pub(super) fn shut(&self) {
        let _ = self.tcp.shutdown(Shutdown::Both);
    }

    pub(super) fn socket(&self) -> &TcpStream {
        &self.tcp
    }

    /// Waits for bytes and appends them to `into`, which has room; 0 at the end of the connection.
    pub(super) fn read(&self, raw: &mut Raw, into: &mut Vec<u8>) -> io::Result<usize> {
        let Some(session) = &self.session else { return receive(&self.tcp, into) };
        let before = into.len();
        loop {
            let open = decrypt(&mut session.lock(), raw, into)?;
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
    pub(super) fn wants_write(&self) -> bool {
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

/// Decrypts all of `raw` to the end of `into`; false when the peer has ended the session.
fn decrypt(session: &mut Connection, raw: &mut Raw, into: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        if !take_plain(session, into)? {
            return Ok(false);
        }
        let mut left = &raw.bytes[raw.start..];
        if left.is_empty() {
            return Ok(true);
        }
        let taken = session.read_tls(&mut left)?;
        raw.start += taken;
        session.process_new_packets().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    }
}

/// Moves what is decrypted to the end of `into`; false when nothing will follow.
fn take_plain(session: &mut Connection, into: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        let mut reader = session.reader();
        match reader.fill_buf() {
            Ok([]) => return Ok(false),
            Ok(plain) => {
                let len = plain.len();
                into.extend_from_slice(plain);
                reader.consume(len);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) => return Err(error),
        }
    }
}

/// Writes the records that are ready; false when the socket does not take them all now.
fn write_records(session: &mut Connection, tcp: &TcpStream) -> io::Result<bool> {
    while session.wants_write() {
        if none_when_full(session.write_tls(&mut AtOnce(tcp)))? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
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
