//! The service and the client that move blocks between processes.
//!
//! [`serve_blocks`] answers requests for blocks from a [`BlockSource`], as a service of a
//! [`Listener`](firesteel_net::Listener); [`BlockClient`] fetches and uploads blocks, over connections that it keeps and
//! tries again when one breaks. A peer names a block by its id and by the executor that made it, and never a file: no
//! path travels in this protocol.
//!
//! Who may connect, and whether the connection is encrypted, is the business of `firesteel-net`. Without TLS the bytes
//! are not protected against an attacker who can change packets; the checksums inside the blocks find accidents, not
//! attacks. What the blocks mean, where they are kept and how they are compressed is not known here.

mod client;
mod error;
mod frame;
mod link;
mod outgoing;
mod payload;
mod peer;
mod pool;
mod retry;
mod serve;
mod sink;

#[cfg(test)]
mod tests;

pub use client::{BlockClient, ClientConf};
pub use error::TransferError;
pub use payload::{Payload, PayloadReader};
pub use peer::PeerAddr;
pub use retry::{Pause, Retry, ThreadPause};
pub use serve::{BlockLimits, BlockSource, serve_blocks};
pub use sink::{Destination, Incoming, Sink};
