//! Everything that a program over RDDs usually needs: `use firesteel::prelude::*`.

pub use crate::{
    Accumulator, Actions, BoxRdd, Broadcast, Context, CountActions, Data, Error, FoldActions, JobHandle,
    JoinRdd, KeyPartitioner, NumericActions, Order, OrderActions, OrderedPairRdd, PairActions, PairRdd, Rdd,
    Rearrange, Replacement, Result, Rows, SaveRdd, SetRdd, TaskContext, TotalOrd, Transform,
};
