//! Where the driver runs.

use std::process::ExitCode;

use anyhow::Result;

use super::{client, cluster};
use crate::args::{DeployMode, SubmitArgs};

/// Runs an application.
pub(crate) fn run(args: &SubmitArgs) -> Result<ExitCode> {
    match args.deploy_mode {
        DeployMode::Client => client::run(args),
        DeployMode::Cluster => cluster::run(args),
    }
}
