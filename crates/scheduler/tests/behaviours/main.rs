//! One test or more for each behaviour of the whole scheduler, through its public face.
//!
//! Every test feeds events to a [`harness::World`] and compares the whole list of effects, written as short
//! lines, so that it also proves that nothing else happened.

#![expect(
    unreachable_pub,
    reason = "the harness is public to the tests, and a test binary has no other users"
)]

mod dag_abort;
mod dag_build;
mod dag_cached;
mod dag_deep;
mod dag_end_to_end;
mod dag_fetch;
mod dag_fetch_limits;
mod dag_locality;
mod dag_loss;
mod dag_map_jobs;
mod dag_results;
mod dag_rollback;
mod dag_sharing;
mod dag_submit;
mod harness;
mod show;
mod smoke;
