//! A scheduler, what it told the world to do, and the judge of both.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use firesteel_scheduler::{Effect, Event, ExecutorSpec, Scheduler, SchedulerConfig};
use firesteel_types::{AttemptId, Cpus, ExecutorId, Host, ProfileId, RddNode, TaskMetrics, Timestamp};

use crate::{
    case::{Case, Feature},
    judge::Judge,
    lineage::lineage,
    settings::{GPU, GPUS, second_profile, settings},
};

/// A scheduler under test and everything around it.
pub struct World {
    pub scheduler: Scheduler,
    pub judge: Judge,
    pub now: Timestamp,
    /// The lineage as it was made. RDDs that are dropped come back from here.
    pub nodes: Vec<RddNode>,
    /// Results that are to be fetched.
    pub fetches: Vec<AttemptId>,
    /// Attempts that executors are to return if they have not begun them.
    pub recalls: Vec<(ExecutorId, Vec<AttemptId>)>,
    /// Hosts whose racks were asked for.
    pub racks: Vec<Host>,
    /// Every call so far.
    pub calls: Vec<Call>,
    pub next_job: u32,
    pub next_executor: u32,
    pub has_gpus: bool,
    pub has_second_profile: bool,
    last_heartbeat: Timestamp,
}

/// One call of the scheduler.
#[derive(Clone, Debug)]
pub struct Call {
    pub now: Timestamp,
    pub events: Vec<Event>,
    /// The effects, as bytes.
    pub effects: Vec<u8>,
}

impl World {
    pub fn new(case: &Case) -> Self {
        let config = settings(case);
        let scheduler = Scheduler::new(config.clone()).expect("random settings are valid");
        let mut world = Self {
            scheduler,
            judge: Judge::new(config),
            now: Timestamp::from_secs(1000),
            nodes: lineage(case),
            fetches: Vec::new(),
            recalls: Vec::new(),
            racks: Vec::new(),
            calls: Vec::new(),
            next_job: 0,
            next_executor: 0,
            has_gpus: case.has(Feature::Gpus),
            has_second_profile: case.has(Feature::Profiles),
            last_heartbeat: Timestamp::from_secs(1000),
        };
        if let Some(profile) = second_profile(case) {
            world.send(Event::ProfileRegistered { profile });
        }
        world.send(Event::RddsRegistered(world.nodes.clone()));
        world
    }

    pub fn send(&mut self, event: Event) {
        self.send_all(vec![event]);
    }

    /// Gives the scheduler some events in one call, and looks at what comes of it.
    pub fn send_all(&mut self, events: Vec<Event>) {
        let is_tick = events.last() == Some(&Event::Tick);
        for event in &events {
            self.judge.hear(event);
        }
        // Kept before the call, so that a call that panics is on record too.
        self.calls.push(Call { now: self.now, events: events.clone(), effects: Vec::new() });
        let mut effects = Vec::new();
        self.scheduler.handle_all(self.now, events, &mut effects);
        self.judge.foresee(&effects);
        for effect in &effects {
            self.judge.see(effect);
            self.obey(effect);
        }
        self.judge.close(&self.scheduler);
        if is_tick {
            let deadline = self.scheduler.next_deadline();
            assert!(deadline.is_none_or(|at| at > self.now), "a tick leaves nothing due: {deadline:?}");
        }
        let bytes = postcard::to_allocvec(&effects).expect("effects can be serialized");
        self.calls.last_mut().expect("it was pushed above").effects = bytes;
    }

    /// Notes what the scheduler asked for.
    fn obey(&mut self, effect: &Effect) {
        match effect {
            Effect::FetchResult { attempt } => self.fetches.push(*attempt),
            Effect::TakeBackTasks { executor, attempts } => self.recalls.push((*executor, attempts.clone())),
            Effect::ResolveRacks { hosts } => self.racks.extend(hosts.iter().cloned()),
            _ => (),
        }
    }

    /// An executor as it would register.
    pub fn executor_spec(&self, id: ExecutorId, host: Host, cores: u32, profile: ProfileId) -> ExecutorSpec {
        let addresses = (0..GPUS).map(|at| Arc::from(format!("g{at}"))).collect();
        ExecutorSpec {
            executor: id,
            address: format!("{host}:{}", id.0).into(),
            host,
            cpus: Cpus::cores(cores),
            resources: if self.has_gpus {
                BTreeMap::from([(GPU.into(), addresses)])
            } else {
                BTreeMap::new()
            },
            profile,
        }
    }

    pub fn new_executor(&mut self) -> ExecutorId {
        self.next_executor += 1;
        ExecutorId(self.next_executor - 1)
    }

    /// Lets time pass. Executors that live send their heartbeats in time, unless they are `silent`.
    pub fn pass(&mut self, by: Duration, silent: bool) {
        self.now += by;
        if !silent && self.now.since(self.last_heartbeat) >= self.config().heartbeat.interval {
            self.heartbeats();
        }
    }

    /// Every executor that lives sends a heartbeat.
    pub fn heartbeats(&mut self) {
        self.last_heartbeat = self.now;
        let heartbeat = |executor: &ExecutorId| {
            let running =
                self.judge.live_attempts().filter(|(_, attempt)| attempt.task.executor == *executor);
            let running = running.map(|(id, _)| (id, TaskMetrics::default())).collect();
            Event::Heartbeat { executor: *executor, block_manager_known: true, running }
        };
        let heartbeats: Vec<_> = self.judge.executors.keys().map(heartbeat).collect();
        if !heartbeats.is_empty() {
            self.send_all(heartbeats);
        }
    }

    pub fn config(&self) -> &SchedulerConfig {
        self.judge.config()
    }
}
