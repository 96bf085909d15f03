//! The server and the client that move blocks between processes.
//!
//! [`BlockServer`] answers requests for blocks from a [`BlockSource`]; [`BlockClient`] fetches and uploads blocks,
//! over connections that it keeps and tries again when one breaks. A peer names a block by its id and never a file:
//! no path travels in this protocol. Threads and blocking sockets only, one thread per connection on the server.
//!
//! Every connection proves both ends with the secret of its application (see the notes on [`Secret`]) and is
//! encrypted when TLS is configured. Without TLS the bytes that follow the proof are neither encrypted nor protected
//! against someone who can change packets; the checksums inside the blocks find accidents, not attacks.
//!
//! What the blocks mean, where they are kept and how they are compressed is not known here.

mod address;
mod auth;
mod client;
mod error;
mod frame;
mod handshake;
mod link;
mod outgoing;
mod payload;
mod pool;
mod retry;
mod serve;
mod server;
mod sink;
mod stream;
mod tls;

#[cfg(test)]
mod tests;

pub use address::{Address, PeerAddr};
pub use auth::{OneSecret, Secret, Secrets, WeakSecret};
pub use client::{BlockClient, ClientConf};
pub use error::TransferError;
pub use frame::{MAGIC, VERSION};
pub use payload::{Payload, PayloadReader};
pub use retry::{Pause, Retry, ThreadPause};
pub use serve::BlockSource;
pub use server::{BlockServer, ServerConf};
pub use sink::{Destination, Incoming, Sink};
pub use tls::{TlsClient, TlsError, TlsServer};
