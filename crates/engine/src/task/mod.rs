//! What a task has around it: its context, and the stores of its process.
//!
//! [`TaskContext`] and [`Environment`] know each other by nature: a task reads and writes stored blocks, shuffles and
//! broadcast values within its share of the memory, and each store asks the task whether it may go on. What a task runs is a
//! [`StageProgram`]; how it ended is a [`Report`]. Threads and processes that run tasks are in `executor/`.

mod accumulate;
mod accumulators;
mod blocks;
mod broadcasts;
#[cfg(test)]
mod chance;
mod disk;
mod environment;
mod exchange;
mod helper;
mod hook;
mod kill;
mod listeners;
mod memory;
mod pace;
mod process;
mod program;
mod report;
mod shuffles;
mod task_context;
mod unwind;

pub use accumulate::{Accumulate, Collection, DoubleSum, LongSum};
pub(crate) use accumulators::{TaskAccumulators, UpdateValue, Updates};
pub(crate) use blocks::{BlockStore, NoPeers, ToDriver, keep, kept};
pub(crate) use broadcasts::BroadcastStore;
#[cfg(test)]
pub(crate) use chance::{rows_until_look, strikes, with_random_spills};
pub(crate) use disk::Disk;
pub(crate) use environment::{DriverLine, Environment, ExecutorServices, check_executor_memory};
pub(crate) use exchange::{AddressBook, LateClient, OtherExecutors, OwnBlocks, fetch_one};
pub(crate) use helper::spawn_helper;
#[cfg(test)]
pub(crate) use hook::install as install_panic_hook;
pub(crate) use hook::{panic_text, take as take_panic};
pub(crate) use kill::KillSwitch;
pub(crate) use memory::{abort_out_of_memory, hand_over, peak_bytes, set_memory};
pub(crate) use pace::Pace;
pub(crate) use process::{ProcessKind, prepare as prepare_process};
pub(crate) use program::{
    Form, Program, ResultValue, StageProgram, TaskData, TaskOutput, freeze_program, thaw_program,
};
pub(crate) use report::{Report, TaskEnd};
pub(crate) use shuffles::{
    Arrivals, Dealt, FileBlock, KeptOutput, MapBlocks, MapPlace, MapTables, PlacedBlocks, RemoteShuffles,
    RowSink, ShuffleConf, ShuffleStore, TypedBuckets,
};
pub use task_context::TaskContext;
pub(crate) use task_context::TaskIdentity;
pub(crate) use unwind::{Abort, abort_storage, abort_task};
