//! Connections over real sockets, with faults.

mod handshake;
mod support;
mod tls;
