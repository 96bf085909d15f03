//! Workloads on Firesteel, beside the same jobs written by hand and on Spark, Ray and Dask.
//!
//! - [`workload`] has the jobs: for each its sizes, how it runs on the engine, and how a competent engineer would write
//!   it for two cores without one.
//! - [`data`] makes their input, [`checksum`] condenses their answers: the same in every system, so that all of them can be
//!   held to one answer.
//! - [`measure`] times a job inside a process of its own; [`launch`] starts that process and reads its [`report`].
//! - [`system`] is who can run a workload: this engine, the hand-written program, and the [`peer`]s.
//! - [`compare`] puts systems side by side, [`results`] keeps what came out and [`table`] shows it; [`regress`] is the part
//!   of it that CI runs.
//!
//! Nothing here is for applications. Figures of a build without optimisation mean nothing, and are marked as such.

pub mod checksum;
pub mod child;
pub mod commands;
pub mod compare;
pub mod data;
pub mod executors;
pub mod hand;
pub mod interrupt;
pub mod launch;
pub mod machine;
pub mod measure;
pub mod peer;
pub mod processes;
pub mod regress;
pub mod report;
pub mod results;
pub mod system;
pub mod table;
pub mod workload;
