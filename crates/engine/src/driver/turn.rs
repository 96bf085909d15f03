//! One turn of the scheduler: events in, decisions out.

use std::{mem, sync::Arc};

use hashbrown::HashMap;

use firesteel_scheduler::{Effect, Scheduler};
use firesteel_types::{Accumulable, AttemptId, ListenerEvent, RddId, StageAttemptId};

use super::{Driver, Incoming, JobEnd, Submission, inbox::Payload, job::OnEnd};
use crate::{
    driver::{Launch, PreparedStage},
    task::ResultValue,
};

/// The scheduler, and what the runtime keeps for it by the ids it uses.
pub(crate) struct Core {
    scheduler: Scheduler,
    pub(super) stages: HashMap<StageAttemptId, Arc<PreparedStage>>,
    /// Results and accumulator updates of the reports in this turn.
    pub(super) payloads: HashMap<AttemptId, Payload>,
    /// What the task whose end is told next added to named accumulators.
    pub(super) added: Vec<Accumulable>,
    pub(super) launches: Vec<Launch>,
    pub(super) posts: Vec<ListenerEvent>,
    /// Jobs that ended in this turn, and who wants to know.
    pub(super) ended: Vec<(OnEnd, JobEnd)>,
    /// What is no longer needed. Some of it is the user's, whose `drop` has no place in a turn.
    pub(super) discarded: Vec<Discarded>,
    /// RDDs whose partitions from before a generation are to be removed here. They are the user's as well.
    pub(super) stale: Vec<(RddId, u32)>,
    effects: Vec<Effect>,
    spare: Vec<Incoming>,
}

/// Something to be dropped after the turn.
#[expect(dead_code, reason = "it is only kept to be dropped")]
pub(super) enum Discarded {
    Stage(Arc<PreparedStage>),
    Job(Submission),
    Result(ResultValue),
    Payload(Payload),
}

impl Core {
    pub(super) fn new(scheduler: Scheduler) -> Self {
        Self {
            scheduler,
            stages: HashMap::new(),
            payloads: HashMap::new(),
            added: Vec::new(),
            launches: Vec::new(),
            posts: Vec::new(),
            ended: Vec::new(),
            discarded: Vec::new(),
            stale: Vec::new(),
            effects: Vec::new(),
            spare: Vec::new(),
        }
    }

    pub(super) fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// An empty inbox with the room of the last one.
    pub(super) fn spare_inbox(&mut self) -> Vec<Incoming> {
        mem::take(&mut self.spare)
    }

    /// Feeds everything to the scheduler, then does what it wants done, in its order.
    pub(super) fn turn(&mut self, driver: &Driver, mut incoming: Vec<Incoming>) {
        let payloads = &mut self.payloads;
        let events = incoming.drain(..).map(|incoming| {
            if let Some((attempt, payload)) = incoming.payload {
                payloads.insert(attempt, payload);
            }
            incoming.event
        });
        let mut effects = mem::take(&mut self.effects);
        self.scheduler.handle_all(driver.clock.now(), events, &mut effects);
        for effect in effects.drain(..) {
            self.perform(driver, effect);
        }
        self.effects = effects;
        self.spare = incoming;
        // A result that was not handed out is not needed.
        let left = self.payloads.drain().map(|(_, payload)| payload).filter(|payload| !payload.is_empty());
        self.discarded.extend(left.map(Discarded::Payload));
        if !self.posts.is_empty() {
            driver.bus.post(mem::take(&mut self.posts));
        }
        if !self.launches.is_empty() {
            driver.backend.launch(mem::take(&mut self.launches));
        }
        let deadline = self.scheduler.next_deadline().map(|at| driver.clock.instant(at));
        driver.timer.set(deadline);
    }
}
