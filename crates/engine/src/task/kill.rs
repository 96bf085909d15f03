//! The order to end a running task.

use std::{
    fmt,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;

/// Set once, from any thread; seen by the task at its next check.
#[derive(Default)]
pub(crate) struct KillSwitch {
    killed: AtomicBool,
    reason: OnceLock<String>,
    /// What ends the waits of a task that cannot check.
    wakers: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

impl KillSwitch {
    /// Orders the end of the task. The first reason stays.
    pub(crate) fn kill(&self, reason: impl Into<String>) {
        let _ = self.reason.set(reason.into());
        self.killed.store(true, Ordering::Release);
        let wakers = std::mem::take(&mut *self.wakers.lock());
        for wake in wakers {
            wake();
        }
    }

    /// Calls `wake` when the end is ordered, on the thread that orders it; at once if it was.
    pub(crate) fn on_kill(&self, wake: impl FnOnce() + Send + 'static) {
        let mut wakers = self.wakers.lock();
        // Looked at under the lock: the order is given before the wakers are taken.
        if self.killed.load(Ordering::Acquire) {
            drop(wakers);
            wake();
        } else {
            wakers.push(Box::new(wake));
        }
    }

    /// Whether the end was ordered.
    #[inline]
    pub(crate) fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Relaxed)
    }

    /// Why, once it was ordered.
    pub(crate) fn reason(&self) -> Option<&str> {
        // Acquire: a thread that sees the order also sees its reason.
        if self.killed.load(Ordering::Acquire) { self.reason.get().map(String::as_str) } else { None }
    }
}

impl fmt::Debug for KillSwitch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("KillSwitch").field("reason", &self.reason()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, atomic::AtomicU32};

    use super::*;

    #[test]
    fn a_waker_is_called_once_whether_it_comes_before_the_order_or_after() {
        let (switch, calls) = (KillSwitch::default(), Arc::new(AtomicU32::new(0)));
        let waker = || {
            let calls = calls.clone();
            move || {
                calls.fetch_add(1, Ordering::Relaxed);
            }
        };

        switch.on_kill(waker());
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        switch.kill("enough");
        switch.kill("again");
        switch.on_kill(waker());

        assert_eq!(calls.load(Ordering::Relaxed), 2);
    }
}
