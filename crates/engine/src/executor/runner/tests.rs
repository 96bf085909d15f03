//! Tasks that end in every way, without a scheduler.

use std::{
    panic,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use parking_lot::Mutex;

use firesteel_scheduler::{BlockUpdate, TaskDescription};
use firesteel_types::{
    AttemptNumber, Cpus, ExecutorId, FetchFailure, Locality, PartitionId, ResourceAssignment, ShuffleId,
    StageAttemptId, StageId, TaskIndex,
};

use super::*;
use crate::{
    Conf,
    ship::{Blame, ShipError},
    task::{DriverLine, ExecutorServices, ResultValue, abort_task, install_panic_hook},
};

struct NoDriver;

impl DriverLine for NoDriver {
    fn may_commit(&self, _task: &TaskContext) -> bool {
        false
    }

    fn blocks_changed(&self, _executor: ExecutorId, _blocks: Vec<BlockUpdate>) {}
}

/// A stage whose tasks run a closure.
struct Program<F>(F);

impl<F: Fn(&TaskContext) + Send + Sync> StageProgram for Program<F> {
    fn run(&self, task: &TaskContext, _form: Form) -> TaskOutput {
        (self.0)(task);
        TaskOutput::Result { value: ResultValue::Bytes(Bytes::new()), size_bytes: 0 }
    }

    fn to_bytes(&self) -> Result<Vec<u8>, ShipError> {
        Ok(Vec::new())
    }
}

fn executor() -> Executor {
    install_panic_hook();
    let conf = Conf::new();
    let environment =
        Environment::new(&conf, ExecutorServices::alone(&conf, "here".into(), "test", Arc::new(NoDriver)))
            .unwrap();
    Executor::new(environment, Form::Typed)
}

const ATTEMPT: AttemptId = AttemptId(7);

fn launch(
    program: impl Fn(&TaskContext) + Send + Sync + 'static,
) -> Work<impl FnOnce() -> Result<Arc<dyn StageProgram>, String>> {
    Work {
        task: Box::new(TaskDescription {
            attempt: ATTEMPT,
            set: StageAttemptId { stage: StageId(4), attempt: 1 },
            index: TaskIndex(0),
            partition: PartitionId(2),
            number: AttemptNumber(1),
            executor: ExecutorId::DRIVER,
            locality: Locality::Any,
            speculative: false,
            ahead: false,
            cpus: Cpus::ONE,
            resources: ResourceAssignment::default(),
            epoch: 0,
            barrier: None,
        }),
        partitions: 3,
        properties: Properties::default().with("team", "search"),
        generations: [].into(),
        partition_data: Vec::new(),
        program: || Ok(Arc::new(Program(program)) as Arc<dyn StageProgram>),
    }
}

fn failure(report: Report) -> TaskFailure {
    match report.end {
        TaskEnd::Failed { failure, .. } => failure,
        TaskEnd::Finished(_) => panic!("the task finished"),
    }
}

fn lost_block() -> FetchFailure {
    FetchFailure {
        shuffle: ShuffleId(1),
        location: None,
        map_partition: None,
        map_attempt: None,
        reduce_partition: PartitionId(2),
        message: "gone".to_owned(),
    }
}

/// Behaviours: EXE-017.
#[test]
fn a_task_knows_who_it_is() {
    let seen = Arc::new(Mutex::new(None));
    let see = seen.clone();

    executor().run(launch(move |_| *see.lock() = TaskContext::current()));

    let task = seen.lock().clone().unwrap();
    assert_eq!(task.stage().to_string(), "stage-4.1");
    assert_eq!((task.partition(), task.num_partitions()), (PartitionId(2), 3));
    assert_eq!((task.attempt_number(), task.attempt_id()), (AttemptNumber(1), ATTEMPT));
    assert_eq!((task.cpus(), task.property("team")), (Cpus::ONE, Some("search")));
    assert!(task.resources().is_empty());
    assert!(TaskContext::current().is_none(), "the thread's task is over");
}

#[test]
fn a_panic_fails_the_task_with_message_place_and_operator() {
    let report = executor().run(launch(|_| Blame::new(RddId(9)).on(|| panic!("no such user: {}", 5))));

    let TaskEnd::Failed { failure: TaskFailure::Panicked { message, .. }, operator } = report.end else {
        panic!("not a panic")
    };
    assert!(message.starts_with("no such user: 5, panicked at "), "{message}");
    assert!(message.contains("tests.rs:"), "{message}");
    assert_eq!(operator, Some(RddId(9)));
}

/// Behaviours: EXE-005.
#[test]
fn a_kill_that_comes_before_its_task_ends_it_when_it_comes() {
    let executor = executor();
    let ran = Arc::new(AtomicUsize::new(0));
    let count = ran.clone();

    executor.kill(ATTEMPT, "too late".to_owned());
    let report = executor.run(launch(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    }));

    assert_eq!(failure(report), TaskFailure::killed("too late"));
    assert_eq!(ran.load(Ordering::Relaxed), 0);
}

