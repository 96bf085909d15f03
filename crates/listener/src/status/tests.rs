//! The answers of the store about jobs, stages and executors.

use std::{sync::Arc, time::Duration};

use super::*;
use crate::{
    Listener,
    sample::{
        NOW, completed, executor_added, executor_removed, failed, info, job_end, job_failed, job_start,
        job_start_with, killed, panicked, stage_id, submitted, success, task, task_end, task_start,
    },
};
use firesteel_types::{
    ExclusionScope, ExecutorId, JobId, ListenerEvent, Properties, StageId, StageInfo, TaskEndReason,
    TaskFailure, TaskMetrics,
};

fn store_after(events: impl IntoIterator<Item = ListenerEvent>) -> StatusStore {
    let mut store = StatusStore::default();
    hear(&mut store, events);
    store
}

fn hear(store: &mut StatusStore, events: impl IntoIterator<Item = ListenerEvent>) {
    for event in events {
        store.on_event(&event);
    }
}

fn job(store: &StatusStore, id: u32) -> JobData {
    store.job(JobId(id)).unwrap()
}

fn stage(store: &StatusStore, id: u32, attempt: u32) -> StageData {
    store.stage_attempt(stage_id(id, attempt)).unwrap()
}

/// Tasks of a job: total, active, completed, failed, killed, skipped.
fn tasks(job: &JobData) -> [u32; 6] {
    [
        job.num_tasks,
        job.num_active_tasks,
        job.num_completed_tasks,
        job.num_failed_tasks,
        job.num_killed_tasks,
        job.num_skipped_tasks,
    ]
}

/// Stages of a job: active, completed, failed, skipped.
fn stages(job: &JobData) -> [u32; 4] {
    [job.num_active_stages, job.num_completed_stages, job.num_failed_stages, job.num_skipped_stages]
}

#[test]
fn a_job_is_counted_from_its_start_to_its_end() {
    let (map, reduce) = (info(0, 0, 2), info(1, 0, 1));
    let mut store = store_after([job_start(7, &[reduce.clone(), map.clone()])]);
    assert_eq!((tasks(&job(&store, 7)), stages(&job(&store, 7))), ([3, 0, 0, 0, 0, 0], [0, 0, 0, 0]));
    assert_eq!(stage(&store, 1, 0).status, StageStatus::Pending);

    hear(&mut store, [submitted(&map), task_start(map.id, task(0, 1)), task_start(map.id, task(1, 1))]);
    assert_eq!((tasks(&job(&store, 7)), stages(&job(&store, 7))), ([3, 2, 0, 0, 0, 0], [1, 0, 0, 0]));
    assert_eq!(store.active_stages(), [stage(&store, 0, 0)]);
    assert_eq!(store.active_job_ids(), [JobId(7)]);

    hear(&mut store, [0, 1].map(|n| task_end(map.id, task(n, 1), TaskEndReason::Success)));
    hear(&mut store, [completed(&map), submitted(&reduce)]);
    assert_eq!((tasks(&job(&store, 7)), stages(&job(&store, 7))), ([3, 0, 2, 0, 0, 0], [1, 1, 0, 0]));

    hear(&mut store, success(reduce.id, task(0, 1)));
    hear(&mut store, [completed(&reduce), job_end(7)]);
    let ended = job(&store, 7);
    assert_eq!((tasks(&ended), stages(&ended)), ([3, 0, 3, 0, 0, 0], [0, 2, 0, 0]));
    assert_eq!(ended.num_completed_indices, 3);
    assert_eq!(
        (ended.status, ended.completion_time, ended.failure_reason),
        (JobStatus::Succeeded, Some(NOW), None)
    );
    assert_eq!(&*ended.name, "count at app.rs:1", "the name of its last stage");
    assert_eq!(ended.stage_ids, [StageId(0), StageId(1)]);
    assert_eq!(stage(&store, 0, 0).status, StageStatus::Complete);
    assert_eq!((store.active_stages(), store.active_job_ids()), (vec![], vec![]));
}

