//! What a master process is told at its start: [`MasterServerConf`].

use std::{path::PathBuf, time::Duration};

use firesteel_net::LineConf;
use firesteel_scheduler::master::MasterConfig;

use crate::{security::Security, store::Compression};

/// What a master process is told at its start.
#[derive(Clone, Debug)]
pub struct MasterServerConf {
    /// Where it listens (`firesteel.master.host`).
    pub host: String,
    /// The name by which others reach it; what it listens at when there is none.
    pub public_host: Option<String>,
    /// The port it listens on; 0 is any (`firesteel.master.port`).
    pub port: u16,
    /// How many further ports are tried when that one is taken (`firesteel.port.maxRetries`).
    pub port_tries: u16,
    /// The settings of its machine.
    pub machine: MasterConfig,
    /// What survives it (`firesteel.deploy.recoveryMode`).
    pub store: StoreConf,
    /// Where uploaded artifacts are kept; a folder that goes with the master when there is none.
    pub artifacts: Option<PathBuf>,
    /// The longest artifact that may be uploaded.
    pub max_artifact: u64,
    /// How long an artifact that no driver needs is kept.
    pub artifact_age: Duration,
    /// The secret and the certificates.
    pub security: Security,
    /// What its lines allow.
    pub line: LineConf,
}

/// What of a master survives it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum StoreConf {
    /// Nothing.
    None,
    /// Its workers, applications and drivers, one file each (`firesteel.deploy.recoveryDirectory`).
    Files { folder: PathBuf, compression: Compression },
}

impl MasterServerConf {
    /// A master at `port` of `host` that stores nothing, with the usual settings.
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self {
            host: host.into(),
            public_host: None,
            port,
            port_tries: 16,
            machine: MasterConfig::default(),
            store: StoreConf::None,
            artifacts: None,
            max_artifact: 8 << 30,
            artifact_age: Duration::from_hours(1),
            security: Security::default(),
            line: LineConf::default(),
        }
    }
}
