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
    /// Whether map outputs have sums of their rows, by which one that was made again in another order is still the same.
    pub(crate) content_sums: bool,
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
    /// Values of an eighth of a megabyte, which are counted while they live.
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
    Narrow(Narrow),
    Shuffle { op: Shuffle, partitions: u32 },
    Keep(Keep),
    Fault(Fault),
}

/// An operator without a shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Narrow {
    Rows(RowByRow),
    MapPartitions,
    /// Each partition up to its first row that is marked. The iterator gives rows again if it is asked again.
    MapWhile {
        modulus: u64,
    },
    /// The first rows of each partition, by `scan`, which gives rows again if it is asked again.
    Scan {
        most: u64,
    },
    Glom,
    Prune {
        modulus: u32,
    },
    ZipWithIndex,
    ZipWithUniqueId,
    /// Twice the same rows, which two tasks may want at once.
    UnionSelf,
    ZipSelf,
    ZipPartitionsSelf,
    SampleAll {
        seed: u64,
    },
    SampleByKeyAll {
        seed: u64,
    },
    /// The environment has fields that serde skips.
    SparseEnvironment,
    Coalesce {
        partitions: u32,
    },
    RandomSplits {
        seed: u64,
    },
}

/// An operator that sees one row at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RowByRow {
    Map {
        keys: u64,
        salt: u64,
    },
    Filter {
        modulus: u64,
    },
    FlatMap {
        most: u64,
    },
    MapValues {
        salt: u64,
    },
    FlatMapValues {
        most: u64,
    },
    /// Keys become values and values keys.
    Swap,
    /// As many maps behind each other, each of them boxed.
    Boxed {
        depth: u32,
    },
}

/// An operator over one RDD that moves rows between partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shuffle {
    PartitionBy,
    Repartition,
    ReduceByKey,
    FoldByKey,
    AggregateByKey,
    CombineByKey,
    MapReduce,
    GroupByKey { reading: Reading },
    GroupBy,
    Distinct,
    SortByKey { descending: bool },
    SortByRow { descending: bool },
    SortWithinPartitions,
    FilterByRange { from: u64, to: u64 },
}

/// What is done with a group, which may be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reading {
    /// One value after the other.
    Iterate,
    /// As a slice.
    Slice,
    /// As a vector.
    Vector,
    /// Sorted in its place.
    Sort,
    /// Compared with a copy, and with vectors and slices of the same values.
    Compare,
    /// Sent through another shuffle as it is.
    Ship,
}

/// Something that keeps rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Keep {
    Persist { level: String },
    Checkpoint,
    LocalCheckpoint,
}

/// What makes an RDD of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Pairing {
    Union,
    Cartesian,
    ZipPartitions,
    Join { kind: JoinName, partitions: u32, placed: Placed, next: Next },
    Cogroup { sides: Sides, partitions: u32, placed: Placed },
    SubtractByKey { partitions: u32, placed: Placed },
    Intersection { partitions: u32 },
    Subtract { partitions: u32 },
}

/// Which rows without a partner a join has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum JoinName {
    Inner,
    LeftOuter,
    RightOuter,
    FullOuter,
}

/// Which sides of a join have their keys where it wants them, so that they need no shuffle of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Placed {
    Neither,
    Left,
    Right,
    Both,
}

/// What takes the rows of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Next {
    /// They are boxed, and asked for one after the other.
    Boxed,
    /// A shuffle in the same loop.
    Fused,
}

/// How many RDDs a cogroup has; with more than two, both come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Sides {
    Two,
    Three,
    Four,
}

/// Something goes wrong, once, when the given row passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fault {
    /// Tells the faults of a case apart.
    pub(crate) id: u32,
    /// The first partition in which it may happen: the later, the more tasks of the stage have ended.
    pub(crate) partition: u32,
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
    /// A file is gone.
    Remove(Files),
    /// A byte of a file is another one.
    Damage(Files),
}

/// The files of one kind, of which one is spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Files {
    /// What map tasks have made.
    Outputs,
    /// Partitions that are kept on disk.
    Blocks,
    /// What tasks that are short of memory have put aside. One that is removed can still be read.
    Spills,
}

/// One job, over one RDD of the lineage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Which RDD: 0 is the last one, others count through the plan from its root.
    pub(crate) node: usize,
    pub(crate) action: Action,
    /// What goes wrong before it.
    pub(crate) before: Option<Between>,
    /// What goes wrong in its last stage.
    pub(crate) during: Option<Fault>,
}

/// What goes wrong between two jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Between {
    /// An executor dies, and the job begins before or after the driver knows.
    KillExecutor {
        is_noticed: bool,
    },
    Remove {
        files: Files,
        pick: u64,
    },
    Damage {
        files: Files,
        pick: u64,
    },
}

/// What a job asks for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Action {
    Rows(RowAction),
    Fold(FoldAction),
    Keyed(KeyedAction),
    File(FileAction),
    /// Rows whose `drop` panics on the driver: any end is right, but there has to be one.
    TakeRowsThatPanic {
        most: usize,
    },
    /// A part of the rows, drawn by key: as many as without faults, and all of one run.
    SampleByKey {
        percent: u8,
        seed: u64,
        partitions: u32,
    },
}

/// An action that gives rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RowAction {
    Collect,
    CollectPartitions,
    LocalIterator,
    First,
    Take { most: usize },
    MinMax,
    Top { most: usize },
    TakeOrdered { most: usize },
    TakeSample { most: usize, seed: u64 },
}

/// An action that gives one value made of all rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum FoldAction {
    Count,
    IsEmpty,
    Reduce,
    TreeReduce {
        depth: u32,
    },
    Fold,
    Aggregate,
    TreeAggregate {
        depth: u32,
        on_executors: bool,
    },
    ForEach,
    ForEachPartition,
    RunJob,
    /// Twice over rows that are kept at this one of the named levels, in the loop that reads them.
    Persisted {
        level: usize,
    },
    /// Numbers made of the rows, at an offset far from zero.
    Stats {
        offset: f64,
    },
}

/// An action that gives something for each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum KeyedAction {
    CountByKey,
    CountByValue,
    CollectAsMap,
    ReduceByKeyLocally,
    Lookup { key: u64 },
}

/// Files that are written and read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FileAction {
    SaveAsText {
        compressed: bool,
    },
    SaveAsObjects,
    /// A checkpoint of which parts are removed is refused.
    HalfCheckpoint {
        keep: u64,
    },
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
}
