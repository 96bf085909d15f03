//! How an attempt is sent to its executor, and how it begins.
//!
//! An attempt that gets a slot begins when it is sent. One that is sent ahead of a free slot holds nothing, and counts
//! only for its own set, until an attempt before it ends: then it begins. Listeners hear of an attempt when it
//! begins, so one that never does was never there for them.

use std::sync::Arc;

use firesteel_types::{
    AttemptId, AttemptNumber, ExecutorId, ListenerEvent, Locality, ResourceAssignment, TaskInfo,
    TaskLocation, TaskMetrics,
};

use super::{
    offer::Picked,
    running::{LaunchNote, Passed, RunPhase, Running},
    scheduler::TaskScheduler,
};
use crate::{
    effect::{Effect, TaskDescription},
    executors::{Executors, HostId, SentAhead},
    pool::SetKey,
    shared::Shared,
};

/// A task that is to be sent.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) executor: ExecutorId,
    pub(super) picked: Picked,
    pub(super) room: Room,
    pub(super) note: LaunchNote,
    /// The addresses of all tasks of a barrier set.
    pub(super) barrier: Option<Arc<[Arc<str>]>>,
}

/// Where an attempt finds its resources.
#[derive(Debug)]
pub(super) enum Room {
    /// They were taken for it.
    Slot(ResourceAssignment),
    /// With the attempt that it begins after.
    Ahead,
}

impl TaskScheduler {
    /// Sends an attempt.
    pub(super) fn launch(&mut self, cx: &mut Shared, key: SetKey, launch: Launch) {
        let Launch { executor, picked, room, mut note, barrier } = launch;
        let attempt = AttemptId(self.next_attempt);
        self.next_attempt += 1;
        let host = cx.executors.known(executor).host;
        let set = self.sets[key.0 as usize].as_mut().expect("keys are of active sets");
        let number = set.start(picked.index, attempt);
        if picked.locality > Locality::Process {
            note.passed = passed_over(set.set.preferred(picked.index), &cx.executors);
        }
        let cpus = cx.profiles.need(set.set.profile).expect("stages are made with known profiles").cpus;
        let info = TaskInfo {
            attempt,
            index: picked.index,
            partition: set.set.tasks[picked.index.index()].partition,
            number: AttemptNumber(number),
            executor,
            locality: picked.locality,
            speculative: picked.speculative,
            launched: cx.now,
        };
        let (ahead, phase, resources) = match room {
            Room::Slot(resources) => (false, RunPhase::Launching, resources),
            Room::Ahead => (true, RunPhase::Ahead, ResourceAssignment::new()),
        };
        let is_schedulable = set.is_schedulable();
        let description = TaskDescription {
            attempt,
            set: set.set.id,
            index: info.index,
            partition: info.partition,
            number: info.number,
            executor,
            locality: info.locality,
            speculative: info.speculative,
            ahead,
            cpus,
            resources: resources.clone(),
            epoch: set.set.epoch,
            barrier,
        };
        let (beaten, recalled, metrics) = (false, false, TaskMetrics::default());
        let running =
            Running { set: key, info, host, cpus, resources, phase, beaten, ahead, recalled, metrics, note };
        self.running.insert(attempt, running);
        if ahead {
            set.ahead += 1;
            self.ahead += 1;
            cx.executors.send_ahead(executor, SentAhead { attempt, sent: cx.now });
        } else {
            cx.executors.start_running(executor, attempt, cpus);
            self.count_in(cx, key, info, host);
        }
        if !is_schedulable {
            self.pools.set_schedulable(key, false);
        }
        self.has_launched = true;
        cx.out.push(Effect::LaunchTask(Box::new(description)));
    }

    /// An attempt that was sent ahead begins: those before it have ended, or its executor reports that it runs.
    pub(super) fn begin(&mut self, cx: &mut Shared, attempt: AttemptId) {
        let running = &mut self.running[&attempt];
        assert!(running.is_ahead(), "{attempt} begins once");
        running.phase = RunPhase::Launching;
        // Until now it waited, which must not count as run time.
        running.info.launched = cx.now;
        let (key, info, host) = (running.set, running.info, running.host);
        self.set_mut(key).ahead -= 1;
        self.ahead -= 1;
        self.count_in(cx, key, info, host);
    }

    /// An attempt has begun: it counts for its pool, and the listeners know of it.
    fn count_in(&mut self, cx: &mut Shared, key: SetKey, task: TaskInfo, host: HostId) {
        let set = self.set_mut(key);
        set.note_host(task.index, host);
        let id = set.set.id;
        self.pools.add_running(key, 1);
        cx.post(ListenerEvent::TaskStart { set: id, task });
    }
}

/// Why each level above `Any` was not the one a task was launched at, had it been.
fn passed_over(preferred: &[TaskLocation], executors: &Executors) -> [Option<Passed>; 4] {
    let verdict = |wanted: bool, alive: bool| {
        Some(match (wanted, alive) {
            (false, _) => Passed::NoPreference,
            (true, false) => Passed::NotAlive,
            (true, true) => Passed::WaitedOut,
        })
    };
    let (mut process, mut node, mut rack) = ((false, false), (false, false), (false, false));
    for place in preferred {
        let host = executors.hosts.find(place.host());
        let host_alive = host.is_some_and(|host| executors.hosts.is_alive(host));
        match place {
            TaskLocation::Executor { executor, .. } => {
                process = (true, process.1 || executors.is_alive(*executor))
            }
            TaskLocation::HostCache(_) => process = (true, process.1 || host_alive),
            TaskLocation::Host(_) => (),
        }
        node = (true, node.1 || host_alive);
        if let Some(of_host) = host.and_then(|host| executors.hosts.rack(host)) {
            rack = (true, rack.1 || executors.hosts.is_rack_alive(of_host));
        }
    }
    [verdict(process.0, process.1), verdict(node.0, node.1), None, verdict(rack.0, rack.1)]
}
