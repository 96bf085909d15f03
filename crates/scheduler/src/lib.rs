//! Every scheduling decision of Firesteel, as pure state machines.
//!
//! Each machine takes events and the time, changes its state and returns effects: plain data that whoever
//! drives it performs. Nothing here reads a clock, opens a socket or a file, starts a thread, logs, or walks a
//! map whose order is random; randomness comes from a seeded generator in the state. The same events at the
//! same times therefore give the same effects, byte for byte, on every machine.

pub mod barrier_sync;
pub mod commit;
pub mod exclusion;
pub mod heartbeat;
pub mod map_output;
pub mod master;
pub mod pool;
pub mod resources;
pub mod worker;
