//! What was typed: one struct for each command, without any meaning yet.
#![expect(clippy::doc_markdown, reason = "these comments are the help that users read, as it stands")]

mod clients;
mod cluster;
mod command;
mod daemons;
mod settings;
mod submit;

pub(crate) use clients::{DecommissionArgs, KillArgs, StatusArgs};
pub(crate) use cluster::{ClusterArgs, ClusterCommand, DownArgs, PlaceArgs, UpArgs};
pub(crate) use command::{Cli, Command};
pub(crate) use daemons::{MasterArgs, WorkerArgs};
pub(crate) use submit::{DeployMode, SubmitArgs};
