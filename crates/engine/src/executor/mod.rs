//! Running tasks: the context a task sees, the one place where its end is caught, and what it shares with others.

mod blame;
mod context;
mod disk;
mod environment;
mod helper;
mod hook;
mod kill;
mod listeners;
mod memory;
mod pace;
mod runner;
mod unwind;

pub(crate) use blame::Blame;
pub use context::TaskContext;
pub(crate) use context::TaskIdentity;
pub(crate) use disk::Disk;
pub(crate) use environment::{DriverLine, Environment};
pub(crate) use helper::spawn_helper;
pub(crate) use hook::install as install_panic_hook;
pub(crate) use kill::KillSwitch;
pub(crate) use memory::{abort_out_of_memory, hand_over};
pub(crate) use pace::Pace;
pub(crate) use runner::{Executor, Launch, Report, ReportedEnd};
pub(crate) use unwind::{Abort, abort_storage, abort_task};
