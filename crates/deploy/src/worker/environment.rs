//! What a worker sets in the environment of a process.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use firesteel_net::Secret;
use firesteel_scheduler::{
    deploy::Addresses,
    worker::{ProcessOwner, ProcessStart},
};
use serde::{Deserialize, Serialize};

/// The names of the variables that tell a process of the cluster what it is.
///
/// Those that carry placeholders are put into the command by the application; the others are set by the worker.
pub mod variable {
    /// The number of an executor, in the command as `{{EXECUTOR_ID}}`.
    pub const EXECUTOR_ID: &str = "FIRESTEEL_EXECUTOR_ID";
    /// Where the driver listens, in the command as `{{DRIVER_URL}}`.
    pub const DRIVER_URL: &str = "FIRESTEEL_DRIVER_URL";
    /// The host of the worker, in the command as `{{HOSTNAME}}`.
    pub const EXECUTOR_HOST: &str = "FIRESTEEL_EXECUTOR_HOST";
    /// How many tasks run at once, in the command as `{{CORES}}`.
    pub const EXECUTOR_CORES: &str = "FIRESTEEL_EXECUTOR_CORES";
    /// The application, in the command as `{{APP_ID}}`.
    pub const APP_ID: &str = "FIRESTEEL_APP_ID";
    /// Where the worker is watched. In the command of executors as `{{WORKER_URL}}`; set by the worker for drivers.
    pub const WORKER_URL: &str = "FIRESTEEL_WORKER_URL";
    /// Where the pages of the worker are, with the logs of the process; absent when it has none.
    pub const WORKER_PAGE: &str = "FIRESTEEL_WORKER_PAGE";
    /// The resource profile, in the command as `{{RESOURCE_PROFILE_ID}}`.
    pub const RESOURCE_PROFILE_ID: &str = "FIRESTEEL_RESOURCE_PROFILE_ID";
    /// The application's secret: sealed in the command, plain and in hexadecimal in the process.
    pub const APP_SECRET: &str = "FIRESTEEL_APP_SECRET";
    /// The memory of an executor in mebibytes.
    pub const EXECUTOR_MEMORY_MIB: &str = "FIRESTEEL_EXECUTOR_MEMORY_MIB";
    /// The folders for blocks and shuffle files, separated by commas.
    pub const LOCAL_DIRS: &str = "FIRESTEEL_LOCAL_DIRS";
    /// Where the worker serves shuffle files; absent when it does not.
    pub const SHUFFLE_SERVICE: &str = "FIRESTEEL_SHUFFLE_SERVICE";
    /// The folder with the files that were sent along.
    pub const FILES_DIR: &str = "FIRESTEEL_FILES_DIR";
    /// The addresses of custom resources, as JSON in the form of Spark's resource files.
    pub const RESOURCES: &str = "FIRESTEEL_RESOURCES";
    /// The id of a driver that the cluster runs.
    pub const DRIVER_ID: &str = "FIRESTEEL_DRIVER_ID";
    /// The memory of a driver in mebibytes.
    pub const DRIVER_MEMORY_MIB: &str = "FIRESTEEL_DRIVER_MEMORY_MIB";
    /// The cluster's secret in hexadecimal behind `hex:`, for drivers only: they register with the master.
    pub const CLUSTER_SECRET: &str = "FIRESTEEL_AUTHENTICATE_SECRET";
}

/// What the names of all our variables begin with. A process inherits none from its worker.
pub(super) const PREFIX: &str = "FIRESTEEL_";

/// What the worker knows that a process must.
pub(super) struct Told<'a> {
    pub(super) worker_url: &'a str,
    pub(super) worker_page: Option<&'a str>,
    pub(super) shuffle_service: Option<&'a str>,
    pub(super) app_secret: Option<&'a Secret>,
    pub(super) cluster_secret: Option<String>,
    pub(super) files_dir: &'a Path,
}

/// The variables of a process: those of its command, and on top of them those that the worker sets.
pub(super) fn environment(start: &ProcessStart, told: &Told<'_>) -> BTreeMap<String, String> {
    use variable as v;
    let mut set = start.command.environment.clone();
    let mut put = |name: &str, value: String| set.insert(name.to_owned(), value);
    match &start.owner {
        ProcessOwner::Executor(_) => {
            put(v::EXECUTOR_MEMORY_MIB, start.grant.memory_mib.to_string());
            put(v::LOCAL_DIRS, start.local_dirs.join(","));
            if let Some(service) = told.shuffle_service {
                put(v::SHUFFLE_SERVICE, service.to_owned());
            }
            if let Some(secret) = told.app_secret {
                put(v::APP_SECRET, secret.to_hex());
            }
        }
        ProcessOwner::Driver(driver) => {
            put(v::DRIVER_ID, driver.to_string());
            put(v::DRIVER_MEMORY_MIB, start.grant.memory_mib.to_string());
            put(v::WORKER_URL, told.worker_url.to_owned());
            if let Some(secret) = &told.cluster_secret {
                put(v::CLUSTER_SECRET, secret.clone());
            }
        }
    }
    if let Some(page) = told.worker_page {
        put(v::WORKER_PAGE, page.to_owned());
    }
    put(v::FILES_DIR, told.files_dir.to_string_lossy().into_owned());
    if !start.grant.addresses.is_empty() {
        put(v::RESOURCES, addresses_to_json(&start.grant.addresses));
    }
    set
}

