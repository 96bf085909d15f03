//! The driver: where the scheduler's decisions meet threads, the clock and the user's results.
//!
//! There is one scheduler and it takes one turn at a time: a thread with an event puts it into the inbox and, if no
//! other thread is at it, takes the turn itself: drains the inbox, feeds everything to the scheduler, performs the
//! effects in order. No thread is woken to make a decision, which is what makes a task cost microseconds.
//!
//! The handles of RDDs and shuffles are here too: they hold the driver, which drops what nothing can reach any more, and
//! the driver holds them, to run what they stand for. What a backend must do is said in `backend.rs`.

mod accumulators;
mod backend;
mod checkpoints;
mod clock;
mod effects;
mod fit;
mod inbox;
mod job;
mod locality;
mod properties;
mod questions;
mod rdd_handle;
mod register;
mod shuffle_handle;
#[cfg(test)]
mod tests;
mod timer;
mod turn;

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use firesteel_scheduler::{Cancel, Event, JobError, JobRejection, JobSpec, Scheduler};
use firesteel_types::{
    AttemptId, AttemptNumber, JobId, PartitionId, RddId, ShuffleId, StageAttemptId, settings,
};
use firesteel_ui::Site;
use hashbrown::HashMap;
use parking_lot::Mutex;

pub(crate) use accumulators::{AccumulatorRegistry, Total};
pub(crate) use backend::{Launch, Order, PreparedStage, SchedulerBackend, ShortTables, TasksRun};
use checkpoints::CheckpointDirectory;
pub(crate) use clock::Clock;
pub(crate) use inbox::{Incoming, Payload};
use job::{ActiveJob, OnEnd};
pub(crate) use job::{Collected, JobEnd, Submission};
use questions::Questions;
pub use rdd_handle::{HandleBuilder, Parent, RddHandle};
pub(crate) use rdd_handle::{MAX_PARTITIONS, NO_PARTITIONS, PartitionData, debug_as_handle};
pub(crate) use register::walk;
pub use shuffle_handle::ShuffleHandle;
pub(crate) use shuffle_handle::WeakShuffle;
pub(crate) use timer::Timer;
use turn::Core;

use crate::{
    Conf,
    contain::{contain, discard},
    protocol::Stored,
    task::Environment,
};
use firesteel_listener::{BusError, ConsoleProgress, ListenerBus, StatusStore, Wait};

/// How long the end of an application waits for listeners to receive all events.
const LISTENER_DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// The one driver of an application.
pub(crate) struct Driver {
    /// Which application of this process it is; an address would be used again.
    pub(crate) number: u64,
    pub(crate) conf: Conf,
    pub(crate) clock: Clock,
    pub(crate) tasks: TasksRun,
    pub(crate) environment: Arc<Environment>,
    pub(crate) backend: Box<dyn SchedulerBackend>,
    pub(crate) bus: ListenerBus,
    pub(crate) status: StatusStore,
    /// The application's pages, if they are served.
    pub(crate) ui: OnceLock<Site>,
    /// The bars on the terminal, if they are shown.
    pub(crate) progress: OnceLock<ConsoleProgress>,
    pub(crate) accumulators: AccumulatorRegistry,
    pub(crate) checkpoints: CheckpointDirectory,
    commits: Questions<(StageAttemptId, PartitionId, AttemptNumber), bool>,
    tags: Questions<String, Vec<JobId>>,
    kills: Questions<AttemptId, bool>,
    jobs: Mutex<HashMap<JobId, ActiveJob>>,
    shuffles: Mutex<HashMap<ShuffleId, WeakShuffle>>,
    core: Mutex<Core>,
    timer: Timer,
    inbox: Mutex<Vec<Incoming>>,
    /// Held while a lineage is walked and its nodes put into the inbox.
    registration: Mutex<()>,
    stopped: AtomicBool,
    next_rdd: AtomicU32,
    next_shuffle: AtomicU32,
    next_job: AtomicU32,
}

