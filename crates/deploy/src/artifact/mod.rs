//! Executables and files by their content: hashed, offered, fetched, kept.
//!
//! The one who has a file offers it under its hash ([`Offer`] in a driver, the master for what was uploaded to it), with
//! [`serve`] as the service of its listener. A worker fetches by hash, verifies what came, and keeps it, so that all
//! executors of an application cost one transfer. No path travels: a peer can only ask for content whose hash it knows.
//!
//! Which artifacts a process needs is said by its [`Command`](firesteel_scheduler::deploy::Command).

mod cache;
mod client;
mod content_folder;
mod error;
mod hash;
pub(crate) mod message;
mod offer;
mod serve;
mod uploads;

#[cfg(test)]
mod tests;

pub(crate) use cache::{Cache, place};
pub(crate) use client::ArtifactClient;
pub use error::ArtifactError;
pub use hash::{hash_file, hash_reader};
pub use offer::Offer;
pub use serve::{Shelf, serve};
pub(crate) use uploads::Uploads;
