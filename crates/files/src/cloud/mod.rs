//! Stores beyond this machine: clients, listings, readers and outputs.
//!
//! The rest of the file layer calls [`look_up`], [`list`], [`open`], [`http_file`] and [`http_location`], and writes
//! through [`RemoteSink`] and [`folder`]. In a build without the feature `cloud` the same names answer with the error that
//! names the feature (`absent.rs`), so that nothing outside of this folder asks for it.

#[cfg(not(feature = "cloud"))]
mod absent;
#[cfg(feature = "cloud")]
mod address;
#[cfg(feature = "cloud")]
mod client;
#[cfg(feature = "cloud")]
pub(super) mod folder;
#[cfg(feature = "cloud")]
mod http;
#[cfg(feature = "cloud")]
mod listing;
#[cfg(feature = "cloud")]
mod remote;
#[cfg(feature = "cloud")]
pub(super) mod runtime;
#[cfg(feature = "cloud")]
mod sink;
#[cfg(feature = "cloud")]
pub(super) mod stores;

#[cfg(not(feature = "cloud"))]
pub(super) use absent::{RemoteSink, folder, http_file, http_location, list, look_up, open, require};
#[cfg(feature = "cloud")]
pub(super) use address::{http_location, require};
#[cfg(feature = "cloud")]
pub(super) use http::look_up as http_file;
#[cfg(feature = "cloud")]
pub(super) use listing::{list, look_up};
#[cfg(feature = "cloud")]
pub(super) use remote::open;
#[cfg(feature = "cloud")]
pub(super) use sink::RemoteSink;
