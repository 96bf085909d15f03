//! Server and client over real sockets, with faults.

mod faults;
mod handshake;
mod limits;
mod support;
mod tls;
mod transfers;
