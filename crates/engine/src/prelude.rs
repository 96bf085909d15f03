//! Everything that a program over RDDs usually needs: `use firesteel::prelude::*`.

pub use crate::{
    Actions, BoxRdd, Context, Data, Error, JobHandle, KeyPartitioner, Order, OrderedPairRdd, PairRdd, Rdd,
    Rearrange, Result, Rows, TaskContext, Transform,
};
