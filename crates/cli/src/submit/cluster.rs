//! Cluster mode: a worker runs the driver.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Result, bail};
use firesteel::{Conf, settings};
use firesteel_deploy::submit::DriverSubmission;
use firesteel_scheduler::{deploy::DriverState, master::DriverStatus};
use firesteel_types::DriverId;

use super::files;
use crate::{
    args::SubmitArgs,
    log,
    master_choice::Chosen,
    output::{print, tell},
};

/// Gives the driver to the cluster, prints its id, and looks after it.
pub(super) fn run(args: &SubmitArgs) -> Result<ExitCode> {
    log::start(tracing::level_filters::LevelFilter::ERROR);
    let conf = args.conf()?;
    let chosen = Chosen::new(&conf, None)?;
    let files = files::sent_along(&args.files)?;
    let submission = DriverSubmission {
        executable: files::executable(args.application())?,
        arguments: args.arguments().to_vec(),
        environment: environment(&conf, &chosen.url(), &files)?,
        files,
        cores: conf.get(settings::DRIVER_CORES),
        memory_mib: conf.get(settings::DRIVER_MEMORY) >> 20,
        resources: BTreeMap::new(),
        supervise: conf.get(settings::DRIVER_SUPERVISE),
    };
    let client = chosen.client(&conf)?;
    let driver = client.submit(&submission)?;
    print(&format!("{driver}\n"));
    let last = client.follow(&driver, args.wait, |driver, status| tell(&in_words(driver, status)))?;
    match last {
        Some(DriverStatus::Ended { state: DriverState::Finished, .. }) => Ok(ExitCode::SUCCESS),
        Some(DriverStatus::Ended { .. }) => Ok(ExitCode::FAILURE),
        Some(_) => Ok(ExitCode::SUCCESS),
        None => bail!("the master does not know {driver} any more; was its history emptied?"),
    }
}

/// What the driver finds in its environment. Secrets and certificates are the business of its worker.
fn environment(conf: &Conf, master: &str, files: &[PathBuf]) -> Result<BTreeMap<String, String>> {
    let stays_here = |key: &str| {
        key.starts_with("firesteel.authenticate.")
            || key.starts_with("firesteel.ssl.")
            || key == settings::MASTER.key()
            || key == settings::FILES.key()
    };
    let mut lines = String::new();
    for (key, value, _) in conf.iter().filter(|(key, ..)| !stays_here(key)) {
        writeln!(lines, "{key}={value}").expect("a text takes whatever is written to it");
    }
    // They are beside the driver, which finds them by their names.
    let names = files.iter().filter_map(|file| file.file_name()).map(Path::new);
    if let Some(list) = files::as_setting(names)? {
        writeln!(lines, "{}={list}", settings::FILES.key()).expect("a text takes whatever is written to it");
    }
    let variable = |name: &str, value: String| (name.to_owned(), value);
    Ok(BTreeMap::from([
        variable("FIRESTEEL_MASTER", master.to_owned()),
        variable("FIRESTEEL_SETTINGS", lines),
    ]))
}

fn in_words(driver: &DriverId, status: &DriverStatus) -> String {
    match status {
        DriverStatus::Submitted => format!("{driver} waits for a worker with room"),
        DriverStatus::Running { worker } => format!("{driver} runs on {worker}"),
        DriverStatus::Ended { state, error, .. } => {
            let how = match state {
                DriverState::Finished => "has finished",
                DriverState::Killed => "was ended",
                DriverState::Failed => "has failed; its log is on its worker's page",
                DriverState::Error => "could not be run",
            };
            error
                .as_ref()
                .map_or_else(|| format!("{driver} {how}"), |error| format!("{driver} {how}: {error}"))
        }
        DriverStatus::Relaunched { new_id, .. } => {
            format!("the worker of {driver} was lost; it was submitted again as {new_id}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_gets_settings_and_no_secrets() {
        let conf = Conf::new()
            .set("firesteel.authenticate.secret", "0123456789abcdef")
            .and_then(|conf| conf.set("firesteel.ssl.key", "/home/me/key.pem"))
            .and_then(|conf| conf.set("firesteel.master", "firesteel://h1:1,h2:2"))
            .and_then(|conf| conf.set("firesteel.executor.memory", "2g"))
            .unwrap();

        let environment =
            environment(&conf, "firesteel://h1:1,h2:2", &["/home/me/words.txt".into()]).unwrap();

        assert_eq!(environment["FIRESTEEL_MASTER"], "firesteel://h1:1,h2:2");
        let expected = "firesteel.executor.memory=2g\nfiresteel.files=words.txt\n";
        assert_eq!(environment["FIRESTEEL_SETTINGS"], expected);
    }
}
