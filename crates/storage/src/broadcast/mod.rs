//! Values cut into pieces that executors fetch from each other.
//!
//! [`pieces`] cuts bytes and joins them again; [`Broadcasts`] publishes, fetches and removes the values of one process.
//! How a value becomes bytes is its owner's business.

pub mod pieces;

mod error;
mod values;

pub use error::BroadcastError;
pub use pieces::{Cutter, Manifest, PieceOptions};
pub use values::{BroadcastRead, Broadcasts};
