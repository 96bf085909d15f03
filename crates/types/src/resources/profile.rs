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
    /// What an executor must have; none for a profile that only sets what tasks take.
    pub executor: Option<ExecutorRequest>,
    /// Cpus of one task.
    pub task_cpus: Cpus,
    /// Custom resources of one task.
    pub task_resources: TaskResourceRequest,
}

impl ResourceProfile {
    /// The name under which cpus limit the number of tasks.
    pub const CPUS: &'static str = "cpus";
    /// Memory of an executor when nothing is configured.
    pub const DEFAULT_MEMORY_MIB: u64 = 1024;

    /// The profile of an application whose configuration sets only the cpus of a task.
    ///
    /// Cores are unset: an executor then has as many as its worker gives.
    pub fn default_profile(task_cpus: Cpus) -> Self {
        let executor = ExecutorRequest { memory_mib: Self::DEFAULT_MEMORY_MIB, ..ExecutorRequest::default() };
        Self {
            id: ProfileId::DEFAULT,
            executor: Some(executor),
            task_cpus,
            task_resources: TaskResourceRequest::new(),
        }
    }

    /// Whether it sets only what tasks take, and nothing about executors (Spark's `TaskResourceProfile`).
    pub fn is_task_only(&self) -> bool {
        self.executor.is_none()
    }

    /// Whether both ask for the same; their ids do not matter, and an amount of zero is no request.
    pub fn is_equivalent(&self, other: &Self) -> bool {
        let same_executor = match (&self.executor, &other.executor) {
            (Some(mine), Some(theirs)) => mine.is_equivalent(theirs),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        same_executor
            && self.task_cpus == other.task_cpus
            && self.requested_resources().eq(other.requested_resources())
    }

    /// Checks the profile by itself.
    ///
    /// A task-only profile leaves open what executors have; [`fits`](Self::fits) checks it against some.
    pub fn validate(&self) -> Result<(), ProfileError> {
        if self.task_cpus == Cpus::ZERO || self.task_cpus > Cpus::MAX {
            return Err(ProfileError::BadCpus { cpus: self.task_cpus });
        }
        // Above a half one task has an address to itself, and a full profile must then ask for 1.
        let limit = if self.is_task_only() { Share::WHOLE } else { Share::one_of(2) };
        for (resource, &amount) in self.requested_resources() {
            if amount > limit && !amount.is_whole() {
                return Err(ProfileError::BadShare { resource: resource.clone(), amount, limit });
            }
        }
        match &self.executor {
            Some(executor) => self.fits(executor),
            None => Ok(()),
        }
    }

    /// Checks that an executor that has what `executor` asks for can run at least one task.
    pub fn fits(&self, executor: &ExecutorRequest) -> Result<(), ProfileError> {
        if let Some(cores) = executor.cores
            && self.task_cpus > Cpus::cores(cores)
        {
            return Err(ProfileError::MoreThanExecutor {
                resource: Self::CPUS.into(),
                wanted: self.task_cpus.to_string(),
                there: cores.to_string(),
            });
        }
        for (resource, &amount) in self.requested_resources() {
            let there = executor.addresses(resource);
            if there == 0 {
                return Err(ProfileError::NotOnExecutor { resource: resource.clone() });
            }
            if amount > Share::addresses(there) {
                return Err(ProfileError::MoreThanExecutor {
                    resource: resource.clone(),
                    wanted: amount.to_string(),
                    there: there.to_string(),
                });
            }
        }
        Ok(())
    }

    /// How many tasks fit on one executor, and the resource that sets the limit.
    ///
    /// `cores` are those of an executor where the profile does not set them. Where neither is known cores
    /// are no limit; where nothing else is one either, the answer is 1 with no limiting resource.
    pub fn slots_per_executor(&self, cores: Option<u32>) -> (u32, Option<&str>) {
        match &self.executor {
            Some(executor) => self.slots_on(executor, cores),
            // With nothing known of the executors' resources only cores can be a limit.
            None => self.least_slots(cores, std::iter::empty()),
        }
    }

    /// Like [`slots_per_executor`](Self::slots_per_executor), on an executor that has what `executor` asks for.
    pub fn slots_on(&self, executor: &ExecutorRequest, cores: Option<u32>) -> (u32, Option<&str>) {
        let custom = self
            .requested_resources()
            .map(|(name, &each)| (Share::slots_on_addresses(executor.addresses(name), each), name.as_ref()));
        self.least_slots(executor.cores.or(cores), custom)
    }

    /// The custom resources a task really asks for: an amount of zero means not requested.
    pub fn requested_resources(&self) -> impl Iterator<Item = (&ResourceName, &Share)> {
        self.task_resources.iter().filter(|(_, amount)| !amount.is_zero())
    }

    /// The smallest of all slot counts; of equal ones cpus, then the first name.
    fn least_slots<'a>(
        &self,
        cores: Option<u32>,
        custom: impl Iterator<Item = (u32, &'a str)>,
    ) -> (u32, Option<&'a str>) {
        let by_cores = cores.map(|cores| (Cpus::cores(cores).slots(self.task_cpus), Self::CPUS));
        match by_cores.into_iter().chain(custom).min_by_key(|&(slots, _)| slots) {
            Some((slots, name)) => (slots, Some(name)),
            None => (1, None),
        }
    }
}

/// Custom resources by name and amount.
pub type TaskResourceRequest = BTreeMap<ResourceName, Share>;

/// What one executor must have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorRequest {
    /// Cores; none means as many as the worker gives.
    pub cores: Option<u32>,
    /// Memory in mebibytes.
    pub memory_mib: u64,
    /// Whole addresses of custom resources.
    pub resources: BTreeMap<ResourceName, u32>,
}

