//! An application and what it keeps: [`ApplicationData`], [`RddStorageData`].

use firesteel_types::{RddId, StorageLevel, Timestamp};
use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use super::shape;

/// An application that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationData {
    /// Its id: the master's name for it, or `local-…`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Who runs it.
    pub user: String,
    /// Where it runs, as users write it.
    pub master: String,
    /// When it began.
    pub started: Timestamp,
}

/// As Spark lists it: an application with one attempt, which has not ended.
pub(super) struct Listed<'a> {
    pub(super) application: &'a ApplicationData,
    pub(super) now: Timestamp,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Attempt<'a> {
    #[serde(serialize_with = "shape::time")]
    start_time: Timestamp,
    end_time: &'static str,
    #[serde(serialize_with = "shape::time")]
    last_updated: Timestamp,
    duration: u64,
    spark_user: &'a str,
    completed: bool,
    app_spark_version: &'static str,
    start_time_epoch: u64,
    last_updated_epoch: u64,
    end_time_epoch: i64,
}

impl Serialize for Listed<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let Self { application, now } = self;
        let attempt = Attempt {
            start_time: application.started,
            // What Spark writes for an end that is not there yet: a millisecond before the epoch.
            end_time: "1969-12-31T23:59:59.999GMT",
            last_updated: *now,
            duration: now.since(application.started).as_millis() as u64,
            spark_user: &application.user,
            completed: false,
            app_spark_version: env!("CARGO_PKG_VERSION"),
            start_time_epoch: application.started.as_millis(),
            last_updated_epoch: now.as_millis(),
            end_time_epoch: -1,
        };
        let mut listed = out.serialize_struct("Application", 3)?;
        listed.serialize_field("id", &application.id)?;
        listed.serialize_field("name", &application.name)?;
        listed.serialize_field("attempts", &[attempt])?;
        listed.end()
    }
}

/// What is kept of an RDD.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RddStorageData {
    /// The RDD.
    pub id: RddId,
    /// What made it.
    pub name: String,
    /// How many partitions it has.
    pub num_partitions: u32,
    /// How many of them are kept.
    pub num_cached_partitions: u32,
    /// How they are kept.
    #[serde(serialize_with = "shape::storage_level")]
    pub storage_level: StorageLevel,
    /// Bytes in memory, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<u64>,
    /// Bytes on disk, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_used: Option<u64>,
}
