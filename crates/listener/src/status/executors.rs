//! The executors of the status store: [`Executors`].

use std::collections::BTreeMap;

use firesteel_types::{Cpus, ExecutorId, Host, ProfileId, TaskInfo, TaskMetrics, Timestamp};
use firesteel_ui::app::ExecutorData;
use hashbrown::HashMap;

use super::{retained::Retained, state::Ended};

/// Executors that are there, and the last of those that are not.
pub(super) struct Executors {
    pub(super) all: HashMap<ExecutorId, ExecutorData>,
    removed: Retained<ExecutorId>,
}

impl Executors {
    pub(super) fn new(retained: usize) -> Self {
        Self { all: HashMap::new(), removed: Retained::new(retained) }
    }

    pub(super) fn on_added(
        &mut self,
        id: ExecutorId,
        host: Host,
        total_cores: Cpus,
        resource_profile_id: ProfileId,
        add_time: Timestamp,
    ) {
        let data = ExecutorData {
            id,
            host,
            is_active: true,
            total_cores,
            active_tasks: 0,
            failed_tasks: 0,
            completed_tasks: 0,
            killed_tasks: 0,
            total_tasks: 0,
            total_duration_ms: 0,
            total_input_bytes: 0,
            total_shuffle_read: 0,
            total_shuffle_write: 0,
            is_excluded: false,
            add_time,
            remove_time: None,
            remove_reason: None,
            resource_profile_id,
            // Known to the backend only.
            executor_logs: BTreeMap::new(),
        };
        self.all.insert(id, data);
    }

    pub(super) fn on_removed(&mut self, id: ExecutorId, time: Timestamp, reason: &str) {
        let Some(executor) = self.all.get_mut(&id).filter(|executor| executor.is_active) else { return };
        executor.is_active = false;
        executor.remove_time = Some(time);
        executor.remove_reason = Some(reason.to_owned());
        if let Some(oldest) = self.removed.push(id)
            && self.all.get(&oldest).is_some_and(|executor| !executor.is_active)
        {
            self.all.remove(&oldest);
        }
    }

    pub(super) fn set_excluded(&mut self, id: ExecutorId, is_excluded: bool) {
        if let Some(executor) = self.all.get_mut(&id) {
            executor.is_excluded = is_excluded;
        }
    }

    pub(super) fn set_node_excluded(&mut self, host: &Host, is_excluded: bool) {
        for executor in self.all.values_mut().filter(|executor| executor.host == *host) {
            executor.is_excluded = is_excluded;
        }
    }

    pub(super) fn on_task_started(&mut self, id: ExecutorId) {
        if let Some(executor) = self.all.get_mut(&id) {
            executor.active_tasks += 1;
            executor.total_tasks += 1;
        }
    }

    pub(super) fn on_task_ended(
        &mut self,
        task: &TaskInfo,
        time: Timestamp,
        ended: Ended,
        metrics: &TaskMetrics,
    ) {
        let Some(executor) = self.all.get_mut(&task.executor) else { return };
        match ended {
            Ended::Completed => executor.completed_tasks += 1,
            Ended::Failed => executor.failed_tasks += 1,
            Ended::Killed => executor.killed_tasks += 1,
            Ended::Undone => {
                executor.completed_tasks = executor.completed_tasks.saturating_sub(1);
                executor.failed_tasks += 1;
                return;
            }
        }
        executor.active_tasks = executor.active_tasks.saturating_sub(1);
        executor.total_duration_ms += time.as_millis().saturating_sub(task.launched.as_millis());
        executor.total_input_bytes += metrics.input_bytes;
        executor.total_shuffle_read += metrics.shuffle_bytes_read;
        executor.total_shuffle_write += metrics.shuffle_bytes_written;
    }
}
