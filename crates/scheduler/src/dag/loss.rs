//! Executors and workers go, and their map outputs with them.

use firesteel_types::{ExecutorId, FetchFailure, Host, ShuffleId};

use super::scheduler::DagScheduler;
use crate::{
    effect::{Effect, Ignored},
    shared::Shared,
};

/// What goes with an executor.
struct Loss<'a> {
    executor: ExecutorId,
    /// The host whose outputs all go, if they do.
    host: Option<&'a Host>,
    /// Whether its shuffle files are gone too.
    files: bool,
    /// When the loss was noticed.
    epoch: u64,
    /// Whether files are written off even if they were before.
    files_again: bool,
}

impl DagScheduler {
    pub(super) fn on_executor_added(&mut self, executor: ExecutorId) {
        self.lost_epoch.remove(&executor);
        self.files_lost_epoch.remove(&executor);
    }

    /// Takes the loss of an executor. Its shuffle files are lost too, unless the shuffle service of its worker serves
    /// them.
    pub(super) fn on_executor_lost(
        &mut self,
        cx: &mut Shared,
        executor: ExecutorId,
        worker_host: Option<&Host>,
    ) {
        let files = !cx.config.reliable_shuffle && (worker_host.is_some() || !cx.config.shuffle_service);
        let epoch = cx.map_outputs.epoch();
        self.write_off(cx, &Loss { executor, host: worker_host, files, epoch, files_again: false });
    }

    /// A fetch failure is evidence that the whole executor is gone, and perhaps its host.
    pub(super) fn on_fetch_failed_executor(&mut self, cx: &mut Shared, fetch: &FetchFailure, epoch: u64) {
        let Some((executor, host)) = &fetch.location else { return };
        let host_leaves = cx.executors.decommission_of(*executor).flatten().is_some();
        let host_lost =
            cx.config.stages.unregister_host_on_fetch_failure && (cx.config.shuffle_service || host_leaves);
        let loss = Loss {
            executor: *executor,
            host: host_lost.then_some(host),
            files: true,
            epoch,
            files_again: host_leaves,
        };
        self.write_off(cx, &loss);
    }

    /// Writes an executor off, once for each epoch: many tasks report the same loss.
    fn write_off(&mut self, cx: &mut Shared, loss: &Loss<'_>) {
        let is_news = |known: Option<&u64>| known.is_none_or(|known| *known < loss.epoch);
        if is_news(self.lost_epoch.get(&loss.executor)) {
            self.lost_epoch.insert(loss.executor, loss.epoch);
            cx.blocks.remove_executor(loss.executor);
            cx.out.push(Effect::RemoveBlockManager { executor: loss.executor });
        }
        if !loss.files {
            return;
        }
        if is_news(self.files_lost_epoch.get(&loss.executor)) {
            self.files_lost_epoch.insert(loss.executor, loss.epoch);
        } else if !loss.files_again {
            return;
        }
        if let Some(host) = loss.host {
            cx.map_outputs.remove_host(host);
        }
        // The report may name a wrong host.
        if loss.host.is_none() || cx.map_outputs.outputs_on(loss.executor) > 0 {
            cx.map_outputs.remove_executor(loss.executor);
        }
    }

    pub(crate) fn on_worker_removed(&self, cx: &mut Shared, host: &Host) {
        cx.map_outputs.remove_host(host);
    }

    /// Forgets a shuffle that no RDD can reach any more. A stage that still reads it finds that out and is aborted.
    pub(crate) fn on_shuffle_dropped(&mut self, cx: &mut Shared, shuffle: ShuffleId) {
        self.unrepeatable.remove(&shuffle);
        if !cx.map_outputs.unregister_shuffle(shuffle) {
            return cx.ignore(Ignored::UnknownShuffle { shuffle });
        }
        if let Some(stage) = self.map_stages.get(&shuffle).copied() {
            self.abort_stage(cx, stage, &format!("{shuffle} was removed while a job was using it"), None);
        }
    }
}
