//! Each event to the part that knows what to do.

use std::collections::BTreeSet;

use firesteel_types::{AttemptId, ExecutorId, Host, TaskMetrics};

use crate::{
    barrier_sync::{BarrierEffect, BarrierEvent, SyncFailure, SyncReply, SyncRequest},
    effect::{Effect, Ignored},
    event::{BlockUpdate, Event},
    executors::Reported,
    scheduler::Scheduler,
    task::TaskOrder,
};

impl Scheduler {
    pub(super) fn dispatch(&mut self, event: Event) {
        let (cx, dag, tasks) = (&mut self.cx, &mut self.dag, &mut self.tasks);
        match event {
            Event::RddsRegistered(nodes) => dag.on_rdds_registered(cx, nodes),
            Event::RddsDropped(rdds) => dag.drop_rdds(cx, rdds),
            Event::ProfileRegistered { profile } => {
                let answer = cx.profiles.register(profile).map_err(|error| error.to_string());
                cx.out.push(Effect::ProfileAnswer(answer));
            }
            Event::JobSubmitted(spec) => dag.on_job_submitted(cx, spec),
            Event::MapStageSubmitted { job, rdd, shuffle, properties } => {
                dag.on_map_stage_submitted(cx, job, rdd, shuffle, properties);
            }
            Event::CancelRequested { what, reason } => dag.on_cancel_requested(cx, what, reason),
            Event::TaskKillRequested { attempt, interrupt, reason } => {
                tasks.on_kill_requested(cx, attempt, interrupt, reason);
            }
            Event::ResultHandlerFailed { job, message } => dag.on_result_handler_failed(cx, job, message),
            Event::ShuffleDropped { shuffle } => dag.on_shuffle_dropped(cx, shuffle),
            Event::ContextStopped => self.on_stopped(),
            Event::LoopFailed { message } => self.on_loop_failed(&message),
            Event::StageNotSerializable { set, message } => dag.on_stage_not_serializable(cx, set, &message),
            Event::TaskNotSent { attempt, why } => tasks.on_not_sent(cx, attempt, why),
            Event::LargeTaskSent { attempt, size_bytes } => tasks.on_large_task(cx, attempt, size_bytes),
            Event::ResultFetched { attempt, outcome } => tasks.on_result_fetched(cx, attempt, outcome),
            Event::RacksResolved(racks) => self.on_racks_resolved(&racks),
            Event::ExecutorRegistered(spec) => self.on_executor_registered(spec),
            Event::ExecutorLaunched { executor } => self.on_executor_launched(executor),
            Event::StatusUpdate { executor, attempt, status } => {
                tasks.on_status(cx, executor, attempt, status);
            }
            Event::TasksReturned { executor, attempts } => tasks.on_returned(cx, executor, attempts),
            Event::Heartbeat { executor, block_manager_known, running } => {
                self.on_heartbeat(executor, block_manager_known, &running);
            }
            Event::ExecutorDisconnected { executor } => self.on_executor_disconnected(executor),
            Event::ExecutorLost { executor, reason } => self.on_executor_lost(executor, reason),
            Event::WorkerRemoved { host, .. } => dag.on_worker_removed(cx, &host),
            Event::ScalingRequested(scaling) => self.on_scaling_requested(scaling),
            Event::BlocksUpdated { executor, blocks } => self.on_blocks_updated(executor, blocks),
            Event::MapOutputMoved { shuffle, map_attempt, executor, host } => {
                // A shuffle that is gone, or an attempt that is not its, moves nothing.
                let _ = cx.map_outputs.relocate(shuffle, map_attempt, executor, host);
            }
            Event::ClusterFailed { message } => self.on_cluster_failed(message),
            Event::CommitRequested { set, partition, number } => {
                let decision = cx.commits.ask(set.stage, set.attempt, partition, number);
                cx.out.push(Effect::AnswerCommit { set, partition, number, decision });
            }
            Event::BarrierRequested(request) => self.on_barrier_requested(request),
            Event::Tick => self.on_tick(),
        }
    }

    fn on_racks_resolved(&mut self, racks: &[(Host, Option<String>)]) {
        let mut changed = false;
        for (host, rack) in racks {
            changed |= self.cx.executors.hosts.set_rack(host, rack.as_deref());
        }
        if changed {
            self.tasks.resolve_racks(&mut self.cx);
        }
    }

