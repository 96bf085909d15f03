//! Tasks on threads of the driver's own process.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, OnceLock, Weak},
    thread::{self, JoinHandle},
};

use parking_lot::{Condvar, Mutex};

use firesteel_scheduler::{Effect, Event, ExecutorSpec};
use firesteel_types::{AttemptId, Cpus, ExecutorId, Host, ProfileId};

use super::SchedulerBackend;
use crate::{
    contain::discard,
    driver::{Driver, Incoming},
    executor::{Environment, Executor, Launch},
    stage::Form,
};

/// The stack of a slot. Each RDD of a stage that is boxed takes a few hundred bytes of it, some kilobytes without
/// optimisation; what is not touched costs nothing.
const SLOT_STACK: usize = 64 << 20;

/// One executor with one thread for each slot.
pub(crate) struct LocalBackend {
    shared: Arc<Shared>,
    slots: u32,
}

struct Shared {
    executor: Executor,
    queue: Mutex<Queue>,
    arrived: Condvar,
    driver: OnceLock<Weak<Driver>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Launch>,
    idle: usize,
    stopped: bool,
}

impl LocalBackend {
    pub(crate) fn new(environment: &Arc<Environment>, slots: u32, form: Form) -> Self {
        let shared = Shared {
            executor: Executor::new(environment.clone(), form),
            queue: Mutex::default(),
            arrived: Condvar::new(),
            driver: OnceLock::new(),
            threads: Mutex::default(),
        };
        Self { shared: Arc::new(shared), slots }
    }

    /// What starts the threads and registers the executor once the driver exists.
    pub(crate) fn starter(&self) -> impl FnOnce(&Arc<Driver>, Host) -> std::io::Result<()> + use<> {
        let (shared, slots) = (self.shared.clone(), self.slots);
        move |driver, host| {
            shared.driver.get_or_init(|| Arc::downgrade(driver));
            for slot in 0..slots {
                let shared_here = shared.clone();
                let name = format!("firesteel-slot-{slot}");
                let thread = thread::Builder::new().name(name).stack_size(SLOT_STACK);
                let thread = thread.spawn(move || shared_here.run_slot())?;
                shared.threads.lock().push(thread);
            }
            let executor = ExecutorId::DRIVER;
            driver.post(Incoming::event(Event::ExecutorRegistered(ExecutorSpec {
                executor,
                host,
                address: "".into(),
                cpus: Cpus::cores(slots),
                resources: BTreeMap::new(),
                profile: ProfileId::DEFAULT,
            })));
            driver.post(Incoming::event(Event::ExecutorLaunched { executor }));
            Ok(())
        }
    }
}

impl SchedulerBackend for LocalBackend {
    fn launch(&self, launches: Vec<Launch>) {
        let mut queue = self.shared.queue.lock();
        if queue.stopped {
            drop(queue);
            return discard(launches);
        }
        queue.waiting.extend(launches);
        // A slot that has the turn takes one of them itself, right after it.
        let own = usize::from(IS_SLOT.get());
        let wanted = queue.waiting.len().saturating_sub(own).min(queue.idle);
        drop(queue);
        for _ in 0..wanted {
            self.shared.arrived.notify_one();
        }
    }

    fn kill(&self, _executor: ExecutorId, attempt: AttemptId, _interrupt: bool, reason: String) {
        self.shared.executor.kill(attempt, reason);
    }

    /// There is one executor, it cannot be replaced, and the driver shares its stores.
    fn perform(&self, _effect: Effect) {}

    fn stop(&self) {
        self.shared.executor.kill_all("the context was stopped");
        let mut queue = self.shared.queue.lock();
        queue.stopped = true;
        let waiting = std::mem::take(&mut queue.waiting);
        drop(queue);
        discard(waiting);
        self.shared.arrived.notify_all();
        let threads = std::mem::take(&mut *self.shared.threads.lock());
        for thread in threads {
            // Stopping from inside a task cannot wait for that task.
            if thread.thread().id() != thread::current().id() && thread.join().is_err() {
                tracing::error!("a slot of the local executor panicked");
            }
        }
    }
}

thread_local! {
    static IS_SLOT: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

impl Shared {
    fn run_slot(&self) {
        IS_SLOT.set(true);
        while let Some(launch) = self.next() {
            let (executor, rdd) = (launch.task.executor, launch.rdd.clone());
            let report = self.executor.run(launch);
            let Some(driver) = self.driver.get().and_then(Weak::upgrade) else { return };
            driver.report(executor, &rdd, report);
        }
    }

    /// The next task; none when the backend is stopped.
    fn next(&self) -> Option<Launch> {
        let mut queue = self.queue.lock();
        loop {
            if queue.stopped {
                return None;
            }
            if let Some(launch) = queue.waiting.pop_front() {
                return Some(launch);
            }
            queue.idle += 1;
            self.arrived.wait(&mut queue);
            queue.idle -= 1;
        }
    }
}
