//! Which address shows what.

use std::sync::Arc;

use axum::{Router, extract::Query, routing::get};
use serde::Deserialize;

use super::{job_page, other_pages, rest, source::AppSource, stage_page};
use crate::{
    html::{Page, now},
    serve::{Answer, Pages, ask},
};

#[derive(Debug, Deserialize)]
struct Wanted {
    id: u32,
    #[serde(default)]
    attempt: u32,
}

impl Pages {
    /// The pages of an application, and its data below `/api/v1`.
    pub fn app(source: Arc<dyn AppSource>) -> Self {
        Self::new(move || {
            let one = |path, of| one(&source, path, of);
            let all = |path, of| all(&source, path, of);
            Router::new()
                .route("/", get(|| async { Answer::See("/jobs/") }))
                .merge(all("/jobs", |source| job_page::jobs(&source.application(), &source.jobs(), now())))
                .merge(all("/stages", |source| {
                    stage_page::stages(&source.application(), &source.stages(), now())
                }))
                .merge(all("/executors", |source| {
                    other_pages::executors(&source.application(), &source.executors())
                }))
                .merge(all("/storage", |source| {
                    other_pages::storage(&source.application(), &source.storage())
                }))
                .merge(all("/environment", |source| {
                    other_pages::environment(&source.application(), &source.environment())
                }))
                .merge(one("/jobs/job", job))
                .merge(one("/stages/stage", stage))
                .merge(rest::routes(&source))
        })
    }
}

/// With and without a slash at its end.
fn all(source: &Arc<dyn AppSource>, path: &str, of: fn(&dyn AppSource) -> Page) -> Router {
    let source = source.clone();
    let route = get(move || {
        let source = source.clone();
        ask(move || Answer::Page(of(&*source)))
    });
    Router::new().route(path, route.clone()).route(&format!("{path}/"), route)
}

fn one(source: &Arc<dyn AppSource>, path: &str, of: fn(&dyn AppSource, &Wanted) -> Answer) -> Router {
    let source = source.clone();
    let route = get(move |Query(wanted): Query<Wanted>| {
        let source = source.clone();
        ask(move || of(&*source, &wanted))
    });
    Router::new().route(path, route.clone()).route(&format!("{path}/"), route)
}

fn job(source: &dyn AppSource, wanted: &Wanted) -> Answer {
    match source.jobs().into_iter().find(|job| job.job_id.0 == wanted.id) {
        Some(job) => Answer::Page(job_page::job(&source.application(), &job, &source.stages(), now())),
        None => Answer::not_found(format!("job {} is not known, or not any more", wanted.id)),
    }
}

fn stage(source: &dyn AppSource, wanted: &Wanted) -> Answer {
    let stages = source.stages();
    let found = stages.iter().find(|one| (one.stage_id.0, one.attempt_id) == (wanted.id, wanted.attempt));
    match found {
        Some(stage) => Answer::Page(stage_page::stage(&source.application(), stage, now())),
        None => Answer::not_found(format!("stage {} is not known, or not any more", wanted.id)),
    }
}
