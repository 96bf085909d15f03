//! Spark's core engine in Rust: jobs written as closures over resilient distributed datasets.

#[cfg(panic = "abort")]
compile_error!("firesteel needs unwinding to keep a failing task from ending the process: remove `panic = \"abort\"`");

mod accumulator;
mod action;
mod backend;
mod broadcast;
mod cache;
mod context;
mod data;
mod driver;
mod error;
mod executor;
mod pair;
mod partitioner;
pub mod prelude;
mod rdd;
mod set;
#[doc(hidden)]
#[expect(unsafe_code, reason = "entry points and closures cross processes here and nowhere else")]
pub mod ship;
mod shuffle;
mod source;
mod stage;

pub use action::{Actions, JobHandle};
pub use context::{Context, ContextBuilder};
pub use data::Data;
pub use error::{Error, Result};
pub use executor::TaskContext;
pub use pair::{
    Cogroup, Cogroup3, Cogroup4, Combined, Combiner, FullOuter, Inner, Join, JoinKind, JoinRdd, LeftOuter, PairRdd,
    RightOuter, SubtractByKey,
};
pub use partitioner::{AnyPartitioner, HashPartitioner, KeyPartitioner, Partitioner};
pub use rdd::{BoxRdd, Filter, Map, Parent, Rdd, RddHandle, Rows, Transform, With};
pub use set::{Intersection, SetRdd, Subtract};
pub use source::{Empty, Parallelize, Range, RangeNumber};
