//! Client mode: this process becomes the application.

use std::{
    os::unix::process::CommandExt as _,
    process::{Command, ExitCode},
};

use anyhow::{Result, anyhow};
use firesteel::settings;

use super::files;
use crate::{args::SubmitArgs, exit::Usage};

/// Runs the application in the place of this process, with the settings in its environment.
pub(super) fn run(args: &SubmitArgs) -> Result<ExitCode> {
    if args.supervise || args.wait {
        let text = "--supervise and --wait are for --deploy-mode cluster: here the application runs in your terminal";
        return Err(Usage(text.to_owned()).into());
    }
    let mut conf = args.conf()?;
    if let Some(list) = files::as_setting(files::sent_along(&args.files)?)? {
        conf = conf.set(settings::FILES, list)?;
    }
    let executable = files::executable(args.application())?;
    let mut command = Command::new(&executable);
    command.args(args.arguments());
    // All of them are in the settings by now, the file's included.
    command.env_remove("FIRESTEEL_CONF").env_remove("FIRESTEEL_APP_NAME");
    command.env("FIRESTEEL_MASTER", conf.get(settings::MASTER).to_string());
    command.env("FIRESTEEL_SETTINGS", conf.to_lines());
    // Returns only when it failed.
    let error = command.exec();
    Err(anyhow!("cannot run {}: {error}", executable.display()))
}
