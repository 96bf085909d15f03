//! Shuffle files: what comes back, who wins, and what damage does.

mod commit;
mod faults;
mod spills;
mod support;
