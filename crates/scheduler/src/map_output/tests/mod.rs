//! Tests that need more than one file's types, and what they share.

mod client;
mod harness;
mod model;
mod queries;
mod tables;
mod tracker;
