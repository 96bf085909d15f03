//! Joins, cogroups and set operations, on each backend.

#![expect(clippy::print_stdout, reason = "a failing test says where it ran")]

mod model;
mod partitions;
mod random;
mod streaming;
#[path = "../support/backends.rs"]
mod support;
