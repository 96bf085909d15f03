//! Running tasks: the context a task sees, the one place where its end is caught, and what it shares with others.

mod context;
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
mod runner;
mod slots;
mod task_process;
mod unwind;

pub use context::TaskContext;
pub(crate) use context::TaskIdentity;
pub(crate) use disk::Disk;
pub(crate) use environment::{DriverLine, Environment, ExecutorServices, check_executor_memory};
pub(crate) use exchange::{AddressBook, LateClient, OtherExecutors, OwnBlocks, fetch_one};
pub(crate) use helper::spawn_helper;
pub(crate) use kill::KillSwitch;
pub(crate) use memory::{abort_out_of_memory, hand_over};
pub(crate) use pace::Pace;
pub(crate) use process::ARGUMENT as EXECUTOR_ARGUMENT;
pub(crate) use runner::{Executor, Report, TaskEnd, Work};
pub(crate) use slots::Slots;
pub(crate) use task_process::{ProcessKind, prepare as prepare_process};
pub(crate) use unwind::{Abort, abort_storage, abort_task};
