//! Why the listener bus refuses: [`BusError`].

use std::io;

/// Why an order to a [`ListenerBus`](super::ListenerBus) was not carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum BusError {
    /// It runs already.
    #[error("the listener bus is already started")]
    AlreadyStarted,

    /// It does not run yet; what was posted is kept.
    #[error("the listener bus is not started yet: call `start` first")]
    NotStarted,

    /// It is stopped for good.
    #[error("the listener bus is stopped, and cannot be used again")]
    Stopped,

    /// The caller is a listener, whose own thread would have to wait for itself.
    #[error("cannot {operation} the listener bus from inside a listener: leave it to another thread")]
    InsideListener { operation: &'static str },

    /// Some listener is slower than the caller wanted to wait. The events are not lost.
    #[error("the listeners of queue `{queue}` still have events to handle: wait longer, or make them faster")]
    TimedOut { queue: String },

    /// The operating system gave no thread.
    #[error("cannot start a thread for listener queue `{queue}`")]
    Thread {
        queue: String,
        #[source]
        source: io::Error,
    },
}
