//! What one comparison does, as plain data: [`Case`].
//!
//! A case is drawn from a seed (`draw.rs`), run (`run.rs`) and, if it fails, made smaller (`shrink.rs`). It is written as
//! JSON, so that a small failing case can be kept and repeated without its seed.

use serde::{Deserialize, Serialize};

/// One application: a lineage, jobs over its RDDs, where it runs, with how much memory, and what goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) kind: KindName,
    pub(crate) backend: Backend,
    pub(crate) memory: Memory,
    /// Whether workers serve the shuffle files of executors that are gone.
    pub(crate) shuffle_service: bool,
    pub(crate) plan: Plan,
    pub(crate) jobs: Vec<Job>,
}

/// The types of keys and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum KindName {
    /// Two numbers.
    Plain,
    /// Two texts.
    Text,
    /// A struct and an enum, with options and lists in them.
    Nested,
    /// A number and nothing.
    Set,
    /// Nothing at all: rows without size.
    Unit,
    /// Values of which serde skips a field, so that they cannot be read back without names.
    Sparse,
    /// Values of a quarter of a megabyte, which are counted while they live.
    Large,
}

/// Where the case runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Backend {
    /// In this process, rows as values.
    Local,
    /// In this process, from the shipped form.
    Shipped,
    /// On executors that are processes of their own.
    Cluster,
}

/// How much memory tasks and blocks divide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Memory {
    Ample,
    Bytes(u64),
}

/// An RDD as the tree of what it is computed from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Plan {
    Source(Source),
    One(Op, Box<Plan>),
    Two(Pairing, Box<Plan>, Box<Plan>),
}

/// Rows to begin with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) from: From,
    pub(crate) shape: Shape,
    pub(crate) rows: u64,
    pub(crate) partitions: u32,
    pub(crate) seed: u64,
}

/// Where the rows of a source come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum From {
    /// A collection of the driver.
    Parallelize,
    /// Made by the tasks, one row at a time.
    Range,
    /// Made by the tasks, in another order at each run.
    Unordered,
}

/// How rows are spread over keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shape {
    /// As many rows for each of `keys` keys, by chance.
    Uniform { keys: u64 },
    /// Half of the rows have one key, and they come first.
    HeavyHead { keys: u64 },
    /// Half of the rows have one key, and they come last.
    HeavyTail { keys: u64 },
    /// All but a few rows have one key.
    Giant { keys: u64 },
    /// One key.
    Alike,
    /// Each row has a key of its own.
    Unique,
}

/// What makes an RDD of one RDD. Rows stay pairs of the same types.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Op {
    Map { keys: u64, salt: u64 },
    Filter { modulus: u64 },
    FlatMap { most: u64 },
    MapValues { salt: u64 },
    FlatMapValues { most: u64 },
    /// Keys become values and values keys.
    Swap,
    MapPartitions,
    /// Each partition up to its first row that is marked. The iterator gives rows again if it is asked again.
    MapWhile { modulus: u64 },
    /// The first rows of each partition, by `scan`, which gives rows again if it is asked again.
    Scan { most: u64 },
    Boxed { depth: u32 },
    Glom,
    Coalesce { partitions: u32 },
    Prune { modulus: u32 },
    ZipWithIndex,
    ZipWithUniqueId,
    ZipSelf,
    ZipPartitionsSelf,
    RandomSplits { seed: u64 },
    SampleAll { seed: u64 },
    SampleByKeyAll { seed: u64 },
    /// The environment has fields that serde skips.
    SparseEnvironment,
    PartitionBy { partitions: u32 },
    Repartition { partitions: u32 },
    ReduceByKey { partitions: u32 },
    FoldByKey { partitions: u32 },
    AggregateByKey { partitions: u32 },
    CombineByKey { partitions: u32 },
    MapReduce { partitions: u32 },
    GroupByKey { partitions: u32 },
    GroupBy { partitions: u32 },
    Distinct { partitions: u32 },
    SortByKey { partitions: u32, descending: bool },
    SortByRow { partitions: u32, descending: bool },
    SortWithinPartitions { partitions: u32 },
    FilterByRange { from: u64, to: u64, partitions: u32 },
    Persist { level: String },
    Checkpoint,
    LocalCheckpoint,
    Fault(Fault),
}

