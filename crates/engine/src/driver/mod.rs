//! The driver: where the scheduler's decisions meet threads, the clock and the user's results.
//!
//! There is one scheduler and it takes one turn at a time: a thread with an event puts it into the inbox and, if no
//! other thread is at it, takes the turn itself: drains the inbox, feeds everything to the scheduler, performs the
//! effects in order. No thread is woken to make a decision, which is what makes a task cost microseconds.

mod clock;
mod effects;
mod inbox;
mod job;
mod questions;
mod register;
#[cfg(test)]
mod tests;
mod timer;
mod turn;

pub(crate) use clock::Clock;
pub(crate) use inbox::{Driver, Incoming, Payload};
pub(crate) use job::{Collected, JobEnd, Submission};
pub(crate) use register::walk;
pub(crate) use timer::Timer;
