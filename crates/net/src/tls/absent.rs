//! What stands for TLS in a build without the feature `tls`: types without values, and the error that names the feature.

use std::{
    io::{self, IoSlice, Read, Write},
    path::Path,
};

use super::error::TlsError;
use crate::{address::Address, stream::Socket};

/// What no value has: a type that holds one cannot be made.
#[derive(Clone, Copy, Debug)]
enum Never {}

/// The certificate and key that a listener shows. There is none in a build without the feature `tls`.
#[derive(Clone, Debug)]
pub struct TlsServer(Never);

impl TlsServer {
    /// Refuses the files: this build has no TLS.
    pub fn from_pem(chain: impl AsRef<Path>, _key: impl AsRef<Path>) -> Result<Self, TlsError> {
        Err(TlsError::NotBuilt { path: chain.as_ref().to_path_buf() })
    }

    pub(crate) fn accept(&self, _: Socket) -> Result<TlsStream, String> {
        match self.0 {}
    }
}

/// The authorities whose certificates a client believes. There are none in a build without the feature `tls`.
#[derive(Clone, Debug)]
pub struct TlsClient(Never);

impl TlsClient {
    /// Refuses the file: this build has no TLS.
    pub fn from_pem(authorities: impl AsRef<Path>) -> Result<Self, TlsError> {
        Err(TlsError::NotBuilt { path: authorities.as_ref().to_path_buf() })
    }

    /// Expects `name` in every server's certificate instead of its host: one certificate for the whole cluster.
    pub fn with_server_name(self, _name: &str) -> Result<Self, TlsError> {
        match self.0 {}
    }

    pub(crate) fn connect(&self, _: Socket, _: &Address) -> Result<TlsStream, String> {
        match self.0 {}
    }
}

/// An encrypted connection as bytes.
#[derive(Debug)]
pub(crate) struct TlsStream(Never);

impl TlsStream {
    pub(crate) fn socket(&self) -> &Socket {
        match self.0 {}
    }

    pub(crate) fn socket_mut(&mut self) -> &mut Socket {
        match self.0 {}
    }

    pub(crate) fn into_parts(self) -> (Socket, Session) {
        match self.0 {}
    }

    pub(crate) fn send_close_notify(&mut self) {
        match self.0 {}
    }
}

impl Read for TlsStream {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}

impl Write for TlsStream {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

/// The encryption of a connection whose socket is read and written at the same time.
#[derive(Debug)]
pub(crate) struct Session(Never);

impl Session {
    pub(crate) fn encrypt(&mut self, _: &[IoSlice<'_>]) -> io::Result<usize> {
        match self.0 {}
    }

    pub(crate) fn write_records(&mut self, _: &mut impl Write) -> io::Result<bool> {
        match self.0 {}
    }

    pub(crate) fn decrypt(&mut self, _raw: &mut &[u8], _into: &mut Vec<u8>) -> io::Result<bool> {
        match self.0 {}
    }

    pub(crate) fn send_close_notify(&mut self) {
        match self.0 {}
    }

    pub(crate) fn wants_write(&self) -> bool {
        match self.0 {}
    }
}

/// Whether the TLS layer does not accept the peer.
pub(crate) fn is_refusal(_: &io::Error) -> bool {
    false
}
