//! The workloads, one per file: sizes, the job on the engine, the same job by hand.
//!
//! Sizes, partition counts and data are those of the reference workloads of Spark, so that the same answers come out.

mod broadcast_join;
mod cached_scan;
mod catalogue;
mod cold_start;
mod efficiency;
mod empty_tasks;
mod executor_loss;
mod group_by_key;
mod job;
mod join;
mod kmeans;
mod latency;
mod many_stages;
mod narrow_pipeline;
mod pagerank;
mod reduce_by_key;
mod rows;
mod sizes;
mod skewed_join;
mod sort_by_key;
mod terasort;
mod tiny_jobs;
mod tiny_shuffle_jobs;
mod wide;
mod wordcount;
mod workload_type;

pub use catalogue::{WORKLOADS, find, select};
pub use job::{Job, Outcome};
pub use sizes::Sizes;
pub use workload_type::{Setup, Targets, Workload};
