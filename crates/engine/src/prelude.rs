//! Everything that a program over RDDs usually needs: `use firesteel::prelude::*`.

pub use crate::{
    Accumulator, Actions, BoxRdd, Broadcast, Context, CountActions, Data, Error, FoldActions, JobHandle, KeyPartitioner,
    NumericActions, OrderActions, PairActions, PairRdd, Rdd, Result, Rows, SaveRdd, TaskContext, Transform,
};
