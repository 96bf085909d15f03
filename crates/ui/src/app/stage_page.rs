//! The stages of an application for people.

use firesteel_types::Timestamp;

use super::{
    ApplicationData, StageData, StageStatus,
    page::{micros, page, stage_progress, time_taken},
};
use crate::html::{Cell, Page, Table, bytes, clock_time, link};

/// All stages.
pub(super) fn stages(application: &ApplicationData, stages: &[StageData], now: Timestamp) -> Page {
    let table = |title, status| {
        let of_status = stages.iter().rev().filter(|stage| stage.status == status);
        stages_table(title, of_status, now)
    };
    page(application, "Stages")
        .table(&table("Active stages", StageStatus::Active))
        .table(&table("Pending stages", StageStatus::Pending))
        .table(&table("Completed stages", StageStatus::Complete))
        .table(&table("Skipped stages", StageStatus::Skipped))
        .table(&table("Failed stages", StageStatus::Failed))
}

/// Stages in rows.
pub(super) fn stages_table<'a>(
    title: &'static str,
    stages: impl Iterator<Item = &'a StageData>,
    now: Timestamp,
) -> Table {
    let row = |stage: &StageData| {
        let metrics = &stage.metrics;
        [
            Cell::link(stage_link(stage), name(stage)),
            Cell::text(&*stage.name),
            Cell::text(word(stage.status)),
            Cell::maybe(stage.submission_time.map(clock_time)),
            time_taken(stage.submission_time, stage.completion_time, now),
            stage_progress(stage),
            Cell::number(bytes(metrics.input_bytes)),
            Cell::number(bytes(metrics.shuffle_bytes_read)),
            Cell::number(bytes(metrics.shuffle_bytes_written)),
        ]
    };
    Table::new(
        title,
        &[
            "Stage",
            "Name",
            "Status",
            "Submitted",
            "Duration",
            "Tasks",
            "Input",
            "Shuffle read",
            "Shuffle write",
        ],
        stages.map(row),
    )
}

fn stage_link(stage: &StageData) -> String {
    let (id, attempt) = (stage.stage_id.0.to_string(), stage.attempt_id.to_string());
    link("/stages/stage/", &[("id", &id), ("attempt", &attempt)])
}

/// The number, with the attempt from the second on.
fn name(stage: &StageData) -> String {
    match stage.attempt_id {
        0 => stage.stage_id.0.to_string(),
        attempt => format!("{}.{attempt}", stage.stage_id.0),
    }
}

fn word(status: StageStatus) -> &'static str {
    match status {
        StageStatus::Pending => "PENDING",
        StageStatus::Active => "ACTIVE",
        StageStatus::Complete => "COMPLETE",
        StageStatus::Failed => "FAILED",
        StageStatus::Skipped => "SKIPPED",
    }
}

/// One attempt of a stage.
pub(super) fn stage(application: &ApplicationData, stage: &StageData, now: Timestamp) -> Page {
    let metrics = &stage.metrics;
    let rows = |bytes_of, records| Cell::text(format!("{} in {records} records", bytes(bytes_of)));
    let rdds: Vec<String> = stage.rdd_ids.iter().map(|rdd| rdd.0.to_string()).collect();
    let shown = page(application, &format!("Stage {}", name(stage))).facts([
        ("Name", Cell::text(&*stage.name)),
        ("Description", Cell::maybe(stage.description.as_deref())),
        ("Status", Cell::text(word(stage.status))),
        ("Pool", Cell::text(&stage.scheduling_pool)),
        ("RDDs", Cell::text(rdds.join(", "))),
        ("Submitted", Cell::maybe(stage.submission_time.map(clock_time))),
        ("Duration", time_taken(stage.submission_time, stage.completion_time, now)),
        ("Tasks", stage_progress(stage)),
        ("Time in tasks", Cell::text(micros(metrics.run_time_us))),
        ("Peak memory of a task", Cell::text(bytes(metrics.peak_memory_bytes))),
        ("Input", rows(metrics.input_bytes, metrics.input_records)),
        ("Shuffle read", rows(metrics.shuffle_bytes_read, metrics.shuffle_records_read)),
        ("Shuffle write", rows(metrics.shuffle_bytes_written, metrics.shuffle_records_written)),
    ]);
    let shown = match &stage.failure_reason {
        Some(reason) => shown.verbatim(reason),
        None => shown,
    };
    let accumulators = stage.accumulator_updates.iter();
    let accumulators = accumulators.map(|one| [Cell::text(&*one.name), Cell::text(&one.value)]);
    shown.table_if(
        !stage.accumulator_updates.is_empty(),
        &Table::new("Accumulators", &["Name", "Value"], accumulators),
    )
}
