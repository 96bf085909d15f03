//! Drivers that the cluster runs: how a client submits them, asks after them and ends them.
//!
//! [`SubmitClient`] asks every master until it finds the one that leads. The executable and the files of a
//! [`DriverSubmission`] are uploaded to that master, from where the worker fetches them.

mod client;
mod error;
mod submission;

pub use client::{SubmitClient, SubmitConf};
pub use error::SubmitError;
pub use submission::DriverSubmission;
