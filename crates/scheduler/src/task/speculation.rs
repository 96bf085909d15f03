//! Speculation: which running tasks get a second copy.

use std::time::Duration;

use firesteel_types::{ListenerEvent, TaskIndex, TaskMetrics};

use super::{manager::TaskSetManager, median::Median, running::Running, scheduler::TaskScheduler};
use crate::{config::SpeculationConfig, shared::Shared};

/// What is known of the tasks of a set that succeeded here.
///
/// Successes learned from another attempt of the stage are not in it: they have no duration.
#[derive(Debug, Default)]
pub(super) struct Finished {
    durations_us: Median,
    count: u32,
    records: u64,
    run_time_us: u64,
}

impl Finished {
    pub(super) fn add(&mut self, duration: Duration, metrics: &TaskMetrics) {
        self.durations_us.add(micros(duration));
        self.count += 1;
        self.records += metrics.records_read();
        self.run_time_us += metrics.run_time_us;
    }

    /// Whether a running task is slower, by its records, than `permille` of the average of finished ones. With
    /// nothing to compare to every task counts as slow.
    fn is_slow(&self, metrics: &TaskMetrics, permille: u64) -> bool {
        if self.records == 0 || self.run_time_us == 0 || metrics.run_time_us == 0 {
            return true;
        }
        let wide = u128::from;
        wide(metrics.records_read()) * wide(self.run_time_us) * 1000
            < wide(self.records) * wide(permille) * wide(metrics.run_time_us)
    }
}

/// From which run time on a task gets a copy, and whether its rate matters.
struct Threshold {
    run_time_us: u64,
    by_duration_only: bool,
}

impl TaskScheduler {
    /// Looks at every running task. Marked ones wait for the next offers.
    pub(super) fn mark_speculatable(&mut self, cx: &mut Shared) {
        let Some(config) = cx.config.speculation.clone() else { return };
        let keys: Vec<_> = self.by_id.values().copied().collect();
        for key in keys {
            let found = self.find_speculatable(cx, key, &config);
            if found.is_empty() {
                continue;
            }
            for index in found {
                let set = self.set_mut(key);
                let preferred = set.set.preferred(index);
                set.pending_copies.add(index, preferred, &mut cx.executors);
                set.speculatable.insert(index);
                let (id, partition) = (set.set.id, set.set.tasks[index.index()].partition);
                cx.post(ListenerEvent::SpeculativeTaskSubmitted { set: id, index, partition });
                self.revive = true;
            }
            // The copies may have places that no waiting task has.
            self.set_mut(key).recompute_levels(&cx.executors);
            self.refresh_schedulable(key);
        }
    }

    fn find_speculatable(
        &self,
        cx: &Shared,
        key: crate::pool::SetKey,
        config: &SpeculationConfig,
    ) -> Vec<TaskIndex> {
        let set = self.set(key);
        let Some(threshold) = set.speculation_threshold(cx, config) else { return Vec::new() };
        let is_due = |running: &&Running| {
            let task = &set.tasks[running.info.index.index()];
            let run_time_us = micros(cx.now.since(running.info.launched));
            let efficiency = config.efficiency.as_ref().filter(|_| !threshold.by_duration_only);
            !task.is_done
                && !running.is_ahead()
                && task.copies_running == 1
                && !set.speculatable.contains(&running.info.index)
                && run_time_us > threshold.run_time_us
                && efficiency.is_none_or(|efficiency| {
                    u128::from(run_time_us) * 1000
                        > u128::from(efficiency.duration_factor_permille) * u128::from(threshold.run_time_us)
                        || set.finished.is_slow(&running.metrics, efficiency.process_rate_permille)
                })
        };
        set.running()
            .map(|attempt| &self.running[&attempt])
            .filter(is_due)
            .map(|running| running.info.index)
            .collect()
    }
}

impl TaskSetManager {
    fn speculation_threshold(&self, cx: &Shared, config: &SpeculationConfig) -> Option<Threshold> {
        let tasks = u64::from(self.set.len());
        if self.is_zombie || self.set.barrier || (tasks == 1 && config.duration_threshold.is_none()) {
            return None;
        }
        let enough = (config.quantile_permille * tasks / 1000).max(1);
        if u64::from(self.finished.count) >= enough {
            let median = self.finished.durations_us.get()?;
            let run_time_us = u128::from(median) * u128::from(config.multiplier_permille) / 1000;
            let run_time_us = u64::try_from(run_time_us).unwrap_or(u64::MAX).max(micros(config.min_runtime));
            return Some(Threshold { run_time_us, by_duration_only: false });
        }
        let run_time_us = micros(config.duration_threshold?);
        let cores = cx.profiles.executor(self.set.profile).and_then(|executor| executor.cores);
        let slots = match cores {
            Some(_) => cx.profiles.slots_per_executor(self.set.profile).map_or(1, |(slots, _)| slots),
            None => 1,
        };
        (tasks <= u64::from(slots)).then_some(Threshold { run_time_us, by_duration_only: true })
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
