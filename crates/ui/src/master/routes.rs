//! Which address shows what.

use std::sync::Arc;

use axum::{Router, extract::Query, routing::get};
use firesteel_deploy::master::MasterStatus;
use firesteel_types::Timestamp;
use serde::Deserialize;

use super::{json, page, source::MasterSource};
use crate::{
    html::now,
    serve::{Answer, Pages, ask},
};

impl Pages {
    /// The pages of a master: workers, applications, drivers.
    pub fn master(source: Arc<dyn MasterSource>) -> Self {
        Self::new(move || {
            let overview = show(&source, |status, now| Answer::Page(page::overview(status, now)));
            let json = show(&source, |status, now| Answer::json(&json::master(status, now)));
            let app = get(move |Query(wanted): Query<Wanted>| {
                let source = source.clone();
                ask(move || {
                    source.status().map_or_else(|| Answer::gone("master"), |status| one(&status, &wanted))
                })
            });
            Router::new()
                .route("/", overview)
                .route("/json", json.clone())
                .route("/json/", json)
                .route("/app", app.clone())
                .route("/app/", app)
        })
    }
}

#[derive(Deserialize)]
struct Wanted {
    #[serde(rename = "appId", default)]
    app: String,
}

fn show(
    source: &Arc<dyn MasterSource>,
    of: fn(&MasterStatus, Timestamp) -> Answer,
) -> axum::routing::MethodRouter {
    let source = source.clone();
    get(move || {
        let source = source.clone();
        ask(move || source.status().map_or_else(|| Answer::gone("master"), |status| of(&status, now())))
    })
}

fn one(status: &MasterStatus, wanted: &Wanted) -> Answer {
    match status.apps.iter().find(|app| app.id.as_str() == wanted.app) {
        Some(app) => Answer::Page(page::app(app, &status.workers, now())),
        None => Answer::not_found(format!(
            "no application `{}` is running; completed ones are on the overview",
            wanted.app
        )),
    }
}
