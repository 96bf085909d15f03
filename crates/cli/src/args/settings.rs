//! Settings on the command line.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use firesteel::Conf;

use crate::exit::Usage;

/// Where settings come from. Later ones go before earlier ones: file, environment, `--conf`, other flags.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SettingArgs {
    /// Sets one of the settings of docs/settings.md; may be given several times
    #[arg(long = "conf", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,

    /// Reads settings from a file, one `key value` a line
    #[arg(long, value_name = "FILE")]
    pub(crate) properties_file: Option<PathBuf>,
}

impl SettingArgs {
    /// The settings of the environment, the file and the command line.
    pub(crate) fn read(&self) -> Result<Conf> {
        let mut conf = Conf::from_env()?;
        if let Some(path) = &self.properties_file {
            conf = conf.read_file(path).context("--properties-file")?;
        }
        for setting in &self.settings {
            let Some((key, value)) = setting.split_once('=') else {
                return Err(Usage(format!("--conf {setting}: write it as key=value")).into());
            };
            conf = conf.set(key.trim(), value).with_context(|| format!("--conf {setting}"))?;
        }
        Ok(conf)
    }
}

/// Sets the value of a flag, if it was given.
pub(crate) fn set<T: std::fmt::Display>(
    conf: Conf,
    flag: &str,
    key: &str,
    value: Option<&T>,
) -> Result<Conf> {
    match value {
        Some(value) => conf.set(key, value).with_context(|| format!("{flag} {value}")),
        None => Ok(conf),
    }
}
