//! The arguments of the commands that ask a cluster.

use clap::Args;

use super::settings::SettingArgs;

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The masters of the cluster: firesteel://host:7077; the cluster of this machine unless given
    #[arg(long)]
    pub(crate) master: Option<String>,

    /// Where the pages of the master are, if not at its host and firesteel.master.ui.port
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) page: Option<String>,

    /// Prints all that is known, as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct KillArgs {
    /// The drivers to end, by their ids
    #[arg(value_name = "DRIVER", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) drivers: Vec<String>,

    /// Ends every driver of the cluster
    #[arg(long)]
    pub(crate) all: bool,

    /// The masters of the cluster: firesteel://host:7077; the cluster of this machine unless given
    #[arg(long)]
    pub(crate) master: Option<String>,

    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DecommissionArgs {
    /// The hosts whose workers shall leave
    #[arg(value_name = "HOST", required = true)]
    pub(crate) hosts: Vec<String>,

    /// The masters of the cluster: firesteel://host:7077; the cluster of this machine unless given
    #[arg(long)]
    pub(crate) master: Option<String>,

    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}
