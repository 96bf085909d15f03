//! Which command it is.

use clap::{Parser, Subcommand};

use super::{ClusterArgs, DecommissionArgs, KillArgs, MasterArgs, StatusArgs, SubmitArgs, WorkerArgs};

/// Resilient distributed datasets on your cores, or on a cluster.
#[derive(Debug, Parser)]
#[command(name = "firesteel", version, propagate_version = true, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs a master, which workers and applications register with
    Master(MasterArgs),
    /// Runs a worker, which starts executors for the applications of a cluster
    Worker(WorkerArgs),
    /// Runs an application, here or on the cluster
    Submit(SubmitArgs),
    /// Starts and stops a whole cluster on this machine
    Cluster(ClusterArgs),
    /// Shows the workers, applications and drivers of a cluster
    Status(StatusArgs),
    /// Ends drivers that the cluster runs
    Kill(KillArgs),
    /// Has the workers of a host finish what they have and leave
    Decommission(DecommissionArgs),
}
