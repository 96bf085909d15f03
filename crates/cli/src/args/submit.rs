//! The arguments of `firesteel submit`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use firesteel::Conf;

use super::settings::{SettingArgs, set};

/// Where the driver of an application runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeployMode {
    /// Here
    Client,
    /// On a worker of the cluster
    Cluster,
}

#[derive(Debug, Args)]
#[command(override_usage = "firesteel submit [OPTIONS] <APPLICATION> [ARGUMENTS]...")]
pub(crate) struct SubmitArgs {
    #[arg(
        long,
        help = "Where the application runs: firesteel://host:7077, local[4], local-cluster[2,1,1024]"
    )]
    pub(crate) master: Option<String>,

    /// Whether the driver runs here or on a worker of the cluster
    #[arg(long, value_enum, default_value_t = DeployMode::Client)]
    pub(crate) deploy_mode: DeployMode,

    /// The name of the application
    #[arg(long)]
    pub(crate) name: Option<String>,

    /// How many cores each executor has
    #[arg(long)]
    pub(crate) executor_cores: Option<u32>,

    /// How much memory each executor has, such as 2g
    #[arg(long)]
    pub(crate) executor_memory: Option<String>,

    /// How many cores the application takes in all
    #[arg(long)]
    pub(crate) total_executor_cores: Option<u32>,

    /// Files to send along to every executor, separated by commas
    #[arg(long, value_name = "FILE,…", value_delimiter = ',')]
    pub(crate) files: Vec<PathBuf>,

    /// How many cores the driver takes on the cluster
    #[arg(long)]
    pub(crate) driver_cores: Option<u32>,

    /// How much memory the driver takes on the cluster, such as 1g
    #[arg(long)]
    pub(crate) driver_memory: Option<String>,

    /// Has the cluster start the driver again when it fails
    #[arg(long)]
    pub(crate) supervise: bool,

    /// Waits until the driver on the cluster has ended
    #[arg(long)]
    pub(crate) wait: bool,

    #[command(flatten)]
    pub(crate) settings: SettingArgs,

    /// The executable of the application, and its arguments
    // One list, since what follows the executable is never ours, not even what looks like a flag.
    #[arg(value_name = "APPLICATION", required = true, num_args = 1.., trailing_var_arg = true)]
    pub(crate) command: Vec<String>,
}

impl SubmitArgs {
    /// The executable of the application.
    pub(crate) fn application(&self) -> &Path {
        self.command.first().map_or_else(|| Path::new(""), Path::new)
    }

    /// The arguments of the application.
    pub(crate) fn arguments(&self) -> &[String] {
        self.command.get(1..).unwrap_or_default()
    }

    pub(crate) fn conf(&self) -> Result<Conf> {
        let conf = self.settings.read()?;
        let conf = set(conf, "--master", "firesteel.master", self.master.as_ref())?;
        let conf = set(conf, "--name", "firesteel.app.name", self.name.as_ref())?;
        let conf = set(conf, "--executor-cores", "firesteel.executor.cores", self.executor_cores.as_ref())?;
        let conf =
            set(conf, "--executor-memory", "firesteel.executor.memory", self.executor_memory.as_ref())?;
        let conf =
            set(conf, "--total-executor-cores", "firesteel.cores.max", self.total_executor_cores.as_ref())?;
        let conf = set(conf, "--driver-cores", "firesteel.driver.cores", self.driver_cores.as_ref())?;
        let conf = set(conf, "--driver-memory", "firesteel.driver.memory", self.driver_memory.as_ref())?;
        let supervise = self.supervise.then_some(true);
        set(conf, "--supervise", "firesteel.driver.supervise", supervise.as_ref())
    }
}
