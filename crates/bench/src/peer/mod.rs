//! Other systems on the same workloads: Spark, Ray and Dask, as `cargo xtask peers install` installs them.

mod install;
mod python;
mod spark;
mod spark_cluster;

pub use install::Installation;
pub use python::Python;
pub use spark::Spark;