#[test]
fn failed_and_killed_attempts_are_counted_apart() {
    let only = info(0, 0, 3);
    let denied = TaskEndReason::Failed(TaskFailure::CommitDenied);
    let store = store_after([job_start(0, std::slice::from_ref(&only)), submitted(&only)].into_iter().chain(
        [panicked(), killed(), denied, TaskEndReason::Success].into_iter().enumerate().flat_map(
            |(n, reason)| {
                let task = task(n as u32, 1);
                [task_start(only.id, task), task_end(only.id, task, reason)]
            },
        ),
    ));

    assert_eq!(tasks(&job(&store, 0)), [3, 0, 1, 1, 2, 0]);
    let stage = stage(&store, 0, 0);
    assert_eq!((stage.num_complete_tasks, stage.num_failed_tasks, stage.num_killed_tasks), (1, 1, 2));
}

#[test]
fn a_success_whose_output_is_lost_counts_as_a_failure_afterwards() {
    let only = info(0, 0, 2);
    let mut store = store_after([
        executor_added(1, "h1"),
        job_start(0, std::slice::from_ref(&only)),
        submitted(&only),
        task_start(only.id, task(1, 1)),
    ]);
    hear(&mut store, success(only.id, task(0, 1)));
    assert_eq!(job(&store, 0).num_completed_indices, 1);

    hear(&mut store, [task_end(only.id, task(0, 1), TaskEndReason::Resubmitted)]);

    assert_eq!(tasks(&job(&store, 0)), [2, 1, 0, 1, 0, 0], "the other task still runs");
    assert_eq!(job(&store, 0).num_completed_indices, 0);
    let (stage, executor) = (stage(&store, 0, 0), store.executor(ExecutorId(1)).unwrap());
    assert_eq!((stage.num_active_tasks, stage.num_complete_tasks, stage.num_failed_tasks), (1, 0, 1));
    assert_eq!((executor.active_tasks, executor.completed_tasks, executor.failed_tasks), (1, 0, 1));

    hear(&mut store, success(only.id, task(0, 2)));
    assert_eq!(job(&store, 0).num_completed_indices, 1, "it is done again");
}

#[test]
fn stages_that_were_never_submitted_are_skipped_when_the_job_ends() {
    let (old, last) = (info(0, 0, 10), info(1, 0, 1));
    let mut store = store_after([job_start(0, &[old, last.clone()]), submitted(&last)]);
    hear(&mut store, success(last.id, task(0, 1)));

    hear(&mut store, [completed(&last), job_end(0)]);

    assert_eq!((tasks(&job(&store, 0)), stages(&job(&store, 0))), ([11, 0, 1, 0, 0, 10], [0, 1, 0, 1]));
    assert_eq!(stage(&store, 0, 0).status, StageStatus::Skipped);
}

#[test]
fn an_attempt_without_tasks_is_skipped() {
    let empty = info(0, 0, 4);
    let none_missing = StageInfo { tasks: 0, completed: Some(NOW), ..empty.clone() };
    let mut store = store_after([
        job_start(0, std::slice::from_ref(&empty)),
        ListenerEvent::StageSubmitted {
            info: Arc::new(StageInfo { completed: None, ..none_missing.clone() }),
            properties: Properties::default(),
        },
        ListenerEvent::StageCompleted { info: Arc::new(none_missing) },
    ]);

    assert_eq!(stage(&store, 0, 0).status, StageStatus::Skipped);
    assert_eq!((tasks(&job(&store, 0)), stages(&job(&store, 0))), ([4, 0, 0, 0, 0, 4], [0, 0, 0, 1]));

    hear(&mut store, [submitted(&info(0, 1, 1))]);
    assert_eq!((tasks(&job(&store, 0)), stages(&job(&store, 0))), ([4, 0, 0, 0, 0, 0], [1, 0, 0, 0]));
}

#[test]
fn a_stage_that_is_needed_again_after_it_was_complete_is_active_again() {
    let (first, second) = (info(0, 0, 2), info(0, 1, 1));
    let mut store = store_after([job_start(0, std::slice::from_ref(&first)), submitted(&first)]);
    hear(&mut store, [0, 1].into_iter().flat_map(|n| success(first.id, task(n, 1))));
    hear(&mut store, [completed(&first)]);
    assert_eq!(stages(&job(&store, 0)), [0, 1, 0, 0]);

    hear(&mut store, [submitted(&second)]);
    assert_eq!(stages(&job(&store, 0)), [1, 0, 0, 0]);
    hear(&mut store, success(second.id, task(1, 2)));
    hear(&mut store, [completed(&second)]);

    let job = job(&store, 0);
    assert_eq!((tasks(&job), stages(&job)), ([2, 0, 3, 0, 0, 0], [0, 1, 0, 0]));
    assert_eq!(job.num_completed_indices, 2, "a partition counts once");
    assert_eq!(store.stage(StageId(0)).unwrap().attempt_id, 1, "the latest attempt");
    assert_eq!(store.stages().len(), 2);
}

