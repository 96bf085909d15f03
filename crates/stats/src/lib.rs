//! The algorithms under the statistical and structural RDD operators, as plain values and functions.
//!
//! What a task computes over its partition and the driver merges: [`StatCounter`], [`Histogram`],
//! [`HyperLogLogPlusPlus`], [`BoundedTop`], and the [evaluators of approximate actions](ApproximateEvaluator).
//! What the driver decides before it runs a job: [`TakePlan`], `tree_levels`, the bounds of a range partitioner
//! ([`RangeSketch`]), the groups of `coalesce` ([`group_neighbours`], [`group_by_locality`]) and the deal of
//! `repartition` ([`RoundRobin`]).
//!
//! Nothing here knows RDDs, tasks or the scheduler, reads a clock, or draws a random number without a seed.

mod approx;
mod bounded_top;
mod buckets;
mod coalesce;
mod histogram;
mod hyperloglog;
mod range_bounds;
mod range_sketch;
mod round_robin;
pub mod sampling;
mod stat_counter;
mod take_plan;
mod tree_levels;
mod value_range;

pub use approx::{
    ApproximateEvaluator, BoundedDouble, ConfidenceError, CountEvaluator, GroupedCountEvaluator,
    MeanEvaluator, SumEvaluator,
};
pub use bounded_top::BoundedTop;
pub use buckets::{Buckets, HistogramError};
pub use coalesce::{
    CoalesceError, DEFAULT_BALANCE_SLACK, PartitionGroup, group_by_locality, group_neighbours,
};
pub use histogram::Histogram;
pub use hyperloglog::{HyperLogLogError, HyperLogLogPlusPlus};
pub use range_bounds::determine_bounds;
pub use range_sketch::{PartitionSketch, RangeSampleSizes, RangeSketch};
pub use round_robin::RoundRobin;
pub use stat_counter::StatCounter;
pub use take_plan::{TakePlan, TakeSettings};
pub use tree_levels::{TreeDepthError, tree_levels};
pub use value_range::ValueRange;
