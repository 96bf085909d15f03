//! One test or more for each behaviour of the whole scheduler, through its public face.
//!
//! Every test feeds events to a [`harness::World`] and compares the whole list of effects, written as short
//! lines, so that it also proves that nothing else happened.

#![expect(
    unreachable_pub,
    reason = "the harness is public to the tests, and a test binary has no other users"
)]

mod backend_executors;
mod backend_scaling;
mod backend_tasks;
mod bad_input;
mod bad_lineage;
mod barrier;
mod barrier_jobs;
mod cancellation;
mod commits;
mod harness;
mod heartbeats;
mod listeners;
mod profiles;
mod show;
mod smoke;
mod wire;
