//! The arguments of `firesteel cluster`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::settings::SettingArgs;

#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    pub(crate) command: ClusterCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Starts a master and workers on this machine, which go on when the command returns
    Up(UpArgs),
    /// Ends them
    Down(DownArgs),
    /// Shows what runs
    Status(PlaceArgs),
}

/// Which cluster of this machine is meant.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PlaceArgs {
    /// The folder of the cluster; one of the user's own unless given
    #[arg(long)]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct UpArgs {
    /// How many workers
    #[arg(long, short = 'w', default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) workers: u32,

    /// How many cores each worker offers; its share of this machine unless given
    #[arg(long, short = 'c')]
    pub(crate) cores: Option<u32>,

    /// How much memory each worker offers, such as 2g; its share of this machine unless given
    #[arg(long, short = 'm')]
    pub(crate) memory: Option<String>,

    /// The port of the master, or one of those above it; any free one when 0
    #[arg(long, short = 'p')]
    pub(crate) port: Option<u16>,

    /// The port of the master's pages, or one of those above it; any free one when 0
    #[arg(long)]
    pub(crate) webui_port: Option<u16>,

    /// The port of the first worker's pages, or one of those above it; any free one when 0
    #[arg(long)]
    pub(crate) worker_webui_port: Option<u16>,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,

    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DownArgs {
    /// Leaves the logs, and those of executors and drivers, in the folder of the cluster
    #[arg(long)]
    pub(crate) keep_logs: bool,

    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}
