//! Resilient distributed datasets: the trait, its transformations, and one adaptor per file.

mod boxed;
mod bury;
mod either;
mod filter;
mod handle;
mod map;
mod rdd;
mod rows;
mod transform;
mod with;

pub use boxed::BoxRdd;
pub(crate) use bury::bury;
pub(crate) use either::Either;
pub use filter::Filter;
pub use handle::{HandleBuilder, Parent, RddHandle};
pub(crate) use handle::{AfterJob, PartitionData};
pub use map::Map;
pub use rdd::Rdd;
pub use rows::Rows;
pub use transform::Transform;
pub use with::With;
