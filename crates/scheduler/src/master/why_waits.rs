//! Why an application has no executor: [`AppWait`].

use firesteel_types::AppId;
use serde::{Deserialize, Serialize};

use super::{Master, WorkerInfo};

/// Why an application has no executor yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum AppWait {
    /// No worker is registered that could start one.
    #[error("no worker has registered with the master: start one with `firesteel worker`")]
    NoWorkers,
    /// No worker could ever take one.
    #[error(
        "one executor needs {cores} cores and {memory_mib} MiB, and the largest of {workers} workers has \
         {largest_cores} cores and {largest_memory_mib} MiB: lower firesteel.executor.memory or \
         firesteel.executor.cores, or start larger workers"
    )]
    TooLarge { cores: u32, memory_mib: u64, workers: u32, largest_cores: u32, largest_memory_mib: u64 },
    /// Others have what it needs.
    #[error(
        "one executor needs {cores} cores and {memory_mib} MiB, and other applications use too much of the {workers} \
         workers: it starts when they end"
    )]
    Busy { cores: u32, memory_mib: u64, workers: u32 },
}

impl Master {
    /// Why an application has no executor; none if it has one, wants none, or is not known.
    pub fn why_waits(&self, app: &AppId) -> Option<AppWait> {
        let info = self.apps().find(|info| info.id() == app)?;
        if !info.executors.is_empty() || info.cores_left() == 0 {
            return None;
        }
        let need = info.profiles.values().find(|profile| profile.executors_left() > 0)?.need();
        let workers: Vec<&WorkerInfo> = self.workers().filter(|worker| worker.takes_work()).collect();
        let (cores, memory_mib, count) = (need.cores, need.memory_mib, workers.len() as u32);
        if workers.is_empty() {
            return Some(AppWait::NoWorkers);
        }
        let fits = |worker: &&WorkerInfo| {
            let has = &worker.description.resources;
            has.cores >= cores && has.memory_mib >= memory_mib
        };
        if workers.iter().any(fits) {
            return Some(AppWait::Busy { cores, memory_mib, workers: count });
        }
        let largest = workers.iter().map(|worker| &worker.description.resources);
        let largest = largest.max_by_key(|has| (has.memory_mib, has.cores))?;
        Some(AppWait::TooLarge {
            cores,
            memory_mib,
            workers: count,
            largest_cores: largest.cores,
            largest_memory_mib: largest.memory_mib,
        })
    }
}