/// Behaviours: EXE-006.
#[test]
fn whatever_a_killed_task_fails_with_it_is_reported_killed() {
    let executor = Arc::new(executor());
    let killer = executor.clone();

    let report = executor.run(launch(move |_| {
        killer.kill(ATTEMPT, "not wanted".to_owned());
        panic!("some error on the way out");
    }));

    assert_eq!(failure(report), TaskFailure::killed("not wanted"));
}

/// Behaviours: EXE-007.
#[test]
fn a_lost_map_output_is_reported_even_if_user_code_replaces_the_error_and_a_kill_wins_over_it() {
    let swallow = |task: &TaskContext| {
        let task = task.clone();
        let fetch = move || task.abort_fetch(lost_block());
        let _: Result<(), _> = panic::catch_unwind(panic::AssertUnwindSafe(fetch));
        panic!("could not read");
    };
    let replaced = failure(executor().run(launch(swallow)));

    let busy = Arc::new(executor());
    let other = busy.clone();
    let killed = busy.run(launch(move |task| {
        other.kill(ATTEMPT, "enough".to_owned());
        task.abort_fetch(lost_block())
    }));

    assert_eq!(replaced, TaskFailure::FetchFailed(lost_block()));
    assert_eq!(failure(killed), TaskFailure::killed("enough"));
}

/// Behaviours: EXE-008.
#[test]
fn a_denied_commit_has_a_reason_of_its_own() {
    let report = executor().run(launch(|task| {
        if !task.environment().driver.may_commit(task) {
            abort_task(Abort::CommitDenied);
        }
    }));

    assert_eq!(failure(report), TaskFailure::CommitDenied);
}

/// Behaviours: EXE-012.
#[test]
fn a_failed_task_still_reports_its_figures() {
    let report = executor().run(launch(|task| {
        task.count_input(10, 80);
        panic!("in the middle");
    }));

    assert_eq!((report.metrics.input_records, report.metrics.input_bytes), (10, 80));
}

/// Behaviours: EXE-015.
#[test]
fn completion_listeners_run_however_the_task_ends_last_added_first_and_failure_listeners_before_them() {
    let said = Arc::new(Mutex::new(Vec::new()));
    let say = |what: &'static str| {
        let said = said.clone();
        move || said.lock().push(what)
    };
    let (first, second, failed) = (say("first"), say("second"), say("failed"));
    let program = move |task: &TaskContext| {
        let (first, second, failed) = (first.clone(), second.clone(), failed.clone());
        task.on_completion(move |_| first());
        task.on_completion(move |_| {
            second();
            panic!("a listener that fails");
        });
        task.on_failure(move |_, _| failed());
        if task.is_interrupted() || task.property("team").is_none() {
            return;
        }
        panic!("the task fails");
    };

    executor().run(launch(program));

    assert_eq!(*said.lock(), ["failed", "second", "first"]);
}

#[test]
fn a_task_whose_completion_listener_fails_has_failed() {
    let report = executor().run(launch(|task| task.on_completion(|_| panic!("cannot close"))));

    assert!(failure(report).to_string().contains("completion listener"));
}

/// Behaviours: EXE-016.
#[test]
fn a_listener_added_too_late_runs_at_once_and_listeners_may_add_listeners() {
    let count = Arc::new(AtomicUsize::new(0));
    let (inner, outer) = (count.clone(), count.clone());
    let seen = Arc::new(Mutex::new(None));
    let see = seen.clone();
    let program = move |task: &TaskContext| {
        *see.lock() = Some(task.clone());
        let (inner, outer) = (inner.clone(), outer.clone());
        task.on_completion(move |task| {
            outer.fetch_add(1, Ordering::Relaxed);
            task.on_completion(move |_| {
                inner.fetch_add(10, Ordering::Relaxed);
            });
        });
    };

    executor().run(launch(program));
    let task = seen.lock().clone().unwrap();
    let late = count.clone();
    task.on_completion(move |_| {
        late.fetch_add(100, Ordering::Relaxed);
    });

    assert_eq!(count.load(Ordering::Relaxed), 111);
}

/// Behaviours: ACC-005.
#[test]
fn only_updates_that_are_not_zero_travel_back() {
    use crate::task::LongSum;
    use firesteel_types::AccumulatorId;

    let report =
        executor().run(launch(|task| task.accumulators().add(AccumulatorId(1), LongSum::default, 5)));
    let nothing = executor().run(launch(|_| ()));

    assert!(!report.updates.is_empty());
    assert!(nothing.updates.is_empty());
}
