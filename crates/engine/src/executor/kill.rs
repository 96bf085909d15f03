//! The order to end a running task.

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, Ordering},
};

/// Set once, from any thread; seen by the task at its next check.
#[derive(Debug, Default)]
pub(crate) struct KillSwitch {
    killed: AtomicBool,
    reason: OnceLock<String>,
}

impl KillSwitch {
    /// Orders the end of the task. The first reason stays.
    pub(crate) fn kill(&self, reason: impl Into<String>) {
        let _ = self.reason.set(reason.into());
        self.killed.store(true, Ordering::Release);
    }

    /// Whether the end was ordered.
    #[inline]
    pub(crate) fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Relaxed)
    }

    /// Why, once it was ordered.
    pub(crate) fn reason(&self) -> Option<&str> {
        // Acquire: whoever sees the order also sees its reason.
        if self.killed.load(Ordering::Acquire) { self.reason.get().map(String::as_str) } else { None }
    }
}
