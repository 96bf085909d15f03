//! Which of its commands it is.

use std::process::ExitCode;

use anyhow::Result;

use super::{down, status, up};
use crate::args::ClusterCommand;

/// Starts, ends or shows the cluster of this machine.
pub(crate) fn run(command: &ClusterCommand) -> Result<ExitCode> {
    match command {
        ClusterCommand::Up(args) => up::run(args),
        ClusterCommand::Down(args) => down::run(args),
        ClusterCommand::Status(args) => status::run(args),
    }
}
