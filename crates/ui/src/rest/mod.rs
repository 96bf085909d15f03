//! Drivers submitted, watched and ended over HTTP, by Spark's REST protocol.
//!
//! `POST /v1/submissions/create`, `GET /v1/submissions/status/<id>`, `POST /v1/submissions/kill/<id>`. The resource of
//! an application is the path of an executable on the master's machine. Where the cluster has a secret, a request must
//! carry a token that is made from it (`Authorization: Bearer …`).

mod bearer;
mod messages;
mod routes;
mod submission;

pub use bearer::rest_token;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
