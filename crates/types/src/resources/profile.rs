//! Resource profiles: what an executor must have and what a task takes of it.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{Cpus, ProfileId, Share};

/// The name of a custom resource, such as `gpu`.
pub type ResourceName = Arc<str>;

/// What the tasks of a stage take, and what its executors have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceProfile {
    /// Its id. Not looked at when profiles are compared for equivalence.
    pub id: ProfileId,
    /// What an executor must have; none for a profile that only says what tasks take.
    pub executor: Option<ExecutorRequest>,
    /// Cpus of one task.
    pub task_cpus: Cpus,
    /// Custom resources of one task.
    pub task_resources: TaskResourceRequest,
}

/// Custom resources by name and amount.
pub type TaskResourceRequest = BTreeMap<ResourceName, Share>;

/// What one executor must have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorRequest {
    /// Cores; none means whatever the worker gives.
    pub cores: Option<u32>,
    /// Memory in mebibytes.
    pub memory_mib: u64,
    /// Whole addresses of custom resources.
    pub resources: BTreeMap<ResourceName, u32>,
}

/// The addresses given to one task, with the share of each.
pub type ResourceAssignment = BTreeMap<ResourceName, Vec<(Arc<str>, Share)>>;

/// Why a profile cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ProfileError {
    /// A custom amount is neither a whole number nor a share that divides an address.
    #[error("a task's amount of {resource} is {amount}; it must be a whole number or at most {limit}")]
    BadShare { resource: ResourceName, amount: Share, limit: Share },
    /// A task wants a resource that executors do not have.
    #[error(
        "tasks ask for {resource}, but executors of the profile have none; add it to the executor's resources"
    )]
    NotOnExecutor { resource: ResourceName },
    /// A task wants more than a whole executor has.
    #[error("a task asks for {wanted} of {resource}, but an executor has only {there}")]
    MoreThanExecutor { resource: ResourceName, wanted: String, there: String },
    /// Full profiles need a cluster that can start executors for them.
    #[error("a profile with executor resources needs a cluster with dynamic allocation")]
    NeedsDynamicAllocation,
    /// Local mode has only the driver's own resources.
    #[error("resource profiles are not supported in local mode")]
    LocalMode,
    /// Two profiles meet in one stage.
    #[error("{left} and {right} meet in one stage; set them to the same profile or allow merging")]
    Conflict { left: ProfileId, right: ProfileId },
    /// Nobody registered it.
    #[error("{profile} is not registered")]
    Unknown { profile: ProfileId },
}
