//! The settings of the master, checked once at the start.
//!
//! [`MasterConfig`] is plain data; [`MasterConfig::check`] tells whether a master can run with it. Where the settings
//! come from is not known here.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::deploy::{IdPattern, IdPatternError};

/// What the master is told at its start. The defaults are Spark's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MasterConfig {
    /// How application ids are made (`firesteel.deploy.appIdPattern`).
    pub app_id_pattern: String,
    /// Where the number in application ids starts again from 0, if it does (`firesteel.deploy.appNumberModulo`).
    pub app_number_modulo: Option<u64>,
    /// How driver ids are made (`firesteel.deploy.driverIdPattern`).
    pub driver_id_pattern: String,
    /// How long a worker may be silent, and how often the master looks (`firesteel.worker.timeout`).
    pub worker_timeout: Duration,
    /// For how many further timeouts a dead worker stays listed (`firesteel.dead.worker.persistence`).
    pub dead_worker_persistence: u32,
    /// How long recovery waits for answers; none is the worker timeout (`firesteel.deploy.recoveryTimeout`).
    pub recovery_timeout: Option<Duration>,
    /// How many drivers may run at once; none is any number (`firesteel.deploy.maxDrivers`).
    pub max_drivers: Option<u32>,
    /// After how many failed executors in a row an application is removed; none is never
    /// (`firesteel.deploy.maxExecutorRetries`, where Spark writes a negative number for never).
    pub max_executor_retries: Option<u32>,
    /// How many ended applications are remembered (`firesteel.deploy.retainedApplications`).
    pub retained_apps: usize,
    /// How many ended drivers are remembered (`firesteel.deploy.retainedDrivers`).
    pub retained_drivers: usize,
    /// How the executors of an application are placed (`firesteel.deploy.spreadOutApps`).
    pub app_placement: Placement,
    /// How drivers are placed (`firesteel.deploy.spreadOutDrivers`).
    pub driver_placement: Placement,
    /// Which workers are asked first for executors (`firesteel.deploy.workerSelectionPolicy`).
    pub worker_selection: WorkerSelection,
    /// Core maximum of an application that gives none; none is unlimited (`firesteel.deploy.defaultCores`).
    pub default_cores: Option<u32>,
}

impl Default for MasterConfig {
    fn default() -> Self {
        Self {
            app_id_pattern: "app-%s-%04d".to_owned(),
            app_number_modulo: None,
            driver_id_pattern: "driver-%s-%04d".to_owned(),
            worker_timeout: Duration::from_mins(1),
            dead_worker_persistence: 15,
            recovery_timeout: None,
            max_drivers: None,
            max_executor_retries: Some(10),
            retained_apps: 200,
            retained_drivers: 200,
            app_placement: Placement::SpreadOut,
            driver_placement: Placement::SpreadOut,
            worker_selection: WorkerSelection::MostCoresFree,
            default_cores: None,
        }
    }
}

/// Whether many workers get a little each, or few get much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// One executor or driver on each worker in turn.
    SpreadOut,
    /// One worker is filled before the next.
    Packed,
}

/// In which order workers are asked for executors. Ties go by id in the same direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkerSelection {
    /// Fewest free cores first (`CORES_FREE_ASC`).
    FewestCoresFree,
    /// Most free cores first (`CORES_FREE_DESC`).
    MostCoresFree,
    /// Least free memory first (`MEMORY_FREE_ASC`).
    LeastMemoryFree,
    /// Most free memory first (`MEMORY_FREE_DESC`).
    MostMemoryFree,
    /// In order of the ids (`WORKER_ID`).
    WorkerId,
}

/// Why a master cannot run with its settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum MasterConfigError {
    /// No application id can be made.
    #[error("cannot name applications; correct firesteel.deploy.appIdPattern")]
    AppIdPattern { source: IdPatternError },
    /// No driver id can be made.
    #[error("cannot name drivers; correct firesteel.deploy.driverIdPattern")]
    DriverIdPattern { source: IdPatternError },
    /// A number that must be positive is 0.
    #[error("{key} is 0; set it to a positive value")]
    Zero { key: &'static str },
}

/// The patterns of a checked configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IdPatterns {
    pub(super) app: IdPattern,
    pub(super) driver: IdPattern,
}

impl MasterConfig {
    /// Reads the patterns and refuses values no master can run with.
    pub(super) fn check(&self) -> Result<IdPatterns, MasterConfigError> {
        let must_be_positive = [
            ("firesteel.deploy.appNumberModulo", self.app_number_modulo == Some(0)),
            ("firesteel.worker.timeout", self.worker_timeout < Duration::from_micros(1)),
            ("firesteel.deploy.maxDrivers", self.max_drivers == Some(0)),
            ("firesteel.deploy.defaultCores", self.default_cores == Some(0)),
        ];
        if let Some((key, _)) = must_be_positive.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(MasterConfigError::Zero { key });
        }
        let app = IdPattern::numbered(&self.app_id_pattern)
            .map_err(|source| MasterConfigError::AppIdPattern { source })?;
        let driver = IdPattern::numbered(&self.driver_id_pattern)
            .map_err(|source| MasterConfigError::DriverIdPattern { source })?;
        Ok(IdPatterns { app, driver })
    }

    pub(super) fn recovery_timeout(&self) -> Duration {
        self.recovery_timeout.unwrap_or(self.worker_timeout)
    }

    /// How long after its last sign of life a dead worker is still listed.
    pub(super) fn dead_worker_kept(&self) -> Duration {
        self.worker_timeout.saturating_mul(self.dead_worker_persistence.saturating_add(1))
    }
}
