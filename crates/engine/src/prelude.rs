//! Everything that a program over RDDs usually needs: `use firesteel::prelude::*`.

pub use crate::{Actions, BoxRdd, Context, Data, Error, JobHandle, JoinRdd, KeyPartitioner, PairRdd, Rdd, Result, Rows, SetRdd, TaskContext, Transform};
