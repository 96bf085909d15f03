//! Records of 100 bytes sorted by keys of ten: in memory, and with far less memory than data.

mod by_hand;
mod entries;
mod on_engine;

pub(super) use entries::{TERASORT, TERASORT_SPILL};
