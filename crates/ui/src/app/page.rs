//! What all pages of an application have in common.

use std::time::Duration;

use firesteel_types::Timestamp;

use super::{ApplicationData, JobData, StageData};
use crate::html::{Cell, Page, duration};

/// A page with the title `what`, and links to the others.
pub(super) fn page(application: &ApplicationData, what: &str) -> Page {
    let api = format!("/api/v1/applications/{}", application.id);
    Page::new(format!("{what} of {}", application.name)).links([
        Cell::link("/jobs/", "Jobs"),
        Cell::link("/stages/", "Stages"),
        Cell::link("/storage/", "Storage"),
        Cell::link("/environment/", "Environment"),
        Cell::link("/executors/", "Executors"),
        Cell::link(format!("{api}/jobs"), "JSON"),
    ])
}

/// From `from` until `to`, or until now.
pub(super) fn time_taken(from: Option<Timestamp>, to: Option<Timestamp>, now: Timestamp) -> Cell {
    Cell::maybe(from.map(|from| duration(to.unwrap_or(now).since(from))))
}

/// How many tasks of a stage are done.
pub(super) fn stage_progress(stage: &StageData) -> Cell {
    let note = [(stage.num_active_tasks, "running"), (stage.num_failed_tasks, "failed")];
    let note = note.into_iter().chain([(stage.num_killed_tasks, "killed")]);
    Cell::Progress { done: stage.num_complete_tasks.into(), of: stage.num_tasks.into(), note: in_words(note) }
}

/// How many tasks of a job are done.
pub(super) fn job_progress(job: &JobData) -> Cell {
    let note = [
        (job.num_active_tasks, "running"),
        (job.num_failed_tasks, "failed"),
        (job.num_killed_tasks, "killed"),
        (job.num_skipped_tasks, "skipped"),
    ];
    let of = job.num_tasks.saturating_sub(job.num_skipped_tasks);
    Cell::Progress { done: job.num_completed_indices.into(), of: of.into(), note: in_words(note) }
}

/// Those that are not 0, in brackets.
fn in_words(counts: impl IntoIterator<Item = (u32, &'static str)>) -> String {
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    if words.is_empty() { String::new() } else { format!("({})", words.join(", ")) }
}

/// A time in microseconds.
pub(super) fn micros(micros: u64) -> String {
    duration(Duration::from_micros(micros))
}
