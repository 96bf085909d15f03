//! The files that a map task leaves for reduce tasks, spills, and how blocks are fetched.

pub mod fetch;
pub mod files;
