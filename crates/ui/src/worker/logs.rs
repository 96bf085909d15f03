//! Parts of logs: what was asked for, and its page.

use std::collections::BTreeMap;

use firesteel_deploy::worker::{LogOwner, LogRequest, LogSlice, LogStream};
use firesteel_types::{AppId, DriverId, ExecutorId, ExecutorKey};
use serde::Deserialize;

use crate::html::{Cell, Page, bytes, link};

/// How much of a log a page shows, as in Spark.
const PAGE_BYTES: u64 = 100 << 10;
/// The most that is given at once.
const BYTES_MAX: u64 = 1 << 20;

/// What stands in the address of a log, in Spark's words.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct LogQuery {
    pub(super) app_id: Option<String>,
    pub(super) executor_id: Option<u32>,
    pub(super) driver_id: Option<String>,
    pub(super) log_type: Option<String>,
    pub(super) offset: Option<u64>,
    pub(super) byte_length: Option<u64>,
}

impl LogQuery {
    /// What is to be read; else what is missing.
    pub(super) fn request(&self) -> Result<LogRequest, &'static str> {
        let owner = match (&self.app_id, self.executor_id, &self.driver_id) {
            (Some(app), Some(executor), None) => {
                LogOwner::Executor(ExecutorKey { app: app.as_str().into(), executor: ExecutorId(executor) })
            }
            (None, None, Some(driver)) => LogOwner::Driver(DriverId::from(driver.as_str())),
            _ => return Err("say whose log: appId and executorId, or driverId"),
        };
        let stream = match self.log_type.as_deref() {
            Some("stdout") => LogStream::Stdout,
            Some("stderr") => LogStream::Stderr,
            _ => return Err("say which log: logType=stdout or logType=stderr"),
        };
        let length = self.byte_length.unwrap_or(PAGE_BYTES).clamp(1, BYTES_MAX);
        Ok(LogRequest { owner, stream, offset: self.offset, length })
    }
}

/// The address of a part of a log: from `place` on, offset and length, or its end.
pub(super) fn log_link(path: &str, owner: &LogOwner, stream: LogStream, place: Option<(u64, u64)>) -> String {
    let (executor, offset, length);
    let mut query: Vec<(&str, &str)> = Vec::new();
    match owner {
        LogOwner::Executor(key) => {
            executor = key.executor.0.to_string();
            query.extend([("appId", key.app.as_str()), ("executorId", &executor)]);
        }
        LogOwner::Driver(driver) => query.push(("driverId", driver.as_str())),
    }
    query.push(("logType", stream.name()));
    if let Some(place) = place {
        (offset, length) = (place.0.to_string(), place.1.to_string());
        query.extend([("offset", offset.as_str()), ("byteLength", length.as_str())]);
    }
    link(path, &query)
}

/// Where people find the logs of an executor whose worker has its pages at `page`, by the name of the log.
///
/// ```
/// # use firesteel_ui::executor_logs;
/// # use firesteel_types::ExecutorId;
/// let logs = executor_logs("http://w1:8081", &"app-1".into(), ExecutorId(3));
/// assert_eq!(logs["stderr"], "http://w1:8081/logPage/?appId=app%2D1&executorId=3&logType=stderr");
/// ```
pub fn executor_logs(page: &str, app: &AppId, executor: ExecutorId) -> BTreeMap<&'static str, String> {
    let owner = LogOwner::Executor(ExecutorKey { app: app.clone(), executor });
    let log =
        |stream: LogStream| (stream.name(), log_link(&format!("{page}/logPage/"), &owner, stream, None));
    [log(LogStream::Stdout), log(LogStream::Stderr)].into()
}

/// A part of a log as a page.
pub(super) fn page(request: &LogRequest, slice: &LogSlice) -> Page {
    let name = match &request.owner {
        LogOwner::Executor(key) => format!("executor {} of {}", key.executor.0, key.app),
        LogOwner::Driver(driver) => driver.to_string(),
    };
    let end = slice.start + slice.bytes.len() as u64;
    let to = |place| log_link("/logPage/", &request.owner, request.stream, place);
    let part = |offset| to(Some((offset, request.length)));
    let mut paging = Vec::new();
    if slice.start > slice.first {
        let before = slice.start.saturating_sub(request.length).max(slice.first);
        paging.extend([Cell::link(part(slice.first), "First"), Cell::link(part(before), "Earlier")]);
    }
    if end < slice.end {
        paging.push(Cell::link(part(end), "Later"));
    }
    paging.push(Cell::link(to(None), "Latest"));
    let raw = log_link("/log/", &request.owner, request.stream, Some((slice.start, request.length)));
    paging.push(Cell::link(raw, "Bytes as they are"));
    let page = Page::new(format!("{} of {name}", request.stream.name()))
        .links([Cell::link("/", "Worker")])
        .facts([
            ("Shown", Cell::text(format!("bytes {} to {end} of {}", slice.start, slice.end))),
            ("Size", Cell::text(bytes(slice.end - slice.first))),
        ])
        .line(paging.clone())
        .verbatim(&String::from_utf8_lossy(&slice.bytes))
        .line(paging);
    // The end of a log grows; an older part stays as it is.
    if request.offset.is_none() { page } else { page.still() }
}