impl ExecutorRequest {
    /// How many addresses of `resource` it asks for.
    pub fn addresses(&self, resource: &str) -> u32 {
        self.resources.get(resource).copied().unwrap_or(0)
    }

    /// Whether both ask for the same; no addresses of a resource is no request.
    pub fn is_equivalent(&self, other: &Self) -> bool {
        let requested = |(_, addresses): &(&ResourceName, &u32)| **addresses > 0;
        self.cores == other.cores
            && self.memory_mib == other.memory_mib
            && self.resources.iter().filter(requested).eq(other.resources.iter().filter(requested))
    }
}

/// The addresses given to one task, with the share of each.
pub type ResourceAssignment = BTreeMap<ResourceName, Vec<(Arc<str>, Share)>>;

/// Why a profile cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ProfileError {
    /// Cpus of a task are out of range.
    #[error("a task's amount of cpus is {cpus}; it must be at least 0.000000001 and at most 2147483647")]
    BadCpus { cpus: Cpus },
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
    /// No such profile is registered.
    #[error("{profile} is not registered")]
    Unknown { profile: ProfileId },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(text: &str) -> Share {
        text.parse().unwrap()
    }

    /// A full profile: executors with `cores` and `gpus`, tasks with 1 cpu and `task_gpus`.
    fn full(cores: Option<u32>, gpus: u32, task_gpus: &str) -> ResourceProfile {
        let resources = BTreeMap::from([("gpu".into(), gpus)]);
        ResourceProfile {
            id: ProfileId(1),
            executor: Some(ExecutorRequest { cores, memory_mib: 0, resources }),
            ..task_only(task_gpus)
        }
    }

    fn task_only(task_gpus: &str) -> ResourceProfile {
        ResourceProfile {
            id: ProfileId(1),
            executor: None,
            task_cpus: Cpus::ONE,
            task_resources: BTreeMap::from([("gpu".into(), share(task_gpus))]),
        }
    }

    /// Behaviours: RP-001, RP-002.
    #[test]
    fn default_profile_has_one_gibibyte_and_leaves_cores_unset() {
        let profile = ResourceProfile::default_profile(Cpus::ONE);

        let executor = ExecutorRequest { cores: None, memory_mib: 1024, resources: BTreeMap::new() };
        let expected = ResourceProfile {
            id: ProfileId::DEFAULT,
            executor: Some(executor),
            task_cpus: Cpus::ONE,
            task_resources: BTreeMap::new(),
        };
        assert_eq!(profile, expected);
        assert_eq!(profile.validate(), Ok(()));
    }

    /// Behaviours: RP-002.
    #[test]
    fn unknown_cores_are_no_limit() {
        assert_eq!(ResourceProfile::default_profile(Cpus::ONE).slots_per_executor(None), (1, None));
        assert_eq!(full(None, 4, "0.5").slots_per_executor(None), (8, Some("gpu")));
        assert_eq!(task_only("1").slots_per_executor(None), (1, None));
    }

    /// Behaviours: RP-003.
    #[test]
    fn the_scarcest_resource_sets_the_tasks_per_executor() {
        let mut both = full(Some(20), 2, "0.3");
        let executor = both.executor.as_mut().unwrap();
        executor.resources.insert("fpga".into(), 7);
        both.task_resources.insert("fpga".into(), Share::addresses(2));

        assert_eq!(both.slots_per_executor(None), (3, Some("fpga")));
        assert_eq!(full(Some(4), 2, "1").slots_per_executor(None), (2, Some("gpu")));
        assert_eq!(full(Some(4), 2, "0.5").slots_per_executor(None), (4, Some("cpus")), "cpus at a tie");
        assert_eq!(full(Some(4), 2, "0.25").slots_per_executor(Some(1)), (4, Some("cpus")), "its own cores");
        assert_eq!(full(None, 2, "0.25").slots_per_executor(Some(1)), (1, Some("cpus")));
        assert_eq!(full(None, 4, "2").slots_per_executor(None), (2, Some("gpu")));
    }

    /// Behaviours: RP-004.
    #[test]
    fn custom_amounts_are_whole_or_small_parts() {
        let bad = |amount: &str, limit: &str| {
            Err(ProfileError::BadShare { resource: "gpu".into(), amount: share(amount), limit: share(limit) })
        };

        assert_eq!(full(None, 4, "0.5").validate(), Ok(()));
        assert_eq!(full(None, 4, "3").validate(), Ok(()));
        assert_eq!(full(None, 4, "0.6").validate(), bad("0.6", "0.5"));
        assert_eq!(full(None, 4, "1.5").validate(), bad("1.5", "0.5"));
        assert_eq!(task_only("0.6").validate(), Ok(()));
        assert_eq!(task_only("1.5").validate(), bad("1.5", "1"));
    }

    /// Behaviours: RP-004.
    #[test]
    fn cpus_may_be_any_positive_decimal() {
        let with_cpus = |task_cpus| ResourceProfile { task_cpus, ..full(None, 1, "1") }.validate();

        assert_eq!(with_cpus(Cpus::nanos(1)), Ok(()));
        assert_eq!(with_cpus("1.7".parse().unwrap()), Ok(()));
        assert_eq!(with_cpus(Cpus::ZERO), Err(ProfileError::BadCpus { cpus: Cpus::ZERO }));
        let cpus = Cpus::MAX.plus(Cpus::nanos(1));
        assert_eq!(with_cpus(cpus), Err(ProfileError::BadCpus { cpus }));
    }

    /// Behaviours: RP-004.
    #[test]
    fn an_executor_must_have_what_one_task_takes() {
        let more = |resource: &str, wanted: &str, there: &str| {
            let (wanted, there) = (wanted.to_owned(), there.to_owned());
            Err(ProfileError::MoreThanExecutor { resource: resource.into(), wanted, there })
        };
        let big_task = ResourceProfile { task_cpus: "1.5".parse().unwrap(), ..full(Some(1), 1, "1") };

        assert_eq!(full(None, 1, "2").validate(), more("gpu", "2", "1"));
        assert_eq!(big_task.validate(), more("cpus", "1.5", "1"));
        let missing = Err(ProfileError::NotOnExecutor { resource: "gpu".into() });
        assert_eq!(full(None, 0, "1").validate(), missing);
        assert_eq!(task_only("1").fits(&ExecutorRequest::default()), missing);
    }

    /// Behaviours: RP-004.
    #[test]
    fn an_amount_of_zero_is_not_requested() {
        let nothing = full(Some(2), 0, "0");

        assert_eq!(nothing.validate(), Ok(()));
        assert_eq!(nothing.slots_per_executor(None), (2, Some("cpus")));
        let bare = ResourceProfile {
            executor: Some(ExecutorRequest { cores: Some(2), ..ExecutorRequest::default() }),
            task_resources: BTreeMap::new(),
            ..nothing.clone()
        };
        assert!(nothing.is_equivalent(&bare) && bare.is_equivalent(&nothing));
    }

    /// Behaviours: RP-001.
    #[test]
    fn equivalent_profiles_differ_at_most_in_their_ids() {
        let profile = full(Some(4), 2, "0.5");

        assert!(profile.is_equivalent(&ResourceProfile { id: ProfileId(9), ..profile.clone() }));
        assert!(!profile.is_equivalent(&full(Some(5), 2, "0.5")));
        assert!(!profile.is_equivalent(&full(Some(4), 3, "0.5")));
        assert!(!profile.is_equivalent(&full(Some(4), 2, "0.25")));
        assert!(!profile.is_equivalent(&task_only("0.5")));
        assert!(!profile.is_equivalent(&ResourceProfile { task_cpus: Cpus::cores(2), ..profile.clone() }));
        assert!(task_only("1").is_task_only() && !profile.is_task_only());
    }
}
