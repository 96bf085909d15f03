//! Input that is made up, and the same in every system and every run.
//!
//! Numbers come from their index by a formula ([`keys`], [`points`], [`records`]), so each partition makes its own; only
//! [`text`] is a file.

pub mod keys;
pub mod points;
pub mod records;
pub mod text;
