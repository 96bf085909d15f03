//! Everything that a program over RDDs usually needs: `use firesteel::prelude::*`.

pub use crate::{
    Actions, BoxRdd, Context, CountActions, Data, Error, FoldActions, JobHandle, KeyPartitioner,
    NumericActions, OrderActions, PairActions, PairRdd, Rdd, Result, Rows, TaskContext, Transform,
};
