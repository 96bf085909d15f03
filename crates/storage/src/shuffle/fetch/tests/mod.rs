//! The fetcher with a scripted transport, and over real sockets.

mod failures;
mod limits;
mod sockets;
mod support;
