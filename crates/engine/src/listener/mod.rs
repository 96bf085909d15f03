//! Observers of an application: the listener bus, the console progress bar, the status store.
//!
//! The scheduler decides what happened and in which order; the driver posts it to a [`ListenerBus`] as
//! [`ListenerEvent`](crate::ListenerEvent)s; each [`Listener`] hears all of it on the thread of its
//! queue. Nothing here changes what the scheduler does: a listener that is slow, or fails, harms only itself and
//! those who share its queue.

mod bus;
mod contract;
mod error;
mod event_loop;
mod progress;
mod queue;
mod status;

pub use bus::{ListenerBus, Wait};
pub use contract::{Listener, ListenerId};
pub use error::BusError;
pub use progress::ConsoleProgress;
pub use status::{
    AccumulableData, ExecutorData, JobData, JobStatus, Retention, StageData, StageStatus, StatusStore,
};

#[cfg(test)]
mod sample;
