//! Everything that a program over RDDs usually needs: `use firesteel::prelude::*`.

pub use crate::{Accumulator, Actions, BoxRdd, Broadcast, Context, Data, Error, JobHandle, KeyPartitioner, PairRdd, Rdd, Result, Rows, SaveRdd, TaskContext, Transform};
