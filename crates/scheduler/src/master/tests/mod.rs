//! Tests of the master, one file for each side of it.

mod decommission;
mod drivers;
mod executors;
mod harness;
mod placement;
mod random;
mod recovery;
mod states;
mod waits;
mod workers;
