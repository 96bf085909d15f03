//! Waiting for what other threads and processes do: [`found_within`].
//!
//! Shared by the tests that start servers and processes. The time is a guard against waiting for ever, and never decides.

use std::{
    thread,
    time::{Duration, Instant},
};

/// Waits until `look` finds something; fails after `guard`, which is longer than anything takes that works.
pub(crate) fn found_within<T>(guard: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + guard;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
