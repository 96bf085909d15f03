//! Log lines that a person must see: [`notice`].
//!
//! A process has one subscriber, and it is the program's to choose, so a library installs none. In a program without one,
//! what its user must know would be lost. It goes to the subscriber that [`set_fallback`] names, which is in force while
//! such a line is written and no longer.

use std::sync::OnceLock;

use tracing::{Dispatch, dispatcher, subscriber::NoSubscriber};

static FALLBACK: OnceLock<Dispatch> = OnceLock::new();

/// Where notices go in a process that has no subscriber. The first call counts.
pub fn set_fallback(subscriber: impl FnOnce() -> Dispatch) {
    FALLBACK.get_or_init(subscriber);
}

/// Runs `emit`, which logs something that the user of this process must see.
///
/// ```
/// firesteel_net::notice(|| tracing::warn!("no master answers"));
/// ```
pub fn notice(emit: impl FnOnce()) {
    let has_own = dispatcher::get_default(|subscriber| !subscriber.is::<NoSubscriber>());
    match FALLBACK.get() {
        Some(fallback) if !has_own => dispatcher::with_default(fallback, emit),
        _ => emit(),
    }
}
