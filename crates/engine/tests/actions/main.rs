//! Every action: its value against a plain model, the partitions it computes, its handle, its errors.

#![expect(clippy::print_stdout, reason = "a failing test says where it ran")]
#![expect(clippy::float_cmp, reason = "the expected values are exact")]

mod folds;
mod gate;
mod handles;
mod jobs;
mod models;
mod numbers;
mod orders;
mod partials;
mod samples;
#[path = "../support/mod.rs"]
mod support;
