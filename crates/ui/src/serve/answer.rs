//! What a page answers: [`Answer`].

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use crate::html::Page;

/// What a page answers.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A page for people.
    Page(Page),
    /// JSON with a status.
    Json(StatusCode, Vec<u8>),
    /// A plain text with a status.
    Text(StatusCode, String),
    /// Bytes of a log as they are.
    Raw(Vec<u8>),
    /// Look there.
    See(&'static str),
}

impl Answer {
    /// `value` as JSON.
    pub(crate) fn json(value: &impl Serialize) -> Self {
        Self::json_with(StatusCode::OK, value)
    }

    /// `value` as JSON, with a status.
    pub(crate) fn json_with(status: StatusCode, value: &impl Serialize) -> Self {
        match serde_json::to_vec_pretty(value) {
            Ok(json) => Self::Json(status, json),
            Err(error) => {
                Self::Text(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot be written as JSON: {error}"))
            }
        }
    }

    /// There is no such thing.
    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::Text(StatusCode::NOT_FOUND, what.into())
    }

    /// Who is asked is not there any more.
    pub(crate) fn gone(who: &str) -> Self {
        Self::Text(StatusCode::SERVICE_UNAVAILABLE, format!("the {who} has ended"))
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
        const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
        const JSON: HeaderValue = HeaderValue::from_static("application/json");
        let kind = |kind| [(header::CONTENT_TYPE, kind)];
        match self {
            Self::Page(page) => (kind(HTML), page.render()).into_response(),
            Self::Json(status, json) => (status, kind(JSON), json).into_response(),
            Self::Text(status, text) => (status, kind(TEXT), text + "\n").into_response(),
            Self::Raw(bytes) => (kind(TEXT), bytes).into_response(),
            Self::See(to) => {
                (StatusCode::FOUND, [(header::LOCATION, HeaderValue::from_static(to))]).into_response()
            }
        }
    }
}

/// Gives the answer of `question`, which may wait, without keeping other connections waiting.
pub(crate) async fn ask(question: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    tokio::task::spawn_blocking(question).await.unwrap_or_else(|error| {
        tracing::error!(%error, "a page could not be made");
        Answer::Text(StatusCode::INTERNAL_SERVER_ERROR, "the page could not be made; see the log".to_owned())
    })
}
