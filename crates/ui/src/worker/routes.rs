//! Which address shows what.

use std::sync::Arc;

use axum::{Router, extract::Query, http::StatusCode, routing::get};
use firesteel_deploy::worker::{LogError, WorkerStatus};

use super::{
    json,
    logs::{self, LogQuery},
    page,
    source::WorkerSource,
};
use crate::serve::{Answer, Pages, ask};

impl Pages {
    /// The pages of a worker: executors, drivers and their logs.
    pub fn worker(source: Arc<dyn WorkerSource>) -> Self {
        Self::new(move || {
            let overview = show(&source, |status| Answer::Page(page::overview(status)));
            let json = show(&source, |status| Answer::json(&json::worker(status)));
            let log_page = log(&source, |request, slice| Answer::Page(logs::page(request, &slice)));
            let bare_log = log(&source, |_, slice| Answer::Raw(slice.bytes));
            Router::new()
                .route("/", overview)
                .route("/json", json.clone())
                .route("/json/", json)
                .route("/logPage", log_page.clone())
                .route("/logPage/", log_page)
                .route("/log", bare_log.clone())
                .route("/log/", bare_log)
        })
    }
}

fn show(source: &Arc<dyn WorkerSource>, of: fn(&WorkerStatus) -> Answer) -> axum::routing::MethodRouter {
    let source = source.clone();
    get(move || {
        let source = source.clone();
        ask(move || source.status().map_or_else(|| Answer::gone("worker"), |status| of(&status)))
    })
}

type ShowLog = fn(&firesteel_deploy::worker::LogRequest, firesteel_deploy::worker::LogSlice) -> Answer;

fn log(source: &Arc<dyn WorkerSource>, of: ShowLog) -> axum::routing::MethodRouter {
    let source = source.clone();
    get(move |Query(query): Query<LogQuery>| {
        let source = source.clone();
        ask(move || {
            let request = match query.request() {
                Ok(request) => request,
                Err(missing) => return Answer::Text(StatusCode::BAD_REQUEST, missing.to_owned()),
            };
            match source.log(&request) {
                Ok(slice) => of(&request, slice),
                Err(error @ (LogError::BadName { .. } | LogError::Missing { .. })) => {
                    Answer::not_found(error.to_string())
                }
                Err(error) => Answer::Text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
            }
        })
    })
}
