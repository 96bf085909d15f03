//! `/api/v1`: the data of an application in the shape of Spark's REST API.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Query},
    http::StatusCode,
    routing::get,
};
use firesteel_types::{JobId, StageId};
use serde::Deserialize;
use serde_json::json;

use super::{JobStatus, StageStatus, application::Listed, source::AppSource};
use crate::{
    html::now,
    serve::{Answer, ask},
};

const APPLICATIONS: &str = "/api/v1/applications";

/// `?status=…`, which may stand several times in Spark; the first counts here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OfStatus {
    status: Option<String>,
}

/// All addresses below `/api/v1`.
pub(super) fn routes(source: &Arc<dyn AppSource>) -> Router {
    let of_app = |path: &str| format!("{APPLICATIONS}/{{app}}{path}");
    let source_of_all = source.clone();
    let all = get(move || {
        let source = source_of_all.clone();
        ask(move || Answer::json(&[Listed { application: &source.application(), now: now() }]))
    });
    Router::new()
        .route(
            "/api/v1/version",
            get(|| async { Answer::json(&json!({ "spark": env!("CARGO_PKG_VERSION") })) }),
        )
        .route(APPLICATIONS, all)
        .merge(plain(source, &of_app(""), |source| {
            Answer::json(&Listed { application: &source.application(), now: now() })
        }))
        .merge(plain(source, &of_app("/allexecutors"), |source| Answer::json(&source.executors())))
        .merge(plain(source, &of_app("/executors"), |source| {
            let active: Vec<_> =
                source.executors().into_iter().filter(|executor| executor.is_active).collect();
            Answer::json(&active)
        }))
        .merge(plain(source, &of_app("/storage/rdd"), |source| Answer::json(&source.storage())))
        .merge(plain(source, &of_app("/environment"), |source| Answer::json(&source.environment())))
        .merge(with_status(source, &of_app("/jobs"), jobs))
        .merge(with_status(source, &of_app("/stages"), stages))
        .merge(numbered(source, &of_app("/jobs/{id}"), job))
        .merge(numbered(source, &of_app("/stages/{id}"), stage))
        .merge(attempt(source, &of_app("/stages/{id}/{attempt}")))
}

/// An answer for the one application that is here; else that there is no such application.
fn of_app(source: &dyn AppSource, app: &str, answer: impl FnOnce() -> Answer) -> Answer {
    if app == source.application().id { answer() } else { Answer::not_found(format!("no such app: {app}")) }
}

fn plain(source: &Arc<dyn AppSource>, path: &str, of: fn(&dyn AppSource) -> Answer) -> Router {
    let source = source.clone();
    Router::new().route(
        path,
        get(move |Path(app): Path<String>| {
            let source = source.clone();
            ask(move || of_app(&*source, &app, || of(&*source)))
        }),
    )
}

fn with_status(
    source: &Arc<dyn AppSource>,
    path: &str,
    of: fn(&dyn AppSource, Option<&str>) -> Answer,
) -> Router {
    let source = source.clone();
    Router::new().route(
        path,
        get(move |Path(app): Path<String>, Query(wanted): Query<OfStatus>| {
            let source = source.clone();
            ask(move || of_app(&*source, &app, || of(&*source, wanted.status.as_deref())))
        }),
    )
}

fn numbered(source: &Arc<dyn AppSource>, path: &str, of: fn(&dyn AppSource, u32) -> Answer) -> Router {
    let source = source.clone();
    Router::new().route(
        path,
        get(move |Path((app, id)): Path<(String, u32)>| {
            let source = source.clone();
            ask(move || of_app(&*source, &app, || of(&*source, id)))
        }),
    )
}

fn attempt(source: &Arc<dyn AppSource>, path: &str) -> Router {
    let source = source.clone();
    Router::new().route(
        path,
        get(move |Path((app, id, attempt)): Path<(String, u32, u32)>| {
            let source = source.clone();
            ask(move || {
                of_app(&*source, &app, || {
                    let stages = source.stages();
                    let wanted =
                        stages.iter().find(|stage| (stage.stage_id.0, stage.attempt_id) == (id, attempt));
                    wanted.map_or_else(|| unknown_stage(id), Answer::json)
                })
            })
        }),
    )
}

fn jobs(source: &dyn AppSource, status: Option<&str>) -> Answer {
    let wanted = match status.map(str::to_ascii_lowercase).as_deref() {
        None => None,
        Some("running") => Some(JobStatus::Running),
        Some("succeeded") => Some(JobStatus::Succeeded),
        Some("failed") => Some(JobStatus::Failed),
        Some(_) => return bad_status("running, succeeded or failed"),
    };
    // Newest first, as Spark gives them.
    let jobs = source.jobs().into_iter().rev();
    Answer::json(&jobs.filter(|job| wanted.is_none_or(|status| job.status == status)).collect::<Vec<_>>())
}

fn stages(source: &dyn AppSource, status: Option<&str>) -> Answer {
    let wanted = match status.map(str::to_ascii_lowercase).as_deref() {
        None => None,
        Some("active") => Some(StageStatus::Active),
        Some("complete") => Some(StageStatus::Complete),
        Some("pending") => Some(StageStatus::Pending),
        Some("failed") => Some(StageStatus::Failed),
        Some("skipped") => Some(StageStatus::Skipped),
        Some(_) => return bad_status("active, complete, pending, failed or skipped"),
    };
    let stages = source.stages().into_iter().rev();
    Answer::json(
        &stages.filter(|stage| wanted.is_none_or(|status| stage.status == status)).collect::<Vec<_>>(),
    )
}

fn job(source: &dyn AppSource, id: u32) -> Answer {
    let wanted = source.jobs().into_iter().find(|job| job.job_id == JobId(id));
    wanted.map_or_else(|| Answer::not_found(format!("unknown job: {id}")), |job| Answer::json(&job))
}

/// Every attempt of a stage.
fn stage(source: &dyn AppSource, id: u32) -> Answer {
    let mut attempts = source.stages();
    attempts.retain(|stage| stage.stage_id == StageId(id));
    if attempts.is_empty() { unknown_stage(id) } else { Answer::json(&attempts) }
}

fn unknown_stage(id: u32) -> Answer {
    Answer::not_found(format!("unknown stage: {id}"))
}

fn bad_status(known: &str) -> Answer {
    Answer::Text(StatusCode::BAD_REQUEST, format!("unknown status; use {known}"))
}