/// What makes an RDD of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Pairing {
    Union,
    Join { partitions: u32 },
    LeftOuterJoin { partitions: u32 },
    RightOuterJoin { partitions: u32 },
    FullOuterJoin { partitions: u32 },
    SubtractByKey { partitions: u32 },
    Cogroup { partitions: u32 },
    Cogroup3 { partitions: u32 },
    Cogroup4 { partitions: u32 },
    Intersection { partitions: u32 },
    Subtract { partitions: u32 },
    Cartesian,
    ZipPartitions,
}

/// Something goes wrong, once, when the given row passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fault {
    /// Tells the faults of a case apart.
    pub(crate) id: u32,
    /// Which row of a partition sets it off.
    pub(crate) row: u64,
    pub(crate) act: Act,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Act {
    /// The task fails.
    Panic,
    /// The executor dies at this row, before what it makes is published.
    KillSelf,
    /// The executor dies after the task has published its output, before it is reported.
    KillBeforeReport,
    /// Another executor dies while this one reads.
    KillPeer,
    /// A file of some map output is gone.
    RemoveOutput,
    /// A byte of some map output is another one.
    DamageOutput,
}

/// One job, over one RDD of the lineage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Which RDD: 0 is the last one, others count through the plan from its root.
    pub(crate) node: usize,
    pub(crate) action: Action,
    /// What goes wrong before it.
    pub(crate) before: Option<Between>,
}

/// What goes wrong between two jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Between {
    KillExecutor,
    RemoveOutput { pick: u64 },
    DamageOutput { pick: u64 },
}

/// What a job asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Action {
    Collect,
    CollectPartitions,
    LocalIterator,
    Count,
    IsEmpty,
    First,
    Take { most: usize },
    Reduce,
    TreeReduce { depth: u32 },
    Fold,
    Aggregate,
    TreeAggregate { depth: u32, on_executors: bool },
    MinMax,
    Top { most: usize },
    TakeOrdered { most: usize },
    CountByKey,
    CountByValue,
    CollectAsMap,
    ReduceByKeyLocally,
    Lookup { key: u64 },
    ForEach,
    ForEachPartition,
    RunJob,
    TakeSample { most: usize, seed: u64 },
    SaveAsText { compressed: bool },
    SaveAsObjects,
    /// Numbers made of the values, at an offset far from zero.
    Stats { offset: f64 },
    /// Rows whose `drop` panics on the driver: any end is right, but there has to be one.
    TakeRowsThatPanic { most: usize },
    /// A checkpoint of which parts are removed is refused.
    HalfCheckpoint { keep: u64 },
    /// A part of the rows, drawn by key: as many as without faults, and all of one run.
    SampleByKey { percent: u8, seed: u64, partitions: u32 },
}

impl Plan {
    /// The nodes, root first, in the order in which jobs count them.
    pub(crate) fn nodes(&self) -> Vec<&Plan> {
        let mut nodes = vec![self];
        match self {
            Self::Source(_) => (),
            Self::One(_, parent) => nodes.extend(parent.nodes()),
            Self::Two(_, left, right) => {
                nodes.extend(left.nodes());
                nodes.extend(right.nodes());
            }
        }
        nodes
    }

    /// Whether a node for which `holds` is true is in the tree.
    pub(crate) fn any(&self, holds: &impl Fn(&Plan) -> bool) -> bool {
        self.nodes().into_iter().any(holds)
    }

    /// Whether its rows come in another order when they are computed again.
    pub(crate) fn is_unordered(&self) -> bool {
        self.any(&|node| matches!(node, Self::Source(Source { from: From::Unordered, .. })))
    }
}

impl Case {
    /// Whether anything goes wrong in it on purpose.
    pub(crate) fn has_faults(&self) -> bool {
        self.jobs.iter().any(|job| job.before.is_some())
            || self.plan.any(&|node| matches!(node, Plan::One(Op::Fault(_), _)))
    }
}
