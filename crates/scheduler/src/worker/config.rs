//! The settings of a worker.

use std::{collections::BTreeMap, time::Duration};

use firesteel_types::{Host, ResourceName};

use crate::deploy::{IdPattern, IdPatternError, MasterAddress};

/// What a worker must know before it starts. [`WorkerConfig::new`] fills in Spark's defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerConfig {
    /// Its host.
    pub host: Host,
    /// Its port.
    pub port: u16,
    /// Where its executors reach it.
    pub url: String,
    /// Where its pages are, for people.
    pub page: Option<String>,
    /// Every master that may lead.
    pub masters: Vec<MasterAddress>,
    /// Cores it offers.
    pub cores: u32,
    /// Memory it offers, in mebibytes.
    pub memory_mib: u64,
    /// Custom resources it must have.
    pub resources: BTreeMap<ResourceName, ResourceRequest>,
    /// A file that lists resources given to this worker.
    pub resource_file: Option<String>,
    /// How its id is made.
    pub id_pattern: String,
    /// Where executors and drivers run, each application in a directory of its own.
    pub work_dir: String,
    /// Where executors keep blocks and shuffle files, each application in a directory of its own.
    pub local_roots: Vec<String>,
    /// The first tries to register again, at short intervals.
    pub initial_registration_tries: u32,
    /// All tries to register again.
    pub max_registration_tries: u32,
    /// Time between the first tries.
    pub initial_registration_interval: Duration,
    /// Time between later tries.
    pub prolonged_registration_interval: Duration,
    /// Whether to register again at the address that was set, not at the one the master names as its own.
    pub prefer_configured_master_address: bool,
    /// Time between heartbeats: a quarter of the time after which a master gives a worker up.
    pub heartbeat_interval: Duration,
    /// How often the state of an executor is sent before the worker gives up.
    pub state_sync_tries: u32,
    /// How long a master may take to acknowledge a state.
    pub state_sync_timeout: Duration,
    /// Whether old directories of applications are removed.
    pub cleaning_enabled: bool,
    /// How often.
    pub cleaning_interval: Duration,
    /// How old the newest file in such a directory must be.
    pub app_data_retention: Duration,
    /// Finished executors kept for people to look at.
    pub retained_executors: usize,
    /// Finished drivers kept for people to look at.
    pub retained_drivers: usize,
    /// How long a process may take to end after a signal.
    pub terminate_timeout: Duration,
    /// A supervised driver that ran longer than this is started again after the first wait.
    pub successful_run: Duration,
    /// Whether the worker can be told to drain.
    pub decommission_enabled: bool,
}

/// A custom resource the worker is configured to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceRequest {
    /// The least number of addresses.
    pub amount: u32,
    /// The program that finds them when the resource file does not list any.
    pub discovery_script: Option<String>,
}

