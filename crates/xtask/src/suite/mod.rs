//! `cargo xtask test`: every test of the workspace, and every benchmark at a tiny size.
//!
//! Cargo builds all test executables in one call ([`executables`]); then they run several at a time, the longest first
//! ([`lanes`]), where `cargo test` runs one after the other. With nextest installed, that runs them instead.

mod executables;
mod lanes;
mod outcome;

mod run;

pub(crate) use executables::{Executable, build, libraries};
pub(crate) use run::run;
