//! One test or more for each behaviour of the whole scheduler, through its public face.
//!
//! Every test feeds events to a [`harness::World`] and compares the whole list of effects, written as short
//! lines, so that it also proves that nothing else happened.

mod harness;
mod locality;
mod show;
mod smoke;
mod speculation;
mod tsm_attempts;
mod tsm_loss;
mod tsm_results;
mod tsm_zombies;
