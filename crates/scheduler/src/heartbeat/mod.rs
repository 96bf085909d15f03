//! Which executors are alive, judged by what was last heard of them.
//!
//! [`HeartbeatReceiver`] is the driver's side: it notes the last heartbeat of each executor, replies, and lists those
//! that were silent for too long. [`HeartbeatSender`] is the executor's side: when to send, and when to give up.
//! [`HeartbeatConfig`] holds the intervals of both. None of them sends anything or ends a process.

mod config;
mod receiver;
mod sender;

pub use config::{HeartbeatConfig, HeartbeatConfigError};
pub use receiver::{ExpiredExecutor, HeartbeatReceiver, HeartbeatReply};
pub use sender::{HeartbeatSender, SenderAction};
