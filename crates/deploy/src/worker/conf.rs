//! What a worker process is told at its start: [`WorkerServerConf`].

use std::{collections::BTreeMap, path::PathBuf};

use firesteel_net::{Address, LineConf};
use firesteel_scheduler::worker::WorkerConfig;

use crate::{master_links::Redial, security::Security};

/// What a worker process is told at its start.
#[derive(Clone, Debug)]
pub struct WorkerServerConf {
    /// Where it listens (`firesteel.worker.host`).
    pub host: String,
    /// The name by which others reach it; what it listens at when there is none.
    pub public_host: Option<String>,
    /// The port it listens on; 0 is any (`firesteel.worker.port`).
    pub port: u16,
    /// How many further ports are tried when that one is taken (`firesteel.port.maxRetries`).
    pub port_tries: u16,
    /// Where executors and drivers run and their logs are (`firesteel.worker.dir`).
    pub work_dir: PathBuf,
    /// Below which executors keep blocks and shuffle files (`firesteel.local.dir`).
    pub local_dirs: Vec<PathBuf>,
    /// Where its pages are, for people; told to its master and to its processes.
    pub page: Option<String>,
    /// The settings of its machine. Its host, port, url and folders are filled in when it starts.
    pub machine: WorkerConfig,
    /// Whether it serves the shuffle files of its executors (`firesteel.shuffle.service.enabled`).
    pub shuffle_service: bool,
    /// How the logs of its processes are cut (`firesteel.executor.logs.rolling.maxSize` and `.maxRetainedFiles`).
    pub rolling: LogRolling,
    /// Whether artifacts may name files of this machine. Only for workers in the process of the driver itself.
    pub believe_paths: bool,
    /// Set in the environment of every process, such as the settings of TLS.
    pub environment: BTreeMap<String, String>,
    /// The secret and the certificates.
    pub security: Security,
    /// What its lines allow.
    pub line: LineConf,
    /// How patiently it looks for masters.
    pub redial: Redial,
}

/// How the log of a process is cut into files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogRolling {
    /// How long a file may be before the next one is begun; none for one file of any length.
    pub max_bytes: Option<u64>,
    /// How many full files are kept; none for all.
    pub retained: Option<usize>,
}

impl WorkerServerConf {
    /// A worker at any port of `host` that offers `cores` and `memory_mib` to `masters`, with the usual settings.
    pub fn new(
        host: impl Into<String>,
        masters: &[Address],
        cores: u32,
        memory_mib: u64,
        work_dir: impl Into<PathBuf>,
    ) -> Self {
        let host = host.into();
        let masters = masters.iter().map(|master| master.to_string().into()).collect();
        let work_dir = work_dir.into();
        Self {
            machine: WorkerConfig::new(host.as_str(), 0, masters, cores, memory_mib),
            host,
            public_host: None,
            page: None,
            port: 0,
            port_tries: 16,
            local_dirs: vec![std::env::temp_dir()],
            work_dir,
            shuffle_service: true,
            rolling: LogRolling::default(),
            believe_paths: false,
            environment: BTreeMap::new(),
            security: Security::default(),
            line: LineConf::default(),
            redial: Redial::default(),
        }
    }
}
