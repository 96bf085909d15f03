//! Operators over keys, each against a plain model on each backend.

#![expect(clippy::print_stdout, reason = "a failing test says where it ran")]

#[path = "../support/mod.rs"]
mod support;

mod combine;
mod group;
mod harness;
mod partitioners;
mod rearrange;
mod sort;
mod values;
