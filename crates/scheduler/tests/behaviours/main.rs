//! One test or more for each behaviour of the whole scheduler, through its public face.
//!
//! Every test feeds events to a [`harness::World`] and compares the whole list of effects, written as short
//! lines, so that it also proves that nothing else happened.

mod harness;
mod show;
mod smoke;
