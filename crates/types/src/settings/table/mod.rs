//! The settings themselves, one file for each section of the reference page.
//!
//! A row reads: doc, name of the constant, type, key, kind, default, first version. The doc is one sentence and
//! serves rustdoc and the reference page both.

#[macro_use]
mod section;

pub(super) mod application;
pub(super) mod barrier;
pub(super) mod exclusion;
pub(super) mod executors;
pub(super) mod files;
pub(super) mod master;
pub(super) mod memory;
pub(super) mod network;
pub(super) mod scheduling;
pub(super) mod shuffle;
pub(super) mod speculation;
pub(super) mod tasks;
pub(super) mod worker;
