//! `cargo xtask tidy`: the house rules, each in its own file, all checked on plain text.
//!
//! A rule is a function from input to [`problem::Problem`]s and does no I/O; [`run()`] gathers the input, prints every
//! problem and closes with one line. A new rule is a file here and a line in `run.rs`.

mod problem;
mod source;
mod tokens;

mod arrows;
mod first_build;
mod layers;
mod modules;
mod purity;
mod sizes;
mod words;

mod catalogue;
mod claims;
mod coverage;

mod reference;

mod run;

pub(crate) use run::{files, run};
pub(crate) use source::SourceFile;
