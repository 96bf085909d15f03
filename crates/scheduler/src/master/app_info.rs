//! What the master knows of one application: its executors by profile and what it may still take.
//!
//! [`AppInfo`] is the main type. What an executor takes of its worker is kept with the worker, not here.

use std::collections::BTreeMap;

use firesteel_types::{AppId, ExecutorId, ExecutorRequest, ProfileId, Timestamp, WorkerId};
use serde::{Deserialize, Serialize};

use super::event::{AppDescription, Peer, ProfileTotal, StoredApp};
use crate::deploy::Need;

/// The largest number of executors or cores, which stands for "any number".
pub const UNLIMITED: u32 = i32::MAX as u32;

/// Executors of masters have smaller numbers.
pub(super) const MAX_EXECUTOR: ExecutorId = ExecutorId(i32::MAX as u32);

/// Whether an application has executors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AppState {
    /// It had none yet.
    Waiting,
    /// It has had some.
    Running,
    /// Known only from what was stored: it has not acknowledged the new master.
    Unknown,
}

/// A live application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppInfo {
    /// Its id, when it registered and what it asked for then.
    pub stored: StoredApp,
    /// The connection to its driver.
    pub peer: Peer,
    /// Whether it has executors.
    pub state: AppState,
    /// Its executors and their workers.
    pub executors: BTreeMap<ExecutorId, WorkerId>,
    /// Cores of its executors.
    pub cores_granted: u64,
    /// Executors that failed since one was last seen running.
    pub failures: u32,
    /// What it wants of each profile.
    pub profiles: BTreeMap<ProfileId, ProfileInfo>,
    cores_max: u32,
    next_executor: u32,
}

/// One profile of an application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileInfo {
    /// What an executor must have.
    pub request: ExecutorRequest,
    /// How many executors it wants, those it has included.
    pub limit: u32,
    /// How many it has.
    pub executors: u32,
}

/// An application that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedApp {
    /// Its id.
    pub id: AppId,
    /// Its name.
    pub name: String,
    /// When it registered.
    pub registered: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// How it ended.
    pub end: AppEnd,
}

/// How an application ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AppEnd {
    /// It unregistered, or its connection was lost.
    Finished,
    /// The master gave it up.
    Failed,
}

impl AppInfo {
    /// A new application without executors.
    pub(super) fn new(stored: StoredApp, peer: Peer, default_cores: Option<u32>, state: AppState) -> Self {
        let description = &stored.description;
        let default = ProfileInfo {
            request: description.executor.clone(),
            limit: description.executor_limit.unwrap_or(UNLIMITED).min(UNLIMITED),
            executors: 0,
        };
        Self {
            peer,
            state,
            executors: BTreeMap::new(),
            cores_granted: 0,
            failures: 0,
            profiles: BTreeMap::from([(ProfileId::DEFAULT, default)]),
            cores_max: description.cores_max.or(default_cores).unwrap_or(UNLIMITED).min(UNLIMITED),
            next_executor: 0,
            stored,
        }
    }

    /// Its id.
    pub fn id(&self) -> &AppId {
        &self.stored.id
    }

    /// What it asked for when it registered.
    pub fn description(&self) -> &AppDescription {
        &self.stored.description
    }

    /// Cores it may still take.
    pub fn cores_left(&self) -> u32 {
        let left = u64::from(self.cores_max).saturating_sub(self.cores_granted);
        u32::try_from(left).expect("not above the maximum, which fits")
    }

    /// How many executors it wants of all profiles together; at most [`UNLIMITED`].
    pub fn executor_limit(&self) -> u32 {
        let sum: u64 = self.profiles.values().map(|profile| u64::from(profile.limit)).sum();
        u32::try_from(sum).unwrap_or(UNLIMITED).min(UNLIMITED)
    }

    /// Sets how many executors of a profile it wants, and defines the profile when it is new.
    pub(super) fn request(&mut self, wanted: &ProfileTotal) {
        let limit = u32::try_from(wanted.total).unwrap_or(UNLIMITED).min(UNLIMITED);
        let default = &self.stored.description.executor;
        let profile = self.profiles.entry(wanted.profile).or_insert_with(|| {
            let mut request = wanted.executor.clone().unwrap_or_else(|| default.clone());
            request.cores = request.cores.or(default.cores);
            if request.memory_mib == 0 {
                request.memory_mib = default.memory_mib;
            }
            ProfileInfo { request, limit, executors: 0 }
        });
        profile.limit = limit;
    }

    /// The number of the next executor.
    pub(super) fn next_executor(&mut self) -> ExecutorId {
        let id = ExecutorId(self.next_executor);
        self.next_executor += 1;
        id
    }

    /// Gives no number up to that of `executor` from now on.
    pub(super) fn skip_executor(&mut self, executor: ExecutorId) {
        // Numbers that no master gave out would leave no room for further ones.
        if executor < MAX_EXECUTOR {
            self.next_executor = self.next_executor.max(executor.0 + 1);
        }
    }

    /// Adds an executor. Numbers given later are above its own.
    pub(super) fn add_executor(
        &mut self,
        executor: ExecutorId,
        profile: ProfileId,
        cores: u32,
        worker: WorkerId,
    ) {
        let before = self.executors.insert(executor, worker);
        assert!(before.is_none(), "{executor} is on a worker already");
        self.skip_executor(executor);
        self.cores_granted += u64::from(cores);
        let default = &self.stored.description.executor;
        // After a recovery the profile is not defined until the application asks for it again.
        let of_profile = self.profiles.entry(profile).or_insert_with(|| ProfileInfo {
            request: default.clone(),
            limit: 0,
            executors: 0,
        });
        of_profile.executors += 1;
    }

    /// Removes an executor.
    pub(super) fn remove_executor(&mut self, executor: ExecutorId, profile: ProfileId, cores: u32) {
        if self.executors.remove(&executor).is_some() {
            self.cores_granted -= u64::from(cores);
            self.profiles.get_mut(&profile).expect("executors belong to a profile of theirs").executors -= 1;
        }
    }
}

impl ProfileInfo {
    /// What one executor needs of a worker at least.
    pub(super) fn need(&self) -> Need {
        Need {
            cores: self.request.cores.unwrap_or(1),
            memory_mib: self.request.memory_mib,
            resources: self.request.resources.clone(),
        }
    }

    /// How many executors it wants and has not.
    pub(super) fn executors_left(&self) -> u32 {
        self.limit.saturating_sub(self.executors)
    }
}
