//! The journal of everything the scheduler was told, and its replay.
//!
//! A journal holds the configuration and each turn's time and events, nothing else: what the scheduler decided
//! follows from them. [`Recorder`] writes one while it drives a scheduler; [`replay`] drives a fresh scheduler with
//! it and gets the same effects, which the hashes in the journal prove.
//!
//! ```
//! use firesteel_scheduler::{Event, SchedulerConfig, journal::{Recorder, replay}};
//! use firesteel_types::{RddId, RddNode, Timestamp};
//!
//! let mut recorder = Recorder::new(SchedulerConfig::default())?;
//! recorder.handle(Timestamp::from_secs(1), Event::RddsRegistered(vec![RddNode::source(RddId(0), 4)]));
//! let hash = recorder.checkpoint();
//! let journal = recorder.take_bytes();
//!
//! assert_eq!(replay(&journal)?.hash, hash);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The bytes are handed out and kept by the runtime that drives the scheduler. Nothing is ever dropped here: a driver
//! whose disk is too slow waits.

mod hash;
mod reader;
mod recorder;
mod replay;

pub use hash::EffectHash;
pub use reader::{Entry, JournalError, JournalReader, Turn};
pub use recorder::Recorder;
pub use replay::{ReplayError, Replayed, replay};

#[cfg(test)]
mod tests;