#[test]
fn a_second_end_of_an_attempt_is_not_counted() {
    let only = info(0, 0, 2);
    let store = store_after([
        job_start(0, std::slice::from_ref(&only)),
        submitted(&only),
        failed(&only, "cancelled"),
        failed(&only, "its job ended"),
    ]);

    assert_eq!(stages(&job(&store, 0)), [0, 0, 1, 0]);
}

#[test]
fn tasks_that_outlive_their_attempt_and_their_job_are_counted_to_the_end() {
    let only = info(0, 0, 2);
    let mut store = store_after([
        job_start(0, std::slice::from_ref(&only)),
        submitted(&only),
        task_start(only.id, task(0, 1)),
        task_start(only.id, task(1, 1)),
        failed(&only, "cancelled"),
        job_failed(0, "job-0 was cancelled"),
    ]);
    assert_eq!((tasks(&job(&store, 0)), stages(&job(&store, 0))), ([2, 2, 0, 0, 0, 0], [0, 0, 1, 0]));

    hear(&mut store, [0, 1].map(|n| task_end(only.id, task(n, 1), killed())));

    let job = job(&store, 0);
    assert_eq!(tasks(&job), [2, 0, 0, 0, 2, 0]);
    assert_eq!((job.status, job.failure_reason.as_deref()), (JobStatus::Failed, Some("job-0 was cancelled")));
    let stage = stage(&store, 0, 0);
    assert_eq!((stage.status, stage.failure_reason.as_deref()), (StageStatus::Failed, Some("cancelled")));
    assert_eq!(stage.num_killed_tasks, 2);
}

#[test]
fn jobs_that_share_a_running_stage_count_its_tasks_while_they_run() {
    let shared = info(0, 0, 3);
    let running = StageInfo { submitted: Some(NOW), ..shared.clone() };
    let mut store = store_after([job_start(0, std::slice::from_ref(&shared)), submitted(&shared)]);
    hear(&mut store, [0, 1].map(|n| task_start(shared.id, task(n, 1))));

    hear(&mut store, [job_start(1, &[running])]);
    assert_eq!((tasks(&job(&store, 1)), stages(&job(&store, 1))), ([3, 2, 0, 0, 0, 0], [1, 0, 0, 0]));

    hear(&mut store, [task_end(shared.id, task(0, 1), TaskEndReason::Success), job_failed(0, "cancelled")]);
    assert_eq!((tasks(&job(&store, 0)), stages(&job(&store, 0))), ([3, 0, 1, 0, 0, 0], [0, 0, 0, 0]));

    hear(&mut store, [task_end(shared.id, task(1, 1), TaskEndReason::Success)]);
    hear(&mut store, success(shared.id, task(2, 1)));
    hear(&mut store, [completed(&shared), job_end(1)]);
    assert_eq!(tasks(&job(&store, 0)), [3, 0, 1, 0, 0, 0], "what came after its end is not its own");
    assert_eq!((tasks(&job(&store, 1)), stages(&job(&store, 1))), ([3, 0, 3, 0, 0, 0], [0, 1, 0, 0]));
}

#[test]
fn a_job_that_ends_leaves_the_latest_attempt_to_the_others() {
    let (first, second) = (info(0, 0, 3), info(0, 1, 1));
    let mut store = store_after([
        job_start(0, std::slice::from_ref(&first)),
        job_start(1, std::slice::from_ref(&first)),
        submitted(&first),
        failed(&first, "fetch failed"),
        submitted(&second),
        task_start(second.id, task(0, 1)),
    ]);

    hear(&mut store, [job_failed(0, "cancelled")]);

    assert_eq!((tasks(&job(&store, 0)), stages(&job(&store, 0))), ([3, 0, 0, 0, 0, 0], [0, 0, 1, 0]));
    assert_eq!((tasks(&job(&store, 1)), stages(&job(&store, 1))), ([3, 1, 0, 0, 0, 0], [1, 0, 1, 0]));
}

