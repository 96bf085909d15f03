//! RDDs as sets of rows, or bags of them: each row is its own key.
//!
//! Rows are shuffled by their own hash, always: a partitioner that a parent has deals its rows by a part of
//! them.

mod intersection;
mod set_rdd;
mod subtract;

pub use intersection::Intersection;
pub use set_rdd::SetRdd;
pub use subtract::Subtract;
