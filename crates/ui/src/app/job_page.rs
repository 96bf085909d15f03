//! The jobs of an application for people.

use firesteel_types::Timestamp;

use super::{
    ApplicationData, JobData, JobStatus, StageData,
    page::{job_progress, page, time_taken},
    stage_page::stages_table,
};
use crate::html::{Cell, Page, Table, clock_time, duration, link};

/// All jobs.
pub(super) fn jobs(application: &ApplicationData, jobs: &[JobData], now: Timestamp) -> Page {
    let table = |title, status| {
        let of_status = jobs.iter().rev().filter(|job| job.status == status);
        jobs_table(title, of_status, now)
    };
    page(application, "Jobs")
        .facts([
            ("Application", Cell::text(&application.id)),
            ("Master", Cell::text(&application.master)),
            ("User", Cell::text(&application.user)),
            ("Started", Cell::text(clock_time(application.started))),
            ("Up for", Cell::text(duration(now.since(application.started)))),
        ])
        .table(&table("Active jobs", JobStatus::Running))
        .table(&table("Completed jobs", JobStatus::Succeeded))
        .table(&table("Failed jobs", JobStatus::Failed))
}

fn jobs_table<'a>(title: &'static str, jobs: impl Iterator<Item = &'a JobData>, now: Timestamp) -> Table {
    let row = |job: &JobData| {
        let stages = job.num_completed_stages + job.num_skipped_stages;
        [
            Cell::link(job_link(job), job.job_id.0.to_string()),
            Cell::text(job.description.as_deref().filter(|text| !text.is_empty()).unwrap_or(&job.name)),
            Cell::text(clock_time(job.submission_time)),
            time_taken(Some(job.submission_time), job.completion_time, now),
            Cell::text(format!("{stages} of {}", job.stage_ids.len())),
            job_progress(job),
        ]
    };
    Table::new(title, &["Job", "Description", "Submitted", "Duration", "Stages", "Tasks"], jobs.map(row))
}

fn job_link(job: &JobData) -> String {
    link("/jobs/job/", &[("id", &job.job_id.0.to_string())])
}

/// One job.
pub(super) fn job(
    application: &ApplicationData,
    job: &JobData,
    stages: &[StageData],
    now: Timestamp,
) -> Page {
    let status = match job.status {
        JobStatus::Running => "RUNNING",
        JobStatus::Succeeded => "SUCCEEDED",
        JobStatus::Failed => "FAILED",
    };
    let shown = page(application, &format!("Job {}", job.job_id.0)).facts([
        ("Name", Cell::text(&*job.name)),
        ("Description", Cell::maybe(job.description.as_deref())),
        ("Status", Cell::text(status)),
        ("Group", Cell::maybe(job.job_group.as_deref())),
        ("Tags", Cell::text(job.job_tags.join(", "))),
        ("Submitted", Cell::text(clock_time(job.submission_time))),
        ("Duration", time_taken(Some(job.submission_time), job.completion_time, now)),
        ("Tasks", job_progress(job)),
    ]);
    let shown = match &job.failure_reason {
        Some(reason) => shown.verbatim(reason),
        None => shown,
    };
    let of_job = stages.iter().rev().filter(|stage| job.stage_ids.contains(&stage.stage_id));
    shown.table(&stages_table("Stages", of_job, now))
}
