//! Spark's core engine in Rust: jobs written as closures over resilient distributed datasets.

#[expect(
    dead_code,
    unused_imports,
    reason = "the RDD sources and sinks that use the file layer are not here yet"
)]
mod io;

pub use io::{Codec, IoError};
