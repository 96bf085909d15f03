//! `cargo xtask commands`: every command of the documentation, so that none is left behind by a change.
//!
//! [`text`] finds the commands in the `sh` blocks of all Markdown files. Each is held against what there is: packages
//! and targets ([`cargo_words`]), subcommands, options, settings and variables ([`names`]). Then those that take seconds
//! are run, tiny where they have a size ([`plan`] says which are not, and why).

mod text;

mod cargo_words;
mod names;
mod plan;

mod run;

pub(crate) use run::run;
