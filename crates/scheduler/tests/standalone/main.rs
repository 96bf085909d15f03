//! Masters, workers and applications of a standalone cluster together, over an in-memory network.
//!
//! The machines are the real ones; the network, the clock, the processes and the store are the harness's. Messages
//! are carried as they are: nothing between the machines translates.

mod app;
mod cluster;
mod faults;
mod network;
mod random;
mod scenarios;
mod settled;
mod show;
