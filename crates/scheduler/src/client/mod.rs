//! The application's side of the standalone cluster: how a driver finds a master and keeps it.
//!
//! [`Client`] is a pure machine: messages of masters and requests of the driver come in as [`ClientEvent`]s, messages
//! to send and reports to the driver go out as [`ClientEffect`]s. It opens no connection, calls nothing back and reads
//! no clock.
//!
//! ```text
//!        Started            registered             connection lost
//!  Idle ─────────▶ Registering ─────▶ Connected ─────────────────▶ Disconnected
//!                      │                  │  ◀──── MasterChanged ──────┘ │
//!                      │ 3 tries          │ ApplicationRemoved           │
//!                      └──────────────▶ Ended ◀───────────────────────────┘   (also by a stop)
//! ```
//!
//! The decisions are Spark's (`StandaloneAppClient`). Where this machine differs on purpose:
//!
//! - A master that recovers does not look for its applications. The client comes back by itself and sends its id, so a
//!   driver need not accept connections of masters.
//! - An application that the master has given up hears so when it comes back, and is dead. Spark's would wait for
//!   executors for ever.
//! - After a new master has taken over, the client asks again for the executors it wants: masters do not store that.
//! - An application that two masters have taken in leaves the second one.

mod config;
mod effect;
mod event;
mod machine;
mod message;

#[cfg(test)]
mod tests;

pub use config::{ClientConfig, ClientConfigError};
pub use effect::{ClientEffect, ClientIgnored};
pub use event::{ClientEvent, RequestId};
pub use machine::Client;
pub use message::AppToMaster;
