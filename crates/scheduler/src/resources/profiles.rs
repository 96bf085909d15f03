//! The resource profiles of one application.
//!
//! The main type is [`ProfileManager`]. A profile is checked before it is registered and never changes afterwards, so
//! what its tasks need and what its executors have is worked out once. It does not request executors.

use std::collections::{BTreeMap, BTreeSet};

use firesteel_types::{
    Cpus, ExecutorRequest, ProfileError, ProfileId, Properties, ResourceName, ResourceProfile,
};

use super::{ExecutorResources, TaskNeed, executor_resources::MOST_SLOTS};

/// What the application runs on, as far as profiles depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileSupport {
    /// Everything runs inside the driver.
    pub local: bool,
    /// Executors are requested as stages need them.
    pub dynamic_allocation: bool,
    /// Profiles that meet in one stage are merged rather than refused.
    pub merge_conflicts: bool,
}

/// Every registered profile of an application.
#[derive(Clone, Debug)]
pub struct ProfileManager {
    support: ProfileSupport,
    /// By id; ids are given without gaps, and the default profile is the first.
    profiles: Vec<Registered>,
}

/// A profile with what is worked out from it once.
#[derive(Clone, Debug)]
struct Registered {
    profile: ResourceProfile,
    need: TaskNeed,
    executor: ExecutorRequest,
}

impl ProfileManager {
    /// The property with the cores of an executor of the stage's profile.
    pub const EXECUTOR_CORES: &'static str = "resource.executor.cores";
    /// The property with the most tasks that run at once on an executor of the stage's profile.
    pub const MAX_TASKS_PER_EXECUTOR: &'static str = "resource.maxTasksPerExecutor";

    /// Starts with the default profile, which gets id 0 in place of its own.
    pub fn new(default: ResourceProfile, support: ProfileSupport) -> Result<Self, ProfileError> {
        let executor = default.executor.unwrap_or_default();
        let profile = ResourceProfile { id: ProfileId::DEFAULT, executor: Some(executor.clone()), ..default };
        profile.validate()?;
        let need = TaskNeed::from(&profile);
        Ok(Self { support, profiles: vec![Registered { profile, need, executor }] })
    }

    /// Gives the profile an id, or that of an equivalent one registered before. The id it carries does not
    /// matter. A profile that is refused leaves no trace.
    pub fn register(&mut self, profile: ResourceProfile) -> Result<ProfileId, ProfileError> {
        if self.support.local {
            return Err(ProfileError::LocalMode);
        }
        if !profile.is_task_only() && !self.support.dynamic_allocation {
            return Err(ProfileError::NeedsDynamicAllocation);
        }
        profile.validate()?;
        let executor = self.executor_for(&profile);
        profile.fits(&executor)?;
        if let Some(known) = self.equivalent(&profile) {
            return Ok(known);
        }

        let id = ProfileId(u32::try_from(self.profiles.len()).expect("profiles are written by people"));
        let profile = ResourceProfile { id, ..profile };
        let need = TaskNeed::from(&profile);
        self.profiles.push(Registered { profile, need, executor });
        Ok(id)
    }

    /// The profile of that id.
    pub fn get(&self, id: ProfileId) -> Option<&ResourceProfile> {
        self.profiles.get(id.index()).map(|known| &known.profile)
    }

    /// What one task of the profile takes.
    #[inline]
    pub fn need(&self, id: ProfileId) -> Option<&TaskNeed> {
        self.profiles.get(id.index()).map(|known| &known.need)
    }

    /// What the executors that run the profile's tasks have: its own request, with the default profile's cores
    /// and memory where it sets none.
    pub fn executor(&self, id: ProfileId) -> Option<&ExecutorRequest> {
        self.profiles.get(id.index()).map(|known| &known.executor)
    }

    /// How many tasks of the profile fit on one of its executors, and the resource that sets the limit.
    pub fn slots_per_executor(&self, id: ProfileId) -> Option<(u32, Option<&str>)> {
        let known = self.profiles.get(id.index())?;
        Some(known.profile.slots_on(&known.executor, None))
    }

    /// Whether tasks of one profile may run on executors of another.
    ///
    /// Executors serve their own profile. Without dynamic allocation no executors are started for a task-only profile,
    /// so its tasks run on those of the default profile.
    #[inline]
    pub fn can_run_on(&self, task_profile: ProfileId, executor_profile: ProfileId) -> bool {
        task_profile == executor_profile
            || (executor_profile == ProfileId::DEFAULT
                && !self.support.dynamic_allocation
                && self.get(task_profile).is_some_and(ResourceProfile::is_task_only))
    }

    /// How many tasks of the profile can run at once on `executors`, each with its profile, be they busy or
    /// free; at most `i32::MAX`, and none for a profile that is not registered.
    pub fn max_concurrent_tasks<'a>(
        &self,
        id: ProfileId,
        executors: impl IntoIterator<Item = (ProfileId, &'a ExecutorResources)>,
    ) -> u32 {
        let Some(need) = self.need(id) else { return 0 };
        let usable = executors.into_iter().filter(|&(profile, _)| self.can_run_on(id, profile));
        let slots = usable.map(|(_, executor)| executor.total_slots(need));
        slots.fold(0, u32::saturating_add).min(MOST_SLOTS)
    }

