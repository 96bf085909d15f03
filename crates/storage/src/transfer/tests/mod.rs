//! Server and client over real sockets, with faults.

mod faults;
mod limits;
mod support;
mod tls;
mod transfers;