#[test]
fn a_stage_stays_pending_while_another_job_may_submit_it() {
    let waiting = info(0, 0, 3);
    let mut store = store_after([
        job_start(0, std::slice::from_ref(&waiting)),
        job_start(1, std::slice::from_ref(&waiting)),
        job_failed(0, "cancelled"),
    ]);
    assert_eq!(stages(&job(&store, 0)), [0, 0, 0, 1]);
    assert_eq!(stage(&store, 0, 0).status, StageStatus::Pending);

    hear(&mut store, [submitted(&waiting)]);

    assert_eq!((stages(&job(&store, 0)), stages(&job(&store, 1))), ([0, 0, 0, 1], [1, 0, 0, 0]));
}

#[test]
fn a_stage_complete_before_the_job_began_adds_no_tasks() {
    let done = StageInfo { submitted: Some(NOW), completed: Some(NOW), ..info(0, 0, 5) };
    let retried = StageInfo { failure: Some("fetch failed".to_owned()), ..done.clone() };
    let store = store_after([job_start(0, &[done, info(1, 0, 2)]), job_start(1, &[retried])]);

    assert_eq!(job(&store, 0).num_tasks, 2);
    assert_eq!(job(&store, 1).num_tasks, 5, "a failed stage will run again");
    assert_eq!(store.stage(StageId(0)), None, "nothing is made up for an attempt that was not seen");
}

#[test]
fn metrics_of_all_ends_are_summed_and_of_peaks_the_highest_kept() {
    let only = info(0, 0, 2);
    let metrics = TaskMetrics {
        run_time_us: 1_500,
        input_records: 1,
        input_bytes: 2,
        shuffle_records_read: 3,
        shuffle_bytes_read: 4,
        shuffle_records_written: 5,
        shuffle_bytes_written: 6,
        peak_memory_bytes: 70,
    };
    let end = |partition, reason, peak_memory_bytes| ListenerEvent::TaskEnd {
        set: only.id,
        task: task(partition, 1),
        time: NOW + Duration::from_millis(20),
        reason,
        metrics: TaskMetrics { peak_memory_bytes, ..metrics },
    };
    let store = store_after([
        executor_added(1, "h1"),
        submitted(&only),
        task_start(only.id, task(0, 1)),
        task_start(only.id, task(1, 1)),
        end(0, TaskEndReason::Success, 70),
        end(1, panicked(), 30),
        end(0, TaskEndReason::Resubmitted, 90),
    ]);

    let expected = TaskMetrics {
        run_time_us: 3_000,
        input_records: 2,
        input_bytes: 4,
        shuffle_records_read: 6,
        shuffle_bytes_read: 8,
        shuffle_records_written: 10,
        shuffle_bytes_written: 12,
        peak_memory_bytes: 70,
    };
    assert_eq!(stage(&store, 0, 0).metrics, expected, "a lost output did no work of its own");
    let executor = store.executor(ExecutorId(1)).unwrap();
    assert_eq!(executor.total_duration_ms, 40);
    assert_eq!(
        [executor.total_input_bytes, executor.total_shuffle_read, executor.total_shuffle_write],
        [4, 8, 12]
    );
}

