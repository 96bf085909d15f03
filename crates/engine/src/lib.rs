//! Spark's core engine in Rust: jobs written as closures over resilient distributed datasets.

mod conf;

pub use conf::{Conf, ConfError, Origin};
pub use firesteel_macros::main;
pub use firesteel_types::settings;
