//! Rows through an external program: [`Pipe`] is the RDD, [`PipeCommand`] the command to run.
//!
//! Every partition has a process of its own. A thread writes the rows to it, line by line, while the task reads what
//! it prints. Does not interpret the command: there is no shell unless the command names one.

mod adaptor;
mod command;
mod lines;
mod output;
mod process;

pub use adaptor::Pipe;
pub use command::PipeCommand;