impl Driver {
    /// A driver over `backend`, which is not started yet.
    pub(crate) fn new(
        conf: Conf,
        scheduler: Scheduler,
        environment: Arc<Environment>,
        backend: Box<dyn SchedulerBackend>,
        tasks: TasksRun,
    ) -> Arc<Self> {
        Arc::new(Self {
            number: Self::next_other(),
            conf,
            clock: Clock::start(),
            tasks,
            environment,
            backend,
            bus: ListenerBus::new(),
            status: StatusStore::default(),
            ui: OnceLock::new(),
            progress: OnceLock::new(),
            accumulators: AccumulatorRegistry::default(),
            checkpoints: CheckpointDirectory::default(),
            commits: Questions::default(),
            tags: Questions::default(),
            kills: Questions::default(),
            jobs: Mutex::default(),
            shuffles: Mutex::default(),
            core: Mutex::new(Core::new(scheduler)),
            timer: Timer::default(),
            inbox: Mutex::default(),
            registration: Mutex::default(),
            stopped: AtomicBool::new(false),
            next_rdd: AtomicU32::new(0),
            next_shuffle: AtomicU32::new(0),
            next_job: AtomicU32::new(0),
        })
    }

    /// Tells the scheduler what happened, and has it decide.
    pub(crate) fn post(&self, incoming: Incoming) {
        self.inbox.lock().push(incoming);
        self.take_turns();
    }

    /// Tells the scheduler all that happened, in one turn.
    pub(crate) fn post_all(&self, incoming: impl IntoIterator<Item = Incoming>) {
        self.inbox.lock().extend(incoming);
        self.take_turns();
    }

    /// Puts what happened into the inbox, for the next turn on any thread: from places that must not wait for one.
    pub(crate) fn note(&self, incoming: Incoming) {
        self.inbox.lock().push(incoming);
    }

    /// Takes turns until the inbox is empty, unless another thread is at it.
    ///
    /// What is put into the inbox while another thread has the turn is not lost: that thread looks into the inbox
    /// again after it has given the turn back.
    fn take_turns(&self) {
        loop {
            let Some(mut core) = self.core.try_lock() else { return };
            let mut incoming = core.spare_inbox();
            std::mem::swap(&mut *self.inbox.lock(), &mut incoming);
            core.turn(self, incoming);
            let ended = std::mem::take(&mut core.ended);
            let discarded = std::mem::take(&mut core.discarded);
            let stale = std::mem::take(&mut core.stale);
            drop(core);
            discarded.into_iter().for_each(discard);
            for (rdd, generation) in stale {
                self.remove_stale_blocks(rdd, generation);
            }
            // After the turn: what the end of a job sets off may ask the scheduler, and some of it is the user's code.
            for (on_end, end) in ended {
                tell_end(on_end, end);
            }
            if self.inbox.lock().is_empty() {
                return;
            }
        }
    }

    /// Lets `f` look at the scheduler between two turns.
    pub(crate) fn query<T>(&self, f: impl FnOnce(&Scheduler) -> T) -> T {
        let answer = f(self.core.lock().scheduler());
        // A thread that came while we looked has left its events to us.
        self.take_turns();
        answer
    }

    /// Submits a job; `on_end` is called once when it is over.
    pub(crate) fn submit(&self, job: JobId, submission: Submission, on_end: OnEnd) {
        if self.is_stopped() {
            return on_end(Err(JobError::Rejected(JobRejection::Stopped)));
        }
        let rdd = submission.rdd.clone();
        let spec = JobSpec {
            job,
            rdd: rdd.id(),
            partitions: submission.partitions.clone(),
            properties: submission.properties.clone(),
            rows_seen: submission.rows_seen,
        };
        self.jobs.lock().insert(job, ActiveJob { submission, on_end });
        {
            let _one_walk = self.registration.lock();
            let nodes = if rdd.is_known() { Vec::new() } else { register::unregistered(&rdd) };
            let mut inbox = self.inbox.lock();
            if !nodes.is_empty() {
                inbox.push(Incoming::event(Event::RddsRegistered(nodes)));
            }
            inbox.push(Incoming::event(Event::JobSubmitted(spec)));
        }
        self.take_turns();
    }

    /// The name of the application for masters, pages and people.
    pub(crate) fn application_id(&self) -> String {
        match self.backend.app_id() {
            Some(app) => app.to_string(),
            None => format!("local-{}", self.clock.began().as_millis()),
        }
    }

    /// Asks for jobs to end.
    pub(crate) fn cancel(&self, what: Cancel, reason: Option<String>) {
        self.post(Incoming::event(Event::CancelRequested { what, reason }));
    }

