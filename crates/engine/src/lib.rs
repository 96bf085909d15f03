//! Spark's core engine in Rust: jobs written as closures over resilient distributed datasets.

pub mod listener;