    fn on_heartbeat(
        &mut self,
        executor: ExecutorId,
        block_manager_known: bool,
        figures: &[(AttemptId, TaskMetrics)],
    ) {
        let reply = self.heartbeats.on_heartbeat(self.cx.now, executor, block_manager_known);
        if reply.pass_on {
            self.tasks.on_progress(executor, figures);
        }
        self.cx.out.push(Effect::AnswerHeartbeat { executor, reply });
    }

    fn on_cluster_failed(&mut self, message: String) {
        if !self.tasks.abort_all(&mut self.cx, &message) {
            self.cx.out.push(Effect::StopContext { reason: message });
        }
    }

    /// Only an attempt that runs takes part in a sync: one that was written off must not hold a place in it.
    fn on_barrier_requested(&mut self, request: SyncRequest) {
        let (set, attempt) = (request.set, request.attempt);
        let runs_there = self.tasks.running.get(&attempt).is_some_and(|running| {
            self.tasks.set(running.set).set.id == set && running.info.partition == request.partition
        });
        if runs_there || !self.tasks.by_id.contains_key(&set) {
            self.tell_barrier(BarrierEvent::SyncRequested(request));
        } else {
            let reply = SyncReply::Failed(SyncFailure::Killed);
            self.cx.out.push(Effect::AnswerBarrier { set, attempt, reply });
        }
    }

    fn on_blocks_updated(&mut self, executor: ExecutorId, blocks: Vec<BlockUpdate>) {
        if self.cx.executors.get(executor).is_none() {
            return self.cx.ignore(Ignored::UnknownExecutor { executor });
        }
        let mut stale = BTreeSet::new();
        for block in blocks {
            // A block of an RDD that is unknown or not that large is not one that a task could read.
            let partitions = self.dag.lineage.get(block.rdd).map_or(0, |node| node.partitions);
            if block.partition.0 < partitions {
                let reported = self.cx.blocks.update(executor, block);
                if reported == Reported::Stale && block.present {
                    stale.insert((block.rdd, self.cx.blocks.generation(block.rdd)));
                }
            }
        }
        // A task of an earlier run has stored it since the others were removed.
        if !stale.is_empty() {
            self.cx.out.push(Effect::RemoveStaleBlocks { rdds: stale.into_iter().collect() });
        }
    }

    fn on_tick(&mut self) {
        for expired in self.heartbeats.expired(self.cx.now) {
            self.cx.out.push(Effect::KillExecutors { executors: vec![expired.executor], force: true });
            self.on_executor_lost(expired.executor, expired.loss_reason());
        }
        // The map outputs that went with them must be gone before stages are submitted again.
        self.settle();
        self.kill_overdue_decommissions();
        self.tell_barrier(BarrierEvent::Tick);
        self.dag.on_tick(&mut self.cx);
        self.tasks.on_tick(&mut self.cx);
    }

    fn on_stopped(&mut self) {
        if self.is_stopped {
            return self.cx.ignore(Ignored::Stopped);
        }
        self.is_stopped = true;
        self.dag.stop(&mut self.cx);
        self.heartbeats.on_stopped();
        self.cx.out.push(Effect::StopExecutors);
    }

    /// An unexpected error: no job can be trusted to go on.
    fn on_loop_failed(&mut self, message: &str) {
        let reason = format!("the scheduler's loop failed: {message}");
        self.dag.cancel_all(&mut self.cx, &reason);
        self.cx.out.push(Effect::StopContext { reason });
    }

    /// Barrier sets begin and end with their task sets.
    pub(super) fn watch_barrier(&mut self, order: &TaskOrder) {
        match order {
            TaskOrder::Submit(set) if set.barrier => {
                self.tell_barrier(BarrierEvent::StageStarted { set: set.id, tasks: set.len() });
            }
            TaskOrder::Submit(_) | TaskOrder::KillStage { .. } | TaskOrder::OutputCompleted { .. } => (),
        }
    }

    pub(super) fn tell_barrier(&mut self, event: BarrierEvent) {
        for effect in self.barriers.handle(self.cx.now, event) {
            match effect {
                BarrierEffect::Reply { set, attempt, reply } => {
                    self.cx.out.push(Effect::AnswerBarrier { set, attempt, reply });
                }
                BarrierEffect::Ignored { set, .. } => self.cx.ignore(Ignored::UnknownTaskSet { set }),
            }
        }
    }
}
