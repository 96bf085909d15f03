//! Spark's core engine in Rust: jobs written as closures over resilient distributed datasets.

#[cfg(panic = "abort")]
compile_error!(
    "firesteel needs unwinding to keep a failing task from ending the process: remove `panic = \"abort\"`"
);

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
pub mod sampling;
#[doc(hidden)]
#[expect(unsafe_code, reason = "entry points and closures cross processes here and nowhere else")]
pub mod ship;
mod shuffle;
mod source;
mod stage;
pub mod stats;

pub use action::{Actions, JobHandle};
pub use context::{Context, ContextBuilder};
pub use data::Data;
pub use error::{Error, Result};
pub use executor::TaskContext;
pub use pair::{
    Combined, Combiner, Distinct, FilterByRange, FlatMapValues, Grouped, Keys, MapValues, OrderedPairRdd,
    PairRdd, Partitioned, Rearrange, Repartitioned, SampleByKey, Sorted, Values,
};
pub use partitioner::{
    AnyPartitioner, HashPartitioner, KeyPartitioner, Order, Partitioner, RangePartitioner, TotalOrd,
};
pub use rdd::{BoxRdd, Filter, Map, Parent, Rdd, RddHandle, Rows, Transform, With};
pub use source::{Parallelize, Range, RangeNumber};