#[test]
fn jobs_are_found_by_group_and_tag() {
    let properties = |group: &str, tags: &str| {
        let properties = Properties::default().with(Properties::TAGS, tags);
        properties.with(Properties::JOB_GROUP, group).with(Properties::DESCRIPTION, "load")
    };
    let store = store_after([
        job_start_with(2, &[], properties("etl", "nightly,big")),
        job_start_with(1, &[], properties("etl", "")),
        job_start(0, &[]),
        job_end(2),
    ]);

    assert_eq!(store.job_ids_for_group(Some("etl")), [JobId(1), JobId(2)]);
    assert_eq!(store.job_ids_for_group(None), [JobId(0)]);
    assert!(store.job_ids_for_group(Some("other")).is_empty());
    assert_eq!(store.job_ids_for_tag("big"), [JobId(2)]);
    assert!(store.job_ids_for_tag("").is_empty());
    assert_eq!(job(&store, 2).description.as_deref(), Some("load"));
    assert_eq!(store.jobs().iter().map(|job| job.job_id.0).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn executors_are_counted_until_they_are_gone_and_a_while_after() {
    let excluded = |executor| ListenerEvent::ExecutorExcluded {
        executor: ExecutorId(executor),
        time: NOW,
        scope: ExclusionScope::Application,
        failures: 2,
    };
    let node_excluded =
        |scope| ListenerEvent::NodeExcluded { host: "h2".into(), time: NOW, scope, failures: 2 };
    let mut store = store_after([executor_added(1, "h1"), executor_added(2, "h2"), executor_added(3, "h2")]);
    let is_excluded =
        |store: &StatusStore| store.executors().iter().map(|one| one.is_excluded).collect::<Vec<_>>();

    hear(&mut store, [excluded(1), node_excluded(ExclusionScope::Stage(stage_id(0, 0)))]);
    assert_eq!(is_excluded(&store), [true, false, false]);
    hear(
        &mut store,
        [
            node_excluded(ExclusionScope::Application),
            ListenerEvent::ExecutorUnexcluded { executor: ExecutorId(1), time: NOW },
        ],
    );
    assert_eq!(is_excluded(&store), [false, true, true]);
    hear(&mut store, [ListenerEvent::NodeUnexcluded { host: "h2".into(), time: NOW }]);
    assert_eq!(is_excluded(&store), [false; 3]);

    let set = stage_id(0, 0);
    hear(
        &mut store,
        [task_start(set, task(0, 2)), executor_removed(2), task_end(set, task(0, 2), panicked())],
    );
    let gone = store.executor(ExecutorId(2)).unwrap();
    assert_eq!(
        (gone.is_active, gone.remove_time, gone.remove_reason.as_deref()),
        (false, Some(NOW), Some("gone"))
    );
    assert_eq!((gone.active_tasks, gone.failed_tasks, gone.total_tasks), (0, 1, 1));
}

#[test]
fn only_the_last_finished_things_are_kept() {
    let mut store = StatusStore::new(Retention { jobs: 2, stages: 3, removed_executors: 1 });
    let running = info(0, 0, 1);
    hear(&mut store, [job_start(0, std::slice::from_ref(&running)), submitted(&running)]);
    hear(&mut store, [task_start(running.id, task(0, 9))]);

    for n in 1..10 {
        let stage = info(n, 0, 1);
        hear(
            &mut store,
            [executor_added(n, "h1"), job_start(n, std::slice::from_ref(&stage)), submitted(&stage)],
        );
        hear(&mut store, success(stage.id, task(0, n)));
        hear(&mut store, [completed(&stage), job_end(n), executor_removed(n)]);
    }

    let ids = |stages: Vec<StageData>| stages.iter().map(|stage| stage.stage_id.0).collect::<Vec<_>>();
    assert_eq!(store.jobs().iter().map(|job| job.job_id.0).collect::<Vec<_>>(), [0, 8, 9]);
    assert_eq!(ids(store.stages()), [0, 7, 8, 9]);
    assert_eq!(store.executors().iter().map(|one| one.id.0).collect::<Vec<_>>(), [9]);
}

#[test]
fn an_attempt_with_running_tasks_is_kept_until_they_end() {
    let mut store = StatusStore::new(Retention { jobs: 5, stages: 0, removed_executors: 0 });
    let only = info(0, 0, 1);

    hear(&mut store, [submitted(&only), task_start(only.id, task(0, 1)), failed(&only, "fetch failed")]);
    assert_eq!(store.stages().len(), 1);
    hear(&mut store, [task_end(only.id, task(0, 1), killed())]);
    assert!(store.stages().is_empty());
}

#[test]
fn an_executor_that_comes_back_under_its_id_is_not_forgotten_for_its_former_life() {
    let mut store = StatusStore::new(Retention { removed_executors: 1, ..Retention::default() });
    hear(&mut store, [executor_added(1, "h1"), executor_removed(1), executor_added(1, "h2")]);

    hear(&mut store, [executor_added(2, "h1"), executor_removed(2)]);

    let executor = store.executor(ExecutorId(1)).unwrap();
    assert_eq!((executor.is_active, executor.host.as_str()), (true, "h2"));
}
