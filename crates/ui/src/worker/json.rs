//! The status of a worker in the shape of Spark's `/json`.

use firesteel_deploy::worker::WorkerStatus;
use firesteel_scheduler::deploy::Grant;
use firesteel_types::{ExecutorKey, WorkerId};
use serde_json::{Value, json};

use crate::{json::resources, words};

/// The whole status.
pub(super) fn worker(status: &WorkerStatus) -> Value {
    let running =
        status.executors.iter().map(|one| executor(&one.executor, &one.grant, words::executor(one.state)));
    let finished = status.finished_executors.iter().map(|one| {
        let change = &one.change;
        let mut json = executor(&change.executor, &one.grant, words::executor(change.state));
        json["message"] = change.message.clone().into();
        json["exitcode"] = change.exit_code.into();
        json
    });
    let drivers = status.drivers.iter().map(|one| driver(one.driver.as_str(), &one.grant, "RUNNING"));
    let finished_drivers = status.finished_drivers.iter().map(|one| {
        let mut json = driver(one.change.driver.as_str(), &one.grant, words::driver_end(one.change.state));
        json["error"] = one.change.error.clone().into();
        json
    });
    json!({
        "id": status.id.as_ref().map(WorkerId::as_str),
        "url": status.url,
        "masterurl": status.master.as_ref().map(|master| format!("firesteel://{master}")),
        "cores": status.resources.cores,
        "coresused": status.cores_used,
        "memory": status.resources.memory_mib,
        "memoryused": status.memory_used_mib,
        "resources": resources(&status.resources.addresses),
        "executors": running.collect::<Vec<_>>(),
        "finishedexecutors": finished.collect::<Vec<_>>(),
        "drivers": drivers.collect::<Vec<_>>(),
        "finisheddrivers": finished_drivers.collect::<Vec<_>>(),
    })
}

fn executor(key: &ExecutorKey, grant: &Grant, state: &str) -> Value {
    json!({
        "id": key.executor.0,
        "appid": key.app.as_str(),
        "state": state,
        "cores": grant.cores,
        "memory": grant.memory_mib,
        "resources": resources(&grant.addresses),
    })
}

fn driver(id: &str, grant: &Grant, state: &str) -> Value {
    json!({
        "id": id,
        "state": state,
        "cores": grant.cores,
        "memory": grant.memory_mib,
        "resources": resources(&grant.addresses),
    })
}
