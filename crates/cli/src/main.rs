//! The `firesteel` command: masters and workers, submission of applications, and a whole cluster on this machine.
//!
//! Each command is read in three steps: what was typed ([`args`]), what it means (settings as the parts of the cluster
//! take them), and the run. Nothing is decided here that concerns scheduling.

mod args;
mod cluster;
mod daemon;
mod decommission;
mod exit;
mod kill;
mod log;
mod master_choice;
mod memory;
mod output;
mod page_client;
mod status;
mod submit;
mod table;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Command};

fn main() -> ExitCode {
    // Reports mistakes and prints help by itself, with code 2 and 0.
    let cli = Cli::parse();
    let outcome = match &cli.command {
        Command::Master(args) => daemon::run_master(args),
        Command::Worker(args) => daemon::run_worker(args),
        Command::Submit(args) => submit::run(args),
        Command::Cluster(args) => cluster::run(&args.command),
        Command::Status(args) => status::run(args),
        Command::Kill(args) => kill::run(args),
        Command::Decommission(args) => decommission::run(args),
    };
    outcome.unwrap_or_else(|error| exit::failed(&error))
}
