//! Encrypted connections: [`TlsStream`], read and written in turn, and [`Session`], which does not know its socket.

use std::io::{self, BufRead, IoSlice, Read, Write};

use rustls::{ClientConnection, Connection, ServerConnection, StreamOwned};

use crate::stream::Socket;

/// An encrypted connection as bytes.
#[derive(Debug)]
pub(crate) enum TlsStream {
    Server(Box<StreamOwned<ServerConnection, Socket>>),
    Client(Box<StreamOwned<ClientConnection, Socket>>),
}

impl TlsStream {
    pub(crate) fn socket(&self) -> &Socket {
        match self {
            Self::Server(tls) => &tls.sock,
            Self::Client(tls) => &tls.sock,
        }
    }

    pub(crate) fn socket_mut(&mut self) -> &mut Socket {
        match self {
            Self::Server(tls) => &mut tls.sock,
            Self::Client(tls) => &mut tls.sock,
        }
    }

    /// The socket, and the session with what it has read ahead.
    pub(crate) fn into_parts(self) -> (Socket, Session) {
        match self {
            Self::Server(tls) => {
                let (session, socket) = tls.into_parts();
                (socket, Session(session.into()))
            }
            Self::Client(tls) => {
                let (session, socket) = tls.into_parts();
                (socket, Session(session.into()))
            }
        }
    }

    pub(crate) fn send_close_notify(&mut self) {
        match self {
            Self::Server(tls) => tls.conn.send_close_notify(),
            Self::Client(tls) => tls.conn.send_close_notify(),
        }
    }
}

impl Read for TlsStream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Server(tls) => tls.read(buf),
            Self::Client(tls) => tls.read(buf),
        }
    }
}

impl Write for TlsStream {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Server(tls) => tls.write(buf),
            Self::Client(tls) => tls.write(buf),
        }
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Server(tls) => tls.write_vectored(slices),
            Self::Client(tls) => tls.write_vectored(slices),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Server(tls) => tls.flush(),
            Self::Client(tls) => tls.flush(),
        }
    }
}

/// The encryption of a connection whose socket is read and written at the same time.
#[derive(Debug)]
pub(crate) struct Session(Connection);

impl Session {
    /// Takes some of the bytes, which become records; none when it has no room for them.
    pub(crate) fn encrypt(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.writer().write_vectored(slices)
    }

    /// Writes the records that are ready; false when the socket does not take them all now.
    pub(crate) fn write_records(&mut self, to: &mut impl Write) -> io::Result<bool> {
        while self.0.wants_write() {
            match self.0.write_tls(to) {
                Ok(0) => return Ok(false),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Decrypts all of `raw` to the end of `into`; false when the peer has ended the session.
    pub(crate) fn decrypt(&mut self, raw: &mut &[u8], into: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            if !self.take_plain(into)? {
                return Ok(false);
            }
            if raw.is_empty() {
                return Ok(true);
            }
            self.0.read_tls(raw)?;
            let processed = self.0.process_new_packets();
            processed.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
    }

    pub(crate) fn send_close_notify(&mut self) {
        self.0.send_close_notify();
    }

    /// Whether there are records to write.
    pub(crate) fn wants_write(&self) -> bool {
        self.0.wants_write()
    }

    /// Moves what is decrypted to the end of `into`; false when nothing will follow.
    fn take_plain(&mut self, into: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let mut reader = self.0.reader();
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
}

/// Whether the TLS layer does not accept the peer.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>)
}