/// One resource as Spark's resource files list it.
#[derive(Serialize, Deserialize)]
struct Allocation {
    id: Id,
    addresses: BTreeSet<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Id {
    resource_name: String,
}

/// Addresses as [`variable::RESOURCES`] carries them.
fn addresses_to_json(addresses: &Addresses) -> String {
    let list: Vec<_> = addresses
        .iter()
        .map(|(name, addresses)| Allocation {
            id: Id { resource_name: name.to_string() },
            addresses: addresses.iter().map(ToString::to_string).collect(),
        })
        .collect();
    serde_json::to_string(&list).expect("texts can be written")
}

/// Reads what a worker has put into [`variable::RESOURCES`]; none if it is something else.
///
/// ```
/// # use firesteel_deploy::worker::addresses_from_json;
/// let addresses = addresses_from_json(r#"[{"id":{"resourceName":"gpu"},"addresses":["0","1"]}]"#);
/// assert_eq!(addresses.unwrap()["gpu"].len(), 2);
/// assert!(addresses_from_json("gpu=0").is_none());
/// ```
pub fn addresses_from_json(json: &str) -> Option<Addresses> {
    let list: Vec<Allocation> = serde_json::from_str(json).ok()?;
    let one = |one: Allocation| {
        let addresses = one.addresses.into_iter().map(Arc::from).collect();
        (one.id.resource_name.as_str().into(), addresses)
    };
    Some(list.into_iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use firesteel_scheduler::{
        deploy::{Command, Grant},
        worker::ProcessId,
    };
    use firesteel_types::ExecutorKey;

    use super::*;

    fn start(owner: ProcessOwner) -> ProcessStart {
        let environment = [("MINE", "1"), (variable::APP_SECRET, "sealed")];
        let gpus = [("gpu".into(), ["0".into(), "1".into()].into())].into();
        ProcessStart {
            process: ProcessId(1),
            owner,
            command: Command {
                environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
                ..Command::default()
            },
            work_dir: "/w/app-1/0".to_owned(),
            local_dirs: vec!["/a".to_owned(), "/b".to_owned()],
            driver_url: None,
            grant: Grant { cores: 2, memory_mib: 512, addresses: gpus },
        }
    }

    #[test]
    fn an_executor_is_told_its_memory_folders_secret_and_addresses_and_not_the_secret_of_the_cluster() {
        let app = Secret::random();
        let told = Told {
            worker_url: "w:1",
            worker_page: Some("http://w:8081"),
            shuffle_service: Some("w:1"),
            app_secret: Some(&app),
            cluster_secret: Some("of the cluster".to_owned()),
            files_dir: Path::new("/w/app-1/0/files"),
        };

        let set = environment(&start(ProcessOwner::Executor(ExecutorKey::new("app-1", 0))), &told);

        let expected: BTreeMap<String, String> = [
            ("MINE", "1"),
            (variable::APP_SECRET, &app.to_hex()),
            (variable::EXECUTOR_MEMORY_MIB, "512"),
            (variable::LOCAL_DIRS, "/a,/b"),
            (variable::SHUFFLE_SERVICE, "w:1"),
            (variable::WORKER_PAGE, "http://w:8081"),
            (variable::FILES_DIR, "/w/app-1/0/files"),
            (variable::RESOURCES, r#"[{"id":{"resourceName":"gpu"},"addresses":["0","1"]}]"#),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        assert_eq!(set, expected);
    }

    #[test]
    fn a_driver_is_told_its_id_where_to_watch_and_the_secret_of_the_cluster() {
        let told = Told {
            worker_url: "w:1",
            worker_page: None,
            shuffle_service: Some("w:1"),
            app_secret: None,
            cluster_secret: Some("of the cluster".to_owned()),
            files_dir: Path::new("/f"),
        };

        let set = environment(&start(ProcessOwner::Driver("driver-1".into())), &told);

        assert_eq!(set[variable::DRIVER_ID], "driver-1");
        assert_eq!(set[variable::WORKER_URL], "w:1");
        assert_eq!(set[variable::CLUSTER_SECRET], "of the cluster");
        assert!(!set.contains_key(variable::SHUFFLE_SERVICE) && !set.contains_key(variable::LOCAL_DIRS));
    }
}
