//! What a task wants done when it is over.

use std::panic::{AssertUnwindSafe, catch_unwind};

use parking_lot::Mutex;

use super::TaskContext;

type OnCompletion = Box<dyn FnOnce(&TaskContext) + Send>;
type OnFailure = Box<dyn FnOnce(&TaskContext, &str) + Send>;

/// The listeners of one task.
///
/// A listener that is added when its moment has passed runs at once. Listeners run one at a time, each after its
/// removal, so that they may add further ones.
#[derive(Default)]
pub(crate) struct TaskListeners(Mutex<State>);

#[derive(Default)]
struct State {
    completion: Vec<OnCompletion>,
    failure: Vec<OnFailure>,
    failed: Option<String>,
    completed: bool,
}

impl TaskListeners {
    pub(crate) fn on_completion(&self, task: &TaskContext, listener: OnCompletion) {
        let mut state = self.0.lock();
        if state.completed {
            drop(state);
            listener(task);
        } else {
            state.completion.push(listener);
        }
    }

    pub(crate) fn on_failure(&self, task: &TaskContext, listener: OnFailure) {
        let mut state = self.0.lock();
        match state.failed.clone() {
            Some(message) => {
                drop(state);
                listener(task, &message);
            }
            None => state.failure.push(listener),
        }
    }

    /// The task failed: runs the failure listeners, the last one added first.
    pub(crate) fn fail(&self, task: &TaskContext, message: &str) {
        self.0.lock().failed = Some(message.to_owned());
        loop {
            let Some(listener) = self.0.lock().failure.pop() else { return };
            if catch_unwind(AssertUnwindSafe(|| listener(task, message))).is_err() {
                tracing::error!(attempt = %task.attempt_id(), "a failure listener of the task panicked");
            }
        }
    }

    /// The task is over: runs the completion listeners, the last one added first, all of them. Gives the number of
    /// those that panicked.
    pub(crate) fn complete(&self, task: &TaskContext) -> usize {
        let mut panicked = 0;
        loop {
            let mut state = self.0.lock();
            let Some(listener) = state.completion.pop() else {
                state.completed = true;
                return panicked;
            };
            drop(state);
            if catch_unwind(AssertUnwindSafe(|| listener(task))).is_err() {
                tracing::error!(attempt = %task.attempt_id(), "a completion listener of the task panicked");
                panicked += 1;
            }
        }
    }
}
