//! A process that runs tasks for a driver elsewhere: the application's own executable, started by a worker.
//!
//! The worker starts it with the argument [`ARGUMENT`] with everything it must know in its environment ([`Start`]). It dials
//! the driver, joins, runs tasks on its slots ([`Process`]) until the driver stops it, and ends if it loses the driver
//! or the worker. The user's `main` is not run: the process becomes an executor before it would begin, so that every
//! program that uses the engine can be one, tests included.

mod answers;
mod entry;
mod heartbeat;
mod join;
mod outbox;
mod reader;
mod reaper;
mod running;
mod start;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use start::ARGUMENT;
