//! The types of rows: the keys and values of a [`Kind`] are made from numbers, and numbers from them.
//!
//! The model computes with those numbers alone. Each type is ordered as its numbers are, so that sorting means the same on
//! both sides, and [`Kind::code`] compares the whole of a row with what its number stands for, so that a row that was
//! changed on its way is found.

mod contract;
mod large;
mod nested;
mod plain;
mod sparse;
mod text;

pub(crate) use contract::{Bits, Coded, Kind, Row};
pub(crate) use large::{Large, peak_live_rows, reset_peak};
pub(crate) use nested::Nested;
pub(crate) use plain::{Plain, Set, Unit};
pub(crate) use sparse::{Sparse, SparseEnvironment};
pub(crate) use text::Text;
