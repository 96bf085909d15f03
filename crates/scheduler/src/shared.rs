//! What both halves of the scheduler touch.

use std::collections::VecDeque;

use firesteel_types::{ListenerEvent, Timestamp};

use crate::{
    commit::OutputCommitCoordinator,
    config::SchedulerConfig,
    dag::DagEvent,
    effect::{Effect, Ignored},
    executors::{Backend, BlockLocations, Executors, HostId},
    map_output::MapOutputTracker,
    resources::ProfileManager,
    task::TaskOrder,
};

/// The state shared by the DAG scheduler and the task scheduler, and the queues between them.
///
/// The halves never call each other. The DAG scheduler leaves orders, the task scheduler leaves reports, and
/// [`Scheduler`](crate::Scheduler) carries them over until both queues are empty. So neither is ever entered while
/// it is in the middle of something.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) now: Timestamp,
    pub(crate) config: SchedulerConfig,
    pub(crate) out: Vec<Effect>,
    pub(crate) to_dag: VecDeque<DagEvent>,
    pub(crate) to_tasks: VecDeque<TaskOrder>,
    pub(crate) executors: Executors,
    pub(crate) backend: Backend,
    pub(crate) blocks: BlockLocations,
    pub(crate) map_outputs: MapOutputTracker,
    pub(crate) profiles: ProfileManager,
    pub(crate) commits: OutputCommitCoordinator,
}

impl Shared {
    /// Tells the listeners.
    pub(crate) fn post(&mut self, event: ListenerEvent) {
        self.out.push(Effect::Post(event));
    }

    /// Asks for the racks of those of these hosts that were not asked for yet, where hosts have racks at all.
    pub(crate) fn ask_racks(&mut self, hosts: impl IntoIterator<Item = HostId>) {
        if self.config.locality.racks {
            let hosts = self.executors.hosts.ask_racks(hosts);
            if !hosts.is_empty() {
                self.out.push(Effect::ResolveRacks { hosts });
            }
        }
    }

    /// Reports why an event changed nothing.
    pub(crate) fn ignore(&mut self, why: Ignored) {
        self.out.push(Effect::Ignored(why));
    }
}
