//! Running tasks: the one place where the end of a task is caught, the threads that run tasks, and a process of them.

mod process;
mod runner;
mod slots;

pub(crate) use process::ARGUMENT as EXECUTOR_ARGUMENT;
pub(crate) use runner::{Executor, Work};
pub(crate) use slots::Slots;
