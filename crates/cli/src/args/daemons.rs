//! The arguments of `firesteel master` and `firesteel worker`.

use anyhow::Result;
use clap::Args;
use firesteel::Conf;

use super::settings::{SettingArgs, set};

/// What both daemons take.
#[derive(Debug, Args)]
pub(crate) struct DaemonArgs {
    /// Where to listen; without a cluster secret only this machine can be listened for
    #[arg(long)]
    pub(crate) host: Option<String>,

    /// The port to listen on, or one of those above it; any free one when 0
    #[arg(long, short = 'p')]
    pub(crate) port: Option<u16>,

    /// The port of the pages, or one of those above it; any free one when 0
    #[arg(long)]
    pub(crate) webui_port: Option<u16>,

    /// Leaves the terminal that it was started from
    #[arg(long, hide = true)]
    pub(crate) new_session: bool,

    #[command(flatten)]
    pub(crate) settings: SettingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MasterArgs {
    #[command(flatten)]
    pub(crate) daemon: DaemonArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// The masters of the cluster: firesteel://host:7077, with more behind commas
    #[arg(value_name = "MASTER")]
    pub(crate) master: String,

    /// How many cores to offer; all of this machine unless given
    #[arg(long, short = 'c')]
    pub(crate) cores: Option<u32>,

    /// How much memory to offer, such as 4g; all of this machine but 1g unless given
    #[arg(long, short = 'm')]
    pub(crate) memory: Option<String>,

    /// Where executors run and their logs are; ./work unless given
    #[arg(long, short = 'd')]
    pub(crate) work_dir: Option<String>,

    /// A custom resource to offer, and the program that finds its addresses; may be given several times
    #[arg(long = "resource", value_name = "NAME=AMOUNT[:PROGRAM]")]
    pub(crate) resources: Vec<String>,

    #[command(flatten)]
    pub(crate) daemon: DaemonArgs,
}

impl MasterArgs {
    pub(crate) fn conf(&self) -> Result<Conf> {
        self.daemon.conf(["firesteel.master.host", "firesteel.master.port", "firesteel.master.ui.port"])
    }
}

impl WorkerArgs {
    pub(crate) fn conf(&self) -> Result<Conf> {
        let keys = ["firesteel.worker.host", "firesteel.worker.port", "firesteel.worker.ui.port"];
        let conf = self.daemon.conf(keys)?;
        let conf = set(conf, "--cores", "firesteel.worker.cores", self.cores.as_ref())?;
        let conf = set(conf, "--memory", "firesteel.worker.memory", self.memory.as_ref())?;
        set(conf, "--work-dir", "firesteel.worker.dir", self.work_dir.as_ref())
    }
}

impl DaemonArgs {
    fn conf(&self, [host, port, ui_port]: [&str; 3]) -> Result<Conf> {
        let conf = self.settings.read()?;
        let conf = set(conf, "--host", host, self.host.as_ref())?;
        let conf = set(conf, "--port", port, self.port.as_ref())?;
        set(conf, "--webui-port", ui_port, self.webui_port.as_ref())
    }
}
