//! Exact amounts of what a task needs and an executor has.
//!
//! Amounts are whole numbers of a small unit, never floating point: five tasks of 0.2 cpus fill one core
//! exactly, and taking and giving back leaves no residue however often it happens.

mod amount;
mod profile;

pub use amount::{AmountError, Cpus, Share};
pub use profile::{
    ExecutorRequest, ProfileError, ResourceAssignment, ResourceName, ResourceProfile, TaskResourceRequest,
};
