//! One test or more for each behaviour of the whole scheduler, through its public face.
//!
//! Every test feeds events to a [`harness::World`] and compares the whole list of effects, written as short
//! lines, so that it also proves that nothing else happened.

mod exclusion;
mod harness;
mod locality;
mod pools;
mod show;
mod smoke;
mod speculation;
mod tsi_executors;
mod tsi_rounds;
mod tsm_attempts;
mod tsm_loss;
mod tsm_results;
mod tsm_zombies;
