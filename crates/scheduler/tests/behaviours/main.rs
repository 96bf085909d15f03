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
mod dag_stored;
mod dag_submit;
mod exclusion;
mod harness;
mod heartbeats;
mod keep_ahead;
mod keep_ahead_claims;
mod keep_ahead_time;
mod listeners;
mod locality;
mod pools;
mod profiles;
mod show;
mod smoke;
mod speculation;
mod take_back;
mod tsi_executors;
mod tsi_rounds;
mod tsm_attempts;
mod tsm_loss;
mod tsm_results;
mod tsm_zombies;
mod wire;
