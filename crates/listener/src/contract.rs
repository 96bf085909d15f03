//! What a listener is: [`Listener`], the one trait to implement.

use std::fmt;

use firesteel_types::ListenerEvent;

/// Hears everything that happens in an application, in the order in which it was posted.
///
/// One thread at a time calls it, the thread of the queue it was added to, so it needs no lock of its own. What it
/// does takes time from the other listeners of the same queue, and from no others. If it panics, the panic is
/// logged, the others hear the event all the same, and it hears the next one. It is dropped on the same thread
/// after its last event, which is the place to close files.
///
/// A closure over `&ListenerEvent` is a listener:
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
/// use firesteel::{JobId, JobOutcome, ListenerEvent, Timestamp, listener::{ListenerBus, Wait}};
///
/// let jobs = Arc::new(AtomicU32::new(0));
/// let counter = jobs.clone();
/// let bus = ListenerBus::new();
/// bus.add(ListenerBus::SHARED, move |event: &ListenerEvent| {
///     if let ListenerEvent::JobEnd { .. } = event {
///         counter.fetch_add(1, Ordering::Relaxed);
///     }
/// })?;
/// bus.start()?;
///
/// let outcome = JobOutcome::Succeeded;
/// bus.post(vec![ListenerEvent::JobEnd { job: JobId(0), time: Timestamp::ZERO, outcome }]);
/// bus.stop(Wait::Forever)?;
///
/// assert_eq!(jobs.load(Ordering::Relaxed), 1);
/// # Ok::<(), firesteel::listener::BusError>(())
/// ```
pub trait Listener: Send {
    /// Hears one event.
    fn on_event(&mut self, event: &ListenerEvent);
}

impl<F: FnMut(&ListenerEvent) + Send> Listener for F {
    fn on_event(&mut self, event: &ListenerEvent) {
        self(event);
    }
}

/// One listener of one bus, by which it can be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListenerId(pub(super) u64);

impl fmt::Display for ListenerId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "listener-{}", self.0)
    }
}