    /// Ends the application: every active job fails, tasks are told to stop, threads end. Later calls do nothing.
    ///
    /// Refused inside a listener, which would wait for itself.
    pub(crate) fn stop(&self) -> Result<(), BusError> {
        if self.bus.is_listener_thread() {
            return Err(BusError::InsideListener { operation: "stop the context and" });
        }
        if self.stopped.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.post(Incoming::event(Event::ContextStopped));
        if let Some(site) = self.ui.get() {
            site.stop();
        }
        self.timer.stop();
        self.commits.close();
        self.tags.close();
        self.kills.close();
        self.backend.stop();
        self.environment.clear();
        // What the scheduler did not know of, it could not fail.
        let left = std::mem::take(&mut *self.jobs.lock());
        for (_, ActiveJob { submission, on_end }) in left {
            discard(submission);
            tell_end(on_end, Err(JobError::Rejected(JobRejection::Stopped)));
        }
        self.bus.stop(Wait::AtMost(LISTENER_DRAIN_TIMEOUT))
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    pub(crate) fn next_job(&self) -> JobId {
        JobId(self.next_job.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn next_rdd(&self) -> RddId {
        RddId(self.next_rdd.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn next_shuffle(&self) -> ShuffleId {
        ShuffleId(self.next_shuffle.fetch_add(1, Ordering::Relaxed))
    }

    /// The parallelism that the user asked for, if any.
    pub(crate) fn configured_parallelism(&self) -> Option<u32> {
        self.conf.get(settings::DEFAULT_PARALLELISM)
    }

    /// Whether a map task that gives other rows than in the run before discards what was computed from those.
    pub(crate) fn rolls_back_on_mismatch(&self) -> bool {
        self.conf.get(settings::SHUFFLE_ORDER_INDEPENDENT_CHECKSUM_FULL_RETRY)
    }

    /// An id for something that travels with environments; unique in the process, so that what belongs to one
    /// application is never taken for something of another.
    pub(crate) fn next_other() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    /// Nothing can reach a broadcast variable any more.
    pub(crate) fn drop_broadcast(&self, id: u64) {
        self.environment.broadcasts.remove(id, true);
        self.backend.remove(Stored::Broadcast { id, destroyed: true });
    }

    /// Removes the kept partitions of an RDD.
    pub(crate) fn remove_blocks(&self, rdd: RddId) {
        self.environment.blocks.remove_rdd(rdd);
        self.backend.remove(Stored::Rdd(rdd));
        // What is gone was only noted.
        self.take_turns();
    }

    /// Removes the partitions of an RDD that this process stored before `generation`.
    fn remove_stale_blocks(&self, rdd: RddId, generation: u32) {
        if let Err(message) = contain(|| self.environment.blocks.remove_stale(rdd, generation)) {
            tracing::warn!(%rdd, message, "dropping the rows of a stored partition panicked");
        }
    }

    /// Nothing can reach an RDD any more. Only one that `was_kept` may have partitions somewhere.
    pub(crate) fn rdd_dropped(&self, rdd: RddId, was_kept: bool) {
        if !self.is_stopped() {
            if was_kept {
                self.environment.blocks.remove_rdd(rdd);
                self.backend.remove(Stored::Rdd(rdd));
            }
            self.post(Incoming::event(Event::RddsDropped(vec![rdd])));
        }
    }

    /// A shuffle was made: its map tasks can be run as long as the handle lives.
    pub(crate) fn shuffle_made(&self, shuffle: &ShuffleHandle) {
        self.shuffles.lock().insert(shuffle.id(), shuffle.downgrade());
        self.environment.shuffles.open(shuffle.id());
    }

    /// Nothing can read a shuffle any more.
    pub(crate) fn shuffle_dropped(&self, shuffle: ShuffleId) {
        self.shuffles.lock().remove(&shuffle);
        if !self.is_stopped() {
            self.environment.shuffles.remove(shuffle);
            self.backend.remove(Stored::Shuffle(shuffle));
            self.post(Incoming::event(Event::ShuffleDropped { shuffle }));
        }
    }
}

/// Tells the waiter of a job how it ended. A waker of the user's own may panic.
fn tell_end(on_end: OnEnd, end: JobEnd) {
    if let Err(message) = contain(|| on_end(end)) {
        tracing::error!(message, "what follows the end of a job panicked");
    }
}

// A panic of user code never leaves the driver between two states: its locks do not poison, a turn runs no user code
// unguarded, and what is handed out is a copy.
impl std::panic::RefUnwindSafe for Driver {}
impl std::panic::UnwindSafe for Driver {}
