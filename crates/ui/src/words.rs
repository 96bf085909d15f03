//! The states of workers, applications and drivers in Spark's words.

use firesteel_deploy::master::{DriverStatusLine, WorkerLineState};
use firesteel_scheduler::{
    deploy::{DriverState, ExecutorState},
    master::{AppEnd, AppState, DriverOutcome, RecoveryState},
};

pub(crate) fn master(state: RecoveryState) -> &'static str {
    match state {
        RecoveryState::Standby => "STANDBY",
        RecoveryState::Recovering => "RECOVERING",
        RecoveryState::CompletingRecovery => "COMPLETING_RECOVERY",
        RecoveryState::Alive => "ALIVE",
    }
}

pub(crate) fn worker(state: WorkerLineState) -> &'static str {
    match state {
        WorkerLineState::Alive => "ALIVE",
        WorkerLineState::Unknown => "UNKNOWN",
        WorkerLineState::Decommissioned => "DECOMMISSIONED",
        WorkerLineState::Dead => "DEAD",
    }
}

pub(crate) fn app(state: AppState) -> &'static str {
    match state {
        AppState::Waiting => "WAITING",
        AppState::Running => "RUNNING",
        AppState::Unknown => "UNKNOWN",
    }
}

pub(crate) fn app_end(end: AppEnd) -> &'static str {
    match end {
        AppEnd::Finished => "FINISHED",
        AppEnd::Failed => "FAILED",
    }
}

pub(crate) fn driver(driver: &DriverStatusLine) -> &'static str {
    match (&driver.ended, &driver.worker) {
        (None, None) => "SUBMITTED",
        (None, Some(_)) => "RUNNING",
        (Some((_, DriverOutcome::Ended { state, .. })), _) => driver_end(*state),
        (Some((_, DriverOutcome::Relaunched { .. })), _) => "RELAUNCHING",
    }
}

pub(crate) fn driver_end(state: DriverState) -> &'static str {
    match state {
        DriverState::Finished => "FINISHED",
        DriverState::Killed => "KILLED",
        DriverState::Failed => "FAILED",
        DriverState::Error => "ERROR",
    }
}

pub(crate) fn executor(state: ExecutorState) -> &'static str {
    match state {
        ExecutorState::Launching => "LAUNCHING",
        ExecutorState::Running => "RUNNING",
        ExecutorState::Decommissioned => "DECOMMISSIONED",
        ExecutorState::Killed => "KILLED",
        ExecutorState::Failed => "FAILED",
        ExecutorState::Lost => "LOST",
        ExecutorState::Exited => "EXITED",
    }
}
