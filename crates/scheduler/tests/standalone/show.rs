//! Messages as short lines, so that a whole conversation can be compared.

use firesteel_scheduler::{
    deploy::{MasterToWorker, WorkerReport, WorkerToMaster},
    master::{AppMessage, MasterEvent, Reply},
};

pub(crate) fn master_event(event: &MasterEvent) -> String {
    match event {
        MasterEvent::FromWorker { message, .. } => worker_to_master(message),
        MasterEvent::RegisterApplication { .. } => "RegisterApplication".to_owned(),
        MasterEvent::UnregisterApplication { .. } => "UnregisterApplication".to_owned(),
        MasterEvent::ReconnectApplication { .. } => "ReconnectApplication".to_owned(),
        MasterEvent::MasterChangeAcknowledged { .. } => "MasterChangeAcknowledged".to_owned(),
        MasterEvent::RequestExecutors { totals, .. } => {
            format!("RequestExecutors {}", totals.iter().map(|wanted| wanted.total).sum::<i64>())
        }
        MasterEvent::KillExecutors { executors, .. } => format!("KillExecutors {}", executors.join(" ")),
        MasterEvent::RequestSubmitDriver { .. } => "RequestSubmitDriver".to_owned(),
        MasterEvent::RequestKillDriver { .. } => "RequestKillDriver".to_owned(),
        MasterEvent::RequestKillAllDrivers { .. } => "RequestKillAllDrivers".to_owned(),
        MasterEvent::RequestDriverStatus { .. } => "RequestDriverStatus".to_owned(),
        MasterEvent::RequestClearCompleted { .. } => "RequestClearCompleted".to_owned(),
        MasterEvent::DecommissionWorkersOnHosts { hosts, .. } => {
            format!("DecommissionWorkersOnHosts {}", hosts.join(" "))
        }
        MasterEvent::Elected
        | MasterEvent::Recovered { .. }
        | MasterEvent::RevokedLeadership
        | MasterEvent::Tick
        | MasterEvent::Disconnected { .. } => unreachable!("no peer says this"),
    }
}

fn worker_to_master(message: &WorkerToMaster) -> String {
    match message {
        WorkerToMaster::RegisterWorker { contacted, .. } => format!("RegisterWorker at {contacted}"),
        WorkerToMaster::Heartbeat { .. } => "Heartbeat".to_owned(),
        WorkerToMaster::LatestState(report) => format!("LatestState {}", list(report)),
        WorkerToMaster::SchedulerState(report) => format!("SchedulerState {}", list(report)),
        WorkerToMaster::ExecutorStateChanged { change, .. } => {
            let code = change.exit_code.map_or_else(String::new, |code| format!(" {code}"));
            format!("ExecutorStateChanged {} {:?}{code}", change.executor.executor.0, change.state)
        }
        WorkerToMaster::DriverStateChanged { change, .. } => {
            format!("DriverStateChanged {} {:?}", number(change.driver.as_str()), change.state)
        }
        WorkerToMaster::WorkerDecommissioning { .. } => "WorkerDecommissioning".to_owned(),
    }
}

/// Executors with their states, then drivers.
fn list(report: &WorkerReport) -> String {
    let executors =
        report.executors.iter().map(|report| format!("{} {:?}", report.executor.executor.0, report.state));
    let drivers = report.drivers.iter().map(|report| format!("driver {}", number(report.driver.as_str())));
    format!("[{}]", executors.chain(drivers).collect::<Vec<_>>().join(", "))
}

pub(crate) fn master_to_worker(message: &MasterToWorker) -> String {
    match message {
        MasterToWorker::RegisteredWorker { duplicate: false, .. } => "RegisteredWorker".to_owned(),
        MasterToWorker::RegisteredWorker { duplicate: true, .. } => "RegisteredWorker duplicate".to_owned(),
        MasterToWorker::RegisterWorkerFailed { .. } => "RegisterWorkerFailed".to_owned(),
        MasterToWorker::MasterInStandby => "MasterInStandby".to_owned(),
        MasterToWorker::MasterChanged => "MasterChanged".to_owned(),
        MasterToWorker::ReconnectWorker => "ReconnectWorker".to_owned(),
        MasterToWorker::LaunchExecutor(launch) => format!("LaunchExecutor {}", launch.executor.executor.0),
        MasterToWorker::KillExecutor { executor } => format!("KillExecutor {}", executor.executor.0),
        MasterToWorker::ExecutorStateAck { executor, state } => {
            format!("ExecutorStateAck {} {state:?}", executor.executor.0)
        }
        MasterToWorker::LaunchDriver(launch) => format!("LaunchDriver {}", number(launch.driver.as_str())),
        MasterToWorker::KillDriver { driver } => format!("KillDriver {}", number(driver.as_str())),
        MasterToWorker::DriverStateAck { driver } => format!("DriverStateAck {}", number(driver.as_str())),
        MasterToWorker::ApplicationFinished { .. } => "ApplicationFinished".to_owned(),
        MasterToWorker::DecommissionWorker => "DecommissionWorker".to_owned(),
    }
}

pub(crate) fn app_message(message: &AppMessage) -> String {
    match message {
        AppMessage::ExecutorAdded { executor, host, .. } => format!("ExecutorAdded {} on {host}", executor.0),
        AppMessage::ExecutorUpdated { executor, state, exit_code, worker_host, .. } => {
            let code = exit_code.map_or_else(String::new, |code| format!(" {code}"));
            let host = worker_host.as_ref().map_or_else(String::new, |host| format!(" with {host}"));
            format!("ExecutorUpdated {} {state:?}{code}{host}", executor.0)
        }
        AppMessage::WorkerRemoved { host, .. } => format!("WorkerRemoved {host}"),
        AppMessage::ApplicationRemoved { .. } => "ApplicationRemoved".to_owned(),
        AppMessage::MasterChanged => "MasterChanged".to_owned(),
    }
}

pub(crate) fn reply(reply: &Reply) -> String {
    match reply {
        Reply::RegisteredApplication { app } => format!("RegisteredApplication {}", number(app.as_str())),
        Reply::DriverSubmitted { driver } => format!("DriverSubmitted {}", number(driver.as_str())),
        Reply::DriverKilled { driver, accepted } => {
            format!("DriverKilled {} {accepted}", number(driver.as_str()))
        }
        Reply::RegisterApplicationFailed { .. }
        | Reply::ExecutorsRequested { .. }
        | Reply::ExecutorsKilled { .. }
        | Reply::AllDriversKilled
        | Reply::DriverStatus { .. }
        | Reply::CompletedCleared
        | Reply::NotAlive { .. }
        | Reply::WorkersDecommissioned { .. } => format!("{reply:?}"),
    }
}

/// The number at the end of an id.
fn number(id: &str) -> &str {
    id.rsplit('-').next().unwrap_or(id)
}