/// Why a worker cannot be made from its settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum WorkerConfigError {
    /// It would offer no memory.
    #[error("the worker's memory is below 1 MiB; is the unit missing at the end of the setting?")]
    NoMemory,
    /// It would offer no cores.
    #[error("the worker has no cores; offer at least one")]
    NoCores,
    /// It would never find a master.
    #[error("no master is given; name at least one")]
    NoMasters,
    /// It would be busy with nothing else.
    #[error("{setting} is zero; give a time above zero")]
    ZeroTime { setting: &'static str },
    /// Its id could not be made.
    #[error(transparent)]
    IdPattern(#[from] IdPatternError),
}

impl WorkerConfig {
    const GIB_IN_MIB: u64 = 1024;

    /// A worker at `host` and `port` that registers with `masters` and offers `cores` and `memory_mib`.
    pub fn new(
        host: impl Into<Host>,
        port: u16,
        masters: Vec<MasterAddress>,
        cores: u32,
        memory_mib: u64,
    ) -> Self {
        let host = host.into();
        Self {
            url: format!("{host}:{port}"),
            page: None,
            host,
            port,
            masters,
            cores,
            memory_mib,
            resources: BTreeMap::new(),
            resource_file: None,
            id_pattern: IdPattern::DEFAULT_WORKER.to_owned(),
            work_dir: "work".to_owned(),
            local_roots: vec!["local".to_owned()],
            initial_registration_tries: 6,
            max_registration_tries: 16,
            initial_registration_interval: Duration::from_secs(10),
            prolonged_registration_interval: Duration::from_mins(1),
            prefer_configured_master_address: false,
            heartbeat_interval: Duration::from_secs(15),
            state_sync_tries: 5,
            state_sync_timeout: Duration::from_mins(2),
            cleaning_enabled: true,
            cleaning_interval: Duration::from_mins(30),
            app_data_retention: Duration::from_hours(7 * 24),
            retained_executors: 1000,
            retained_drivers: 1000,
            terminate_timeout: Duration::from_secs(10),
            successful_run: Duration::from_secs(5),
            decommission_enabled: false,
        }
    }

    /// The cores and mebibytes a machine offers unless others are set: all of its cpus, and its memory
    /// without one gibibyte that the operating system keeps, but never less than one gibibyte.
    pub const fn default_resources(cpus: u32, total_memory_mib: u64) -> (u32, u64) {
        let rest = total_memory_mib.saturating_sub(Self::GIB_IN_MIB);
        (cpus, if rest > Self::GIB_IN_MIB { rest } else { Self::GIB_IN_MIB })
    }

    /// A memory setting of `bytes` in mebibytes. Less than one is an error: most likely a unit was forgotten.
    pub const fn memory_mib(bytes: u64) -> Result<u64, WorkerConfigError> {
        match bytes / (1024 * 1024) {
            0 => Err(WorkerConfigError::NoMemory),
            mib => Ok(mib),
        }
    }

    /// Checks what the machine relies on, and gives the pattern of the worker's id.
    pub(super) fn check(&self) -> Result<IdPattern, WorkerConfigError> {
        if self.memory_mib == 0 {
            return Err(WorkerConfigError::NoMemory);
        }
        if self.cores == 0 {
            return Err(WorkerConfigError::NoCores);
        }
        if self.masters.is_empty() {
            return Err(WorkerConfigError::NoMasters);
        }
        let times = [
            ("the initial registration interval", self.initial_registration_interval),
            ("the prolonged registration interval", self.prolonged_registration_interval),
            ("the heartbeat interval", self.heartbeat_interval),
            ("the state sync timeout", self.state_sync_timeout),
            ("the cleaning interval", self.cleaning_interval),
        ];
        // Half of the interval is the least that is used, and it must not round down to nothing.
        let too_short = |time: Duration| time < Duration::from_micros(2);
        match times.into_iter().find(|&(_, time)| too_short(time)) {
            Some((setting, _)) => Err(WorkerConfigError::ZeroTime { setting }),
            None => Ok(IdPattern::worker(&self.id_pattern)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> WorkerConfig {
        WorkerConfig::new("h1", 7078, vec!["m1".into()], 4, 1024)
    }

    /// Behaviours: WORK-009.
    #[test]
    fn default_resources_leave_a_gibibyte_to_the_system() {
        assert_eq!(WorkerConfig::default_resources(8, 16_384), (8, 15_360));
        assert_eq!(WorkerConfig::default_resources(2, 1_500), (2, 1024));
        assert_eq!(WorkerConfig::default_resources(2, 512), (2, 1024));
    }

    /// Behaviours: WORK-009.
    #[test]
    fn memory_that_amounts_to_nothing_is_rejected() {
        let no_memory = WorkerConfig { memory_mib: 0, ..config() };

        assert_eq!(no_memory.check(), Err(WorkerConfigError::NoMemory));
        assert_eq!(WorkerConfig::memory_mib(10_000), Err(WorkerConfigError::NoMemory));
        assert_eq!(WorkerConfig::memory_mib(5 << 30), Ok(5 * 1024));
    }

    #[test]
    fn settings_that_cannot_work_are_rejected() {
        let no_cores = WorkerConfig { cores: 0, ..config() };
        let no_masters = WorkerConfig { masters: vec![], ..config() };
        let no_interval = WorkerConfig { heartbeat_interval: Duration::ZERO, ..config() };
        let bad_pattern = WorkerConfig { id_pattern: String::new(), ..config() };

        assert_eq!(config().check(), Ok(IdPattern::worker(IdPattern::DEFAULT_WORKER).unwrap()));
        assert_eq!(no_cores.check(), Err(WorkerConfigError::NoCores));
        assert_eq!(no_masters.check(), Err(WorkerConfigError::NoMasters));
        let setting = "the heartbeat interval";
        assert_eq!(no_interval.check(), Err(WorkerConfigError::ZeroTime { setting }));
        assert_eq!(bad_pattern.check(), Err(WorkerConfigError::IdPattern(IdPatternError::Empty)));
    }
}
