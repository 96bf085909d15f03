//! What a worker tells an executor that it starts: [`Start`].

use std::{collections::BTreeMap, env, fmt::Display, path::PathBuf, str::FromStr, sync::Arc, time::Duration};

use firesteel_deploy::worker::{addresses_from_json, variable};
use firesteel_net::{Address, Secret};
use firesteel_types::{AppId, ExecutorId, Host, ProfileId, ResourceName};

use crate::{Error, Result};

/// The first argument of executors, by which they know what they are.
pub(crate) const ARGUMENT: &str = "--firesteel-executor";

const EXECUTOR: &str = "FIRESTEEL_EXECUTOR_ID";
const SECRET: &str = "FIRESTEEL_APP_SECRET";

/// The variables without which the argument means nothing.
pub(super) const NEEDED: [&str; 2] = [EXECUTOR, SECRET];

/// The identity of this executor and of its application.
pub(super) struct Start {
    pub(super) executor: ExecutorId,
    pub(super) app: AppId,
    pub(super) driver: Address,
    pub(super) host: Host,
    pub(super) cores: u32,
    pub(super) memory_mib: u64,
    pub(super) profile: ProfileId,
    pub(super) secret: Secret,
    /// The worker that started it, whose end is its end.
    pub(super) worker: Option<Address>,
    /// Where people find its logs.
    pub(super) worker_page: Option<String>,
    /// Who serves its shuffle files when it is gone.
    pub(super) shuffle_service: Option<Address>,
    /// How large a message to or from the driver may be.
    pub(super) message_max: u64,
    /// How long the driver may be silent.
    pub(super) network_timeout: Duration,
    /// Where it serves its blocks, and how many ports in a row it tries; any free one when 0.
    pub(super) blocks_port: u16,
    pub(super) port_tries: u16,
    pub(super) folders: Vec<PathBuf>,
    pub(super) resources: BTreeMap<ResourceName, Vec<Arc<str>>>,
}

impl Start {
    /// Reads the environment.
    pub(super) fn from_env() -> Result<Self> {
        let folders = text("FIRESTEEL_LOCAL_DIRS")?;
        let secret = text(SECRET)?;
        let secret =
            Secret::from_hex(&secret).map_err(|error| Error::security(format!("{SECRET}: {error}")))?;
        Ok(Self {
            executor: ExecutorId(value(EXECUTOR)?),
            app: AppId::from(text("FIRESTEEL_APP_ID")?.as_str()),
            driver: value("FIRESTEEL_DRIVER_URL")?,
            host: text("FIRESTEEL_EXECUTOR_HOST")?.as_str().into(),
            cores: value("FIRESTEEL_EXECUTOR_CORES")?,
            memory_mib: value("FIRESTEEL_EXECUTOR_MEMORY_MIB")?,
            profile: ProfileId(value("FIRESTEEL_RESOURCE_PROFILE_ID")?),
            secret,
            worker: optional("FIRESTEEL_WORKER_URL")?,
            worker_page: optional("FIRESTEEL_WORKER_PAGE")?,
            message_max: value("FIRESTEEL_MESSAGE_MAX")?,
            network_timeout: Duration::from_millis(value("FIRESTEEL_NETWORK_TIMEOUT_MS")?),
            shuffle_service: optional("FIRESTEEL_SHUFFLE_SERVICE")?,
            blocks_port: optional("FIRESTEEL_BLOCK_MANAGER_PORT")?.unwrap_or(0),
            port_tries: optional("FIRESTEEL_PORT_MAX_RETRIES")?.unwrap_or(0),
            folders: folders.split(',').filter(|folder| !folder.is_empty()).map(PathBuf::from).collect(),
            resources: resources()?,
        })
    }
}

/// The addresses of custom resources.
fn resources() -> Result<BTreeMap<ResourceName, Vec<Arc<str>>>> {
    let Ok(json) = env::var(variable::RESOURCES) else { return Ok(BTreeMap::new()) };
    let addresses = addresses_from_json(&json).ok_or_else(|| wrong(variable::RESOURCES, &json))?;
    Ok(addresses.into_iter().map(|(name, addresses)| (name, addresses.into_iter().collect())).collect())
}

fn text(variable: &str) -> Result<String> {
    let missing =
        |_| Error::invalid(format!("{variable} is not set: executors are started by workers, not by hand"));
    env::var(variable).map_err(missing)
}

fn value<T: FromStr>(variable: &str) -> Result<T> {
    let text = text(variable)?;
    text.parse().map_err(|_| wrong(variable, &text))
}

fn optional<T: FromStr>(variable: &str) -> Result<Option<T>> {
    if env::var_os(variable).is_none_or(|value| value.is_empty()) {
        Ok(None)
    } else {
        value(variable).map(Some)
    }
}

fn wrong(variable: &str, text: impl Display) -> Error {
    Error::invalid(format!("{variable} does not take `{text}`"))
}
