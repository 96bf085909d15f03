//! What is said in the protocol.

use std::collections::BTreeMap;

use firesteel_types::DriverId;
use serde::{Deserialize, Serialize};

/// The server version in replies.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The only version of the protocol.
pub(super) const PROTOCOL: &str = "v1";

/// Asks for a driver to be run.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateSubmissionRequest {
    pub(super) action: String,
    pub(super) app_resource: String,
    #[serde(default)]
    pub(super) app_args: Vec<String>,
    #[serde(default)]
    pub(super) spark_properties: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) environment_variables: BTreeMap<String, String>,
    /// The class of a JVM program, which means nothing here.
    #[serde(default, rename = "mainClass")]
    _main_class: Option<String>,
    #[serde(default, rename = "clientSparkVersion")]
    _client_version: Option<String>,
    /// The other fields of the request.
    #[serde(flatten)]
    pub(super) others: BTreeMap<String, serde_json::Value>,
}

/// An answer about a driver.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SubmissionResponse {
    pub(super) action: &'static str,
    pub(super) server_spark_version: &'static str,
    pub(super) submission_id: String,
    pub(super) success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) driver_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) worker_id: Option<String>,
    /// The fields of the request that were not understood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unknown_fields: Vec<String>,
}

impl SubmissionResponse {
    pub(super) fn new(action: &'static str, driver: &DriverId, success: bool) -> Self {
        let submission_id = driver.to_string();
        Self { action, server_spark_version: VERSION, submission_id, success, ..Self::default() }
    }
}

/// What went wrong.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorResponse {
    action: &'static str,
    server_spark_version: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    highest_protocol_version: Option<&'static str>,
}

impl ErrorResponse {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            action: "ErrorResponse",
            server_spark_version: VERSION,
            message: message.into(),
            highest_protocol_version: None,
        }
    }

    /// The client speaks another version.
    pub(super) fn of_another_version(message: impl Into<String>) -> Self {
        Self { highest_protocol_version: Some(PROTOCOL), ..Self::new(message) }
    }
}
