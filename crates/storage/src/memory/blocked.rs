//! Tasks that wait for what another task computes: [`blocked`].

use std::{
    cell::RefCell,
    rc::{Rc, Weak},
    sync::Arc,
};

use super::{MemoryManager, task::TaskState};

thread_local! {
    /// The task of this thread, if it has one.
    static RUNNING: RefCell<Weak<TaskState>> = const { RefCell::new(Weak::new()) };
}

/// Marks the task of this thread, if there is one, as blocked on another task: until the value is dropped it gives no
/// memory back, and others do not wait for it to.
///
/// ```
/// use firesteel_storage::memory::{MemoryConf, MemoryManager, blocked};
/// use firesteel_types::AttemptId;
///
/// let manager = MemoryManager::new(MemoryConf { budget: 1000, storage_fraction: 0.5 });
/// let task = manager.task(AttemptId(1));
/// assert_eq!(task.acquire(1000, &|| false), 1000);
///
/// let waiting_for_a_block = blocked();
/// assert_eq!(manager.usage().blocked, 1);
/// drop(waiting_for_a_block);
/// assert_eq!(manager.usage().blocked, 0);
/// ```
pub fn blocked() -> Blocked {
    let running = RUNNING.with_borrow(Weak::upgrade);
    let manager = running.and_then(|task| task.manager_if_joined());
    if let Some(manager) = &manager {
        manager.block();
    }
    Blocked { manager }
}

/// A task that waits for another one. Made by [`blocked`].
#[must_use = "the task counts as waiting as long as this value lives"]
#[derive(Debug)]
pub struct Blocked {
    /// None if no task waits, or one that has no part in the division.
    manager: Option<Arc<MemoryManager>>,
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if let Some(manager) = &self.manager {
            manager.unblock();
        }
    }
}

/// Notes which task runs on this thread.
pub(super) fn run_here(task: &Rc<TaskState>) {
    RUNNING.set(Rc::downgrade(task));
}
