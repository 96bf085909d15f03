//! The operators of the engine that a plan stands for.

mod build;
mod groups;
mod narrow;
mod shuffles;
mod two;

pub(crate) use build::{Built, build};