    /// The profile of a stage in which these meet.
    ///
    /// None means the default profile. Several are an error unless merging is on; then each amount is the
    /// largest of all, and the result is registered like any other profile.
    pub fn resolve(&mut self, profiles: &BTreeSet<ProfileId>) -> Result<ProfileId, ProfileError> {
        let mut known = Vec::with_capacity(profiles.len());
        for &profile in profiles {
            known.push(self.get(profile).ok_or(ProfileError::Unknown { profile })?);
        }
        match known[..] {
            [] => Ok(ProfileId::DEFAULT),
            [only] => Ok(only.id),
            [left, right, ..] if !self.support.merge_conflicts => {
                Err(ProfileError::Conflict { left: left.id, right: right.id })
            }
            [first, ref rest @ ..] => {
                let merged = rest.iter().fold(first.clone(), |merged, other| merge(merged, other));
                // Looked for first: the default profile may be the result where none can be registered.
                match self.equivalent(&merged) {
                    Some(known) => Ok(known),
                    None => self.register(merged),
                }
            }
        }
    }

    /// The properties of a stage: a copy of the job's with what follows from the profile.
    ///
    /// The job's own properties stay as they are, because other stages of the job may have another profile.
    pub fn stage_properties(&self, id: ProfileId, job: &Properties) -> Properties {
        let mut properties = job.clone();
        let Some(known) = self.profiles.get(id.index()) else { return properties };
        if let Some(cores) = known.executor.cores {
            properties = properties.with(Self::EXECUTOR_CORES, cores.to_string());
        }
        if let Some(tasks) = self.most_tasks_at_once(known) {
            properties = properties.with(Self::MAX_TASKS_PER_EXECUTOR, tasks.to_string());
        }
        properties
    }

    /// How many tasks share one executor of the profile at most, if that is known.
    ///
    /// On executors that several profiles share, a custom resource limits only its own profile's tasks, so
    /// there only cpus count; rounded up, as in Spark, so that shares of the memory by this number never sum
    /// up to more than there is.
    fn most_tasks_at_once(&self, known: &Registered) -> Option<u32> {
        let profile = &known.profile;
        let is_shared =
            !self.support.dynamic_allocation && (profile.id == ProfileId::DEFAULT || profile.is_task_only());
        if is_shared {
            let cores = Cpus::cores(known.executor.cores?);
            let full = cores.slots(profile.task_cpus);
            let is_exact = cores.as_nanos().is_multiple_of(profile.task_cpus.as_nanos());
            return Some(if is_exact { full } else { full.saturating_add(1).min(MOST_SLOTS) });
        }
        let (slots, limit) = profile.slots_on(&known.executor, None);
        limit.map(|_| slots)
    }

    fn equivalent(&self, profile: &ResourceProfile) -> Option<ProfileId> {
        let mut known = self.profiles.iter().map(|known| &known.profile);
        known.find(|known| known.is_equivalent(profile)).map(|known| known.id)
    }

    /// What the executors have that run tasks of `profile`.
    fn executor_for(&self, profile: &ResourceProfile) -> ExecutorRequest {
        let default = &self.profiles[ProfileId::DEFAULT.index()].executor;
        match &profile.executor {
            Some(own) => ExecutorRequest {
                cores: own.cores.or(default.cores),
                memory_mib: if own.memory_mib == 0 { default.memory_mib } else { own.memory_mib },
                resources: own.resources.clone(),
            },
            // Executors started for the profile get no custom resources, as in Spark: it does not ask for any.
            None if self.support.dynamic_allocation => {
                ExecutorRequest { resources: BTreeMap::new(), ..default.clone() }
            }
            None => default.clone(),
        }
    }
}

/// A profile that asks for the larger of both wherever they differ.
fn merge(left: ResourceProfile, right: &ResourceProfile) -> ResourceProfile {
    let executor = match (left.executor, &right.executor) {
        (Some(left), Some(right)) => Some(ExecutorRequest {
            cores: left.cores.max(right.cores),
            memory_mib: left.memory_mib.max(right.memory_mib),
            resources: larger_of_each(left.resources, &right.resources),
        }),
        (Some(only), None) => Some(only),
        (None, other) => other.clone(),
    };
    ResourceProfile {
        id: left.id,
        executor,
        task_cpus: left.task_cpus.max(right.task_cpus),
        task_resources: larger_of_each(left.task_resources, &right.task_resources),
    }
}

fn larger_of_each<A: Copy + Ord>(
    mut left: BTreeMap<ResourceName, A>,
    right: &BTreeMap<ResourceName, A>,
) -> BTreeMap<ResourceName, A> {
    for (resource, &amount) in right {
        let larger = left.get(resource).map_or(amount, |&other| other.max(amount));
        left.insert(resource.clone(), larger);
    }
    left
}
