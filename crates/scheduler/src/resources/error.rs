//! Why resources could not be taken or given back.
//!
//! The main type is [`ResourceError`]. That a task does not fit is no error: `take` answers with nothing.

use std::sync::Arc;

use firesteel_types::{Cpus, ResourceName, Share};

/// Why requested or reported amounts do not match what an executor has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ResourceError {
    /// More cpus taken than are free.
    #[error("cannot take {wanted} cpus; only {free} are free")]
    NotEnoughCpus { wanted: Cpus, free: Cpus },
    /// More cpus given back than were taken.
    #[error("cannot give back {given} cpus; only {taken} are taken")]
    TooManyCpus { given: Cpus, taken: Cpus },
    /// The executor has nothing of that name.
    #[error("the executor has no resource {resource}")]
    UnknownResource { resource: ResourceName },
    /// The resource has no such address.
    #[error("the executor's resource {resource} has no address {address}")]
    UnknownAddress { resource: ResourceName, address: Arc<str> },
    /// More of an address taken than is left.
    #[error("cannot take {wanted} of {resource} {address}; only {free} is left")]
    NotEnoughLeft { resource: ResourceName, address: Arc<str>, wanted: Share, free: Share },
    /// More of an address given back than makes it whole.
    #[error("cannot give back {given} of {resource} {address}; {free} is free already")]
    BeyondWhole { resource: ResourceName, address: Arc<str>, given: Share, free: Share },
}
