//! `firesteel master` and `firesteel worker`: daemons in the foreground.
//!
//! They log on standard error, print one line with their address on standard output once they are ready, and end in
//! order when they are asked to (SIGTERM, SIGINT).

mod master;
mod master_conf;
mod place;
mod ready;
mod stopping;
mod worker;
mod worker_conf;

pub(crate) use master::run_master;
pub(crate) use ready::Ready;
pub(crate) use worker::run_worker;
