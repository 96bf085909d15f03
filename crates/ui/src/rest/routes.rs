//! Which address does what.

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::Path,
    http::{HeaderMap, Method, StatusCode, Uri, header},
    routing::{get, post},
};
use firesteel_deploy::submit::{SubmitClient, SubmitError};
use firesteel_net::Secret;
use firesteel_scheduler::master::DriverStatus;
use firesteel_types::DriverId;

use super::{
    bearer::is_allowed,
    messages::{ErrorResponse, PROTOCOL, SubmissionResponse},
    submission::understand,
};
use crate::{
    serve::{Answer, Pages, ask},
    words,
};

/// What Spark answers to another version of its protocol.
const UNKNOWN_PROTOCOL_VERSION: u16 = 468;

/// What the requests are carried out with.
struct Submissions {
    client: SubmitClient,
    /// Where drivers find the cluster, as users write it.
    master: String,
    secret: Option<Secret>,
}

impl Pages {
    /// Spark's REST protocol for drivers that the cluster runs.
    ///
    /// `master` is the address, as users write it, that drivers get. With a secret, a request must carry it.
    pub fn submissions(client: SubmitClient, master: impl Into<String>, secret: Option<Secret>) -> Self {
        let submissions = Arc::new(Submissions { client, master: master.into(), secret });
        Self::with_own_fallback(move || {
            let (create, status, kill) = (submissions.clone(), submissions.clone(), submissions);
            let create = post(move |headers: HeaderMap, body: Bytes| async move {
                if !declares_json(&headers) {
                    return refused(
                        StatusCode::UNSUPPORTED_MEDIA_TYPE,
                        "a request is JSON and says so: Content-Type: application/json",
                    );
                }
                answer(create, headers, move |submissions| submissions.create(&body)).await
            });
            let status = get(move |Path(id): Path<String>, headers: HeaderMap| {
                answer(status, headers, move |submissions| submissions.status(&id.into()))
            });
            let kill = post(move |Path(id): Path<String>, headers: HeaderMap| {
                answer(kill, headers, move |submissions| submissions.kill(&id.into()))
            });
            Router::new()
                .route("/v1/submissions/create", create)
                .route("/v1/submissions/status/{id}", status)
                .route("/v1/submissions/kill/{id}", kill)
                .fallback(|method: Method, uri: Uri| async move { elsewhere(&method, &uri) })
                .method_not_allowed_fallback(
                    |method: Method, uri: Uri| async move { elsewhere(&method, &uri) },
                )
        })
    }
}

/// Whether the request declares JSON: a page of another site cannot without a preflight request, which is not granted.
fn declares_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

async fn answer(
    submissions: Arc<Submissions>,
    headers: HeaderMap,
    of: impl FnOnce(&Submissions) -> Answer + Send + 'static,
) -> Answer {
    if !is_allowed(&headers, submissions.secret.as_ref()) {
        let message =
            "this cluster has a secret: send its token with the request as `Authorization: Bearer <token>`";
        return refused(StatusCode::UNAUTHORIZED, message);
    }
    ask(move || of(&submissions)).await
}

impl Submissions {
    fn create(&self, body: &[u8]) -> Answer {
        let understood = match understand(body, &self.master) {
            Ok(understood) => understood,
            Err(message) => return refused(StatusCode::BAD_REQUEST, message),
        };
        match self.client.submit(&understood.driver) {
            Ok(driver) => Answer::json(&SubmissionResponse {
                message: Some(format!("driver successfully submitted as {driver}")),
                unknown_fields: understood.unknown,
                ..SubmissionResponse::new("CreateSubmissionResponse", &driver, true)
            }),
            Err(error) => failed(&error),
        }
    }

    fn status(&self, driver: &DriverId) -> Answer {
        let found = match self.client.status(driver) {
            Ok(found) => found,
            Err(error) => return failed(&error),
        };
        let response = SubmissionResponse::new("SubmissionStatusResponse", driver, found.is_some());
        let worker = |worker: &Option<firesteel_types::WorkerId>| worker.as_ref().map(ToString::to_string);
        Answer::json(&match found {
            None => SubmissionResponse { message: Some(format!("there is no driver {driver}")), ..response },
            Some(DriverStatus::Submitted) => {
                SubmissionResponse { driver_state: Some("SUBMITTED"), ..response }
            }
            Some(DriverStatus::Running { worker }) => SubmissionResponse {
                driver_state: Some("RUNNING"),
                worker_id: Some(worker.to_string()),
                ..response
            },
            Some(DriverStatus::Ended { state, worker: on, error }) => SubmissionResponse {
                driver_state: Some(words::driver_end(state)),
                worker_id: worker(&on),
                message: error,
                ..response
            },
            Some(DriverStatus::Relaunched { worker: on, new_id }) => SubmissionResponse {
                driver_state: Some("RELAUNCHING"),
                worker_id: worker(&on),
                message: Some(format!("its worker was lost, and it was submitted again as {new_id}")),
                ..response
            },
        })
    }

    fn kill(&self, driver: &DriverId) -> Answer {
        match self.client.kill(driver) {
            Ok(accepted) => {
                let message = if accepted {
                    format!("{driver} was told to end")
                } else {
                    format!("{driver} is not known, or has ended")
                };
                let response = SubmissionResponse::new("KillSubmissionResponse", driver, accepted);
                Answer::json(&SubmissionResponse { message: Some(message), ..response })
            }
            Err(error) => failed(&error),
        }
    }
}

fn refused(status: StatusCode, message: impl Into<String>) -> Answer {
    Answer::json_with(status, &ErrorResponse::new(message))
}

fn failed(error: &SubmitError) -> Answer {
    let status = match error {
        SubmitError::BadDriver { .. } | SubmitError::File { .. } => StatusCode::BAD_REQUEST,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    refused(status, error.to_string())
}

/// An address that is none of the protocol's, or one of another version of it.
fn elsewhere(method: &Method, uri: &Uri) -> Answer {
    let mut parts = uri.path().split('/').skip(1);
    let version = parts.next().unwrap_or_default();
    let is_version = version.strip_prefix('v').is_some_and(|number| number.parse::<u32>().is_ok());
    if is_version && version != PROTOCOL && parts.next() == Some("submissions") {
        let status = StatusCode::from_u16(UNKNOWN_PROTOCOL_VERSION).expect("a number of three digits");
        let message = format!("unknown protocol version `{version}`");
        return Answer::json_with(status, &ErrorResponse::of_another_version(message));
    }
    refused(
        StatusCode::BAD_REQUEST,
        format!(
            "{method} {} means nothing here; use POST /v1/submissions/create, GET /v1/submissions/status/<id> or \
             POST /v1/submissions/kill/<id>",
            uri.path()
        ),
    )
}
