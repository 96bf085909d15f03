//! Connections over real sockets, with faults.

mod handshake;
mod lines;
mod listener;
mod support;
mod tls;
