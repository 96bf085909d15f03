//! The status of a master in the shape of Spark's `/json`.

use firesteel_deploy::master::{AppStatus, DriverStatusLine, MasterStatus, WorkerLine, WorkerLineState};
use firesteel_scheduler::master::{CompletedApp, DriverOutcome};
use firesteel_types::Timestamp;
use serde_json::{Value, json};

use crate::{json::resources, words};

/// The whole status.
pub(super) fn master(status: &MasterStatus, now: Timestamp) -> Value {
    let alive = || status.workers.iter().filter(|worker| worker.state == WorkerLineState::Alive);
    json!({
        "url": status.url,
        "status": words::master(status.state),
        "workers": status.workers.iter().map(worker).collect::<Vec<_>>(),
        "aliveworkers": alive().count(),
        "cores": alive().map(|worker| u64::from(worker.resources.cores)).sum::<u64>(),
        "coresused": alive().map(|worker| u64::from(worker.cores_used)).sum::<u64>(),
        "memory": alive().map(|worker| worker.resources.memory_mib).sum::<u64>(),
        "memoryused": alive().map(|worker| worker.memory_used_mib).sum::<u64>(),
        "activeapps": status.apps.iter().map(|one| app(one, now)).collect::<Vec<_>>(),
        "completedapps": status.completed_apps.iter().map(completed_app).collect::<Vec<_>>(),
        "activedrivers": status.drivers.iter().map(driver).collect::<Vec<_>>(),
        "completeddrivers": status.completed_drivers.iter().map(driver).collect::<Vec<_>>(),
    })
}

fn worker(worker: &WorkerLine) -> Value {
    let (cores, memory) = (worker.resources.cores, worker.resources.memory_mib);
    json!({
        "id": worker.id.as_str(),
        "host": worker.host.as_str(),
        "port": worker.port,
        "webuiaddress": worker.page,
        "cores": cores,
        "coresused": worker.cores_used,
        "coresfree": cores.saturating_sub(worker.cores_used),
        "memory": memory,
        "memoryused": worker.memory_used_mib,
        "memoryfree": memory.saturating_sub(worker.memory_used_mib),
        "resources": resources(&worker.resources.addresses),
        "state": words::worker(worker.state),
        "lastheartbeat": worker.last_heartbeat.as_millis(),
        "executors": worker.executors.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "drivers": worker.drivers.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// An application that lives.
pub(super) fn app(app: &AppStatus, now: Timestamp) -> Value {
    let executors: Vec<Value> = app
        .executors
        .iter()
        .map(|executor| {
            json!({
                "id": executor.id.0,
                "worker": executor.worker.as_str(),
                "state": words::executor(executor.state),
                "cores": executor.cores,
                "memory": executor.memory_mib,
                "resources": resources(&executor.addresses),
            })
        })
        .collect();
    json!({
        "id": app.id.as_str(),
        "name": app.name,
        "state": words::app(app.state),
        "starttime": app.registered.as_millis(),
        "duration": now.since(app.registered).as_millis() as u64,
        "cores": app.cores_granted,
        "memoryperexecutor": app.executor_memory_mib,
        "webuiaddress": app.page,
        "executors": executors,
    })
}

fn completed_app(app: &CompletedApp) -> Value {
    json!({
        "id": app.id.as_str(),
        "name": app.name,
        "state": words::app_end(app.end),
        "starttime": app.registered.as_millis(),
        "endtime": app.ended.as_millis(),
        "duration": app.ended.since(app.registered).as_millis() as u64,
    })
}

fn driver(driver: &DriverStatusLine) -> Value {
    let mut json = json!({
        "id": driver.id.as_str(),
        "starttime": driver.submitted.as_millis().to_string(),
        "state": words::driver(driver),
        "cores": driver.cores,
        "memory": driver.memory_mib,
        "supervise": driver.supervise,
        "worker": driver.worker.as_ref().map_or("None", |worker| worker.as_str()),
    });
    if let Some((ended, outcome)) = &driver.ended {
        json["endtime"] = ended.as_millis().into();
        match outcome {
            DriverOutcome::Ended { error: Some(error), .. } => json["error"] = error.as_str().into(),
            DriverOutcome::Relaunched { new_id } => json["relaunchedas"] = new_id.as_str().into(),
            DriverOutcome::Ended { error: None, .. } => {}
        }
    }
    json
}
