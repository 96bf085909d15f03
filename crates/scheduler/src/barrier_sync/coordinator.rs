//! The place where the calls of barrier tasks meet.
//!
//! [`BarrierCoordinator`] keeps one sync for each running barrier stage attempt. It knows stage attempts only
//! between their start and their completion.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use firesteel_types::{AttemptId, PartitionId, StageAttemptId, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    BarrierEffect, BarrierEvent, IgnoredBarrierEvent, SyncFailure, SyncReply, SyncRequest, waiters::Waiters,
};

/// How long tasks wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarrierConfig {
    /// The time from the first call of a sync until all must have called (`firesteel.barrier.sync.timeout`).
    pub sync_timeout: Duration,
}

impl Default for BarrierConfig {
    /// Spark's default of 365 days.
    fn default() -> Self {
        Self { sync_timeout: Duration::from_hours(365 * 24) }
    }
}

/// Collects the calls of the tasks of each barrier stage attempt, and answers them together.
///
/// ```text
///            first call                    last call: all are answered, next epoch
///   Idle ─────────────────▶ Waiting ─────────────────────────────────────▶ Idle
///                              │
///                              └── mixed calls or timeout: all are refused ──▶ Failed, for good
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarrierCoordinator {
    config: BarrierConfig,
    stages: BTreeMap<StageAttemptId, BarrierStage>,
    deadlines: BTreeSet<(Timestamp, StageAttemptId)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct BarrierStage {
    tasks: u32,
    /// How many syncs succeeded.
    epoch: u32,
    sync: Sync,
    /// Attempts told to end. A call of theirs may still be on its way, and must not wait.
    killed: BTreeSet<AttemptId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Sync {
    Idle,
    /// Some tasks called, and at least one did not.
    Waiting {
        deadline: Timestamp,
        waiters: Waiters,
    },
    /// A sync failed. The stage attempt will be retried as a whole, so no further one may succeed.
    Failed,
}

impl BarrierCoordinator {
    /// A coordinator without any stage.
    pub const fn new(config: BarrierConfig) -> Self {
        Self { config, stages: BTreeMap::new(), deadlines: BTreeSet::new() }
    }

    /// Takes one event and returns the answers that follow from it.
    pub fn handle(&mut self, now: Timestamp, event: BarrierEvent) -> Vec<BarrierEffect> {
        let mut out = Vec::new();
        // A call that comes after the deadline is late, even if the tick comes later still.
        self.fail_overdue(now, &mut out);
        match event {
            BarrierEvent::StageStarted { set, tasks } => self.on_stage_started(set, tasks),
            BarrierEvent::SyncRequested(request) => self.on_sync_requested(now, request, &mut out),
            BarrierEvent::TaskKilled { set, partition, attempt } => {
                self.on_task_killed(set, partition, attempt, &mut out);
            }
            BarrierEvent::StageCompleted { set } => self.on_stage_completed(set, &mut out),
            BarrierEvent::Tick => {}
        }
        if cfg!(debug_assertions) {
            self.check_invariants();
        }
        out
    }

    /// When the next sync times out.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// Whether no barrier stage attempt is running.
    pub fn is_quiescent(&self) -> bool {
        self.stages.is_empty() && self.deadlines.is_empty()
    }

    fn on_stage_started(&mut self, set: StageAttemptId, tasks: u32) {
        let stage = BarrierStage { tasks, epoch: 0, sync: Sync::Idle, killed: BTreeSet::new() };
        let before = self.stages.insert(set, stage);
        assert!(before.is_none(), "{set} starts once");
    }

    fn on_sync_requested(&mut self, now: Timestamp, request: SyncRequest, out: &mut Vec<BarrierEffect>) {
        let SyncRequest { set, partition, attempt, epoch, call } = request;
        let fail = |failure| BarrierEffect::Reply { set, attempt, reply: SyncReply::Failed(failure) };
        let Some(stage) = self.stages.get_mut(&set) else {
            out.push(fail(SyncFailure::StageNotRunning { set }));
            return;
        };
        if let Err(failure) = stage.admit(set, partition, attempt, epoch) {
            out.push(fail(failure));
            return;
        }
        if matches!(stage.sync, Sync::Idle) {
            let deadline = now + self.config.sync_timeout;
            self.deadlines.insert((deadline, set));
            stage.sync = Sync::Waiting { deadline, waiters: Waiters::for_call(&call) };
        }
        let Sync::Waiting { deadline, waiters } = &mut stage.sync else {
            out.push(fail(SyncFailure::EarlierSyncFailed { set }));
            return;
        };
        let deadline = *deadline;
        match waiters.holder(partition) {
            Some(holder) if holder == attempt => {
                out.push(BarrierEffect::Ignored { set, reason: IgnoredBarrierEvent::AlreadyWaiting });
            }
            Some(holder) => out.push(fail(SyncFailure::PartitionTaken { set, partition, holder })),
            None => {
                if waiters.add(partition, attempt, call).is_err() {
                    self.deadlines.remove(&(deadline, set));
                    let failure = SyncFailure::MixedCalls { set, epoch };
                    stage.fail(set, &failure, out);
                    out.push(fail(failure));
                } else if waiters.len() == stage.tasks as usize {
                    self.deadlines.remove(&(deadline, set));
                    stage.release(set, out);
                }
            }
        }
    }

    fn on_task_killed(
        &mut self,
        set: StageAttemptId,
        partition: PartitionId,
        attempt: AttemptId,
        out: &mut Vec<BarrierEffect>,
    ) {
        let Some(stage) = self.stages.get_mut(&set) else {
            out.push(BarrierEffect::Ignored { set, reason: IgnoredBarrierEvent::StageNotRunning });
            return;
        };
        stage.killed.insert(attempt);
        let Sync::Waiting { deadline, waiters } = &mut stage.sync else {
            return; // It does not wait; if its call is on the way, it will be refused.
        };
        if waiters.holder(partition) != Some(attempt) {
            return;
        }
        waiters.remove(partition);
        let reply = SyncReply::Failed(SyncFailure::Killed);
        out.push(BarrierEffect::Reply { set, attempt, reply });
        if waiters.len() == 0 {
            self.deadlines.remove(&(*deadline, set));
            stage.sync = Sync::Idle;
        }
    }

    fn on_stage_completed(&mut self, set: StageAttemptId, out: &mut Vec<BarrierEffect>) {
        let Some(mut stage) = self.stages.remove(&set) else {
            out.push(BarrierEffect::Ignored { set, reason: IgnoredBarrierEvent::StageNotRunning });
            return;
        };
        if let Sync::Waiting { deadline, .. } = stage.sync {
            self.deadlines.remove(&(deadline, set));
            // Spark drops these without a word, and leaves it to the kill to end the wait.
            stage.fail(set, &SyncFailure::StageNotRunning { set }, out);
        }
    }

    fn fail_overdue(&mut self, now: Timestamp, out: &mut Vec<BarrierEffect>) {
        while let Some(&(deadline, set)) = self.deadlines.first()
            && deadline <= now
        {
            self.deadlines.pop_first();
            let stage = self.stages.get_mut(&set).expect("a deadline belongs to a running stage attempt");
            let failure = SyncFailure::TimedOut {
                set,
                epoch: stage.epoch,
                arrived: stage.arrived() as u32,
                tasks: stage.tasks,
                timeout: self.config.sync_timeout,
            };
            stage.fail(set, &failure, out);
        }
    }

    fn check_invariants(&self) {
        let mut waiting = 0;
        for (set, stage) in &self.stages {
            match &stage.sync {
                Sync::Idle | Sync::Failed => {}
                Sync::Waiting { deadline, waiters } => {
                    waiting += 1;
                    assert!(self.deadlines.contains(&(*deadline, *set)), "{set} waits with a deadline");
                    assert!((1..stage.tasks as usize).contains(&waiters.len()), "{set} waits for more tasks");
                }
            }
        }
        assert_eq!(self.deadlines.len(), waiting, "only syncs that wait have deadlines");
    }
}

impl BarrierStage {
    /// Whether a call may take part in the current sync at all.
    fn admit(
        &self,
        set: StageAttemptId,
        partition: PartitionId,
        attempt: AttemptId,
        epoch: u32,
    ) -> Result<(), SyncFailure> {
        if self.killed.contains(&attempt) {
            return Err(SyncFailure::Killed);
        }
        if partition.0 >= self.tasks {
            return Err(SyncFailure::UnknownPartition { set, partition });
        }
        // Before the kind of call is looked at, unlike Spark: a call left over from an old sync must not
        // spoil the current one.
        if epoch != self.epoch {
            return Err(SyncFailure::WrongEpoch { set, asked: epoch, current: self.epoch });
        }
        Ok(())
    }

    fn arrived(&self) -> usize {
        match &self.sync {
            Sync::Idle | Sync::Failed => 0,
            Sync::Waiting { waiters, .. } => waiters.len(),
        }
    }

    /// Ends the sync well for all its waiters, in the order of their partitions.
    fn release(&mut self, set: StageAttemptId, out: &mut Vec<BarrierEffect>) {
        let Sync::Waiting { waiters, .. } = std::mem::replace(&mut self.sync, Sync::Idle) else {
            unreachable!("only a sync that waits can be complete")
        };
        self.epoch += 1;
        match waiters {
            Waiters::Barrier(waiters) => {
                out.extend(waiters.into_values().map(|attempt| {
                    let reply = SyncReply::Released;
                    BarrierEffect::Reply { set, attempt, reply }
                }));
            }
            Waiters::AllGather(waiters) => {
                let messages: Arc<[_]> = waiters.values().map(|(_, message)| Arc::clone(message)).collect();
                out.extend(waiters.into_values().map(|(attempt, _)| {
                    let reply = SyncReply::Gathered { messages: Arc::clone(&messages) };
                    BarrierEffect::Reply { set, attempt, reply }
                }));
            }
        }
    }

    /// Ends the sync badly for all its waiters, and every later one with it.
    fn fail(&mut self, set: StageAttemptId, failure: &SyncFailure, out: &mut Vec<BarrierEffect>) {
        if let Sync::Waiting { waiters, .. } = std::mem::replace(&mut self.sync, Sync::Failed) {
            out.extend(waiters.attempts().into_iter().map(|attempt| {
                let reply = SyncReply::Failed(failure.clone());
                BarrierEffect::Reply { set, attempt, reply }
            }));
        }
    }
}
