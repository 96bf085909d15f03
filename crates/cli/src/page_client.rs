//! Asking the pages of a master.

use std::time::Duration;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;

/// How long a page may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// More than any status is long.
const BYTES_MAX: u64 = 64 << 20;

/// The JSON at `path` of the pages at `page`.
pub(crate) fn get_json<T: DeserializeOwned>(page: &str, path: &str) -> Result<T> {
    let url = format!("{page}{path}");
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(REQUEST_TIMEOUT))
        // Requests to a cluster go through no proxy.
        .proxy(None)
        .build()
        .into();
    let mut answer = agent.get(&url).call().with_context(|| format!("cannot ask {url}"))?;
    let text = answer.body_mut().with_config().limit(BYTES_MAX).read_to_string();
    let text = text.with_context(|| format!("cannot read what {url} answers"))?;
    serde_json::from_str(&text).with_context(|| format!("{url} answers something else than a status"))
}
