//! Joins of two RDDs of pairs.
//!
//! One side of each partition becomes a [`Table`] that borrows its rows, the other side streams past it
//! ([`Probe`]), and the pairs come out one by one: what a task holds does not grow with the number of pairs,
//! however skewed the keys are.

mod adaptor;
mod cut;
mod join_rdd;
mod kind;
mod lent;
mod probe;
mod subtract;
mod table;
#[cfg(test)]
mod tests;

pub use adaptor::Join;
pub use join_rdd::JoinRdd;
pub use kind::{FullOuter, Inner, JoinKind, LeftOuter, RightOuter};
pub(crate) use lent::{Lent, Loaded};
pub use subtract::SubtractByKey;
pub(crate) use subtract::rows_without;
pub(crate) use table::Table;
