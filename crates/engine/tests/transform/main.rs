//! The narrow transformations: the laws that all of them keep, and what each does besides.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests, and a failing test says where it ran"
)]

#[path = "../support/mod.rs"]
mod support;

mod coalesce;
mod combining;
mod custom;
mod inside_tasks;
mod laws;
mod lineage;
mod partitions;
mod pipe;
mod rows;
mod sampling;
mod sources;
