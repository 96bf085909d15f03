//! Threads that run jobs one after the other from one queue: [`Slots`].

use std::{
    cell::Cell,
    collections::VecDeque,
    io,
    sync::Arc,
    thread::{self, JoinHandle},
};

use parking_lot::{Condvar, Mutex};

/// The stack of a slot. Each RDD of a stage that is boxed takes a few hundred bytes of it, some kilobytes without
/// optimisation; what is not touched costs nothing.
const SLOT_STACK: usize = 64 << 20;

thread_local! {
    static IS_SLOT: Cell<bool> = const { Cell::new(false) };
}

/// One thread for each slot, and the jobs that wait for one. Jobs are begun in the order in which they came.
pub(crate) struct Slots<J> {
    shared: Arc<Shared<J>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared<J> {
    queue: Mutex<Queue<J>>,
    arrived: Condvar,
}

struct Queue<J> {
    waiting: VecDeque<J>,
    idle: usize,
    stopped: bool,
}

impl<J: Send + 'static> Slots<J> {
    /// Without threads.
    pub(crate) fn new() -> Self {
        let queue = Queue { waiting: VecDeque::new(), idle: 0, stopped: false };
        let shared = Shared { queue: Mutex::new(queue), arrived: Condvar::new() };
        Self { shared: Arc::new(shared), threads: Mutex::default() }
    }

    /// Starts `count` threads, each of which calls `run` for one job after the other. It must not unwind.
    pub(crate) fn start(&self, count: u32, run: impl Fn(J) + Clone + Send + 'static) -> io::Result<()> {
        for slot in 0..count {
            let (shared, run) = (self.shared.clone(), run.clone());
            let thread = thread::Builder::new().name(format!("firesteel-slot-{slot}")).stack_size(SLOT_STACK);
            let thread = thread.spawn(move || {
                IS_SLOT.set(true);
                while let Some(job) = shared.next() {
                    run(job);
                }
            })?;
            self.threads.lock().push(thread);
        }
        Ok(())
    }

    /// Adds jobs, unless the slots are stopped: then they are given back.
    pub(crate) fn push(&self, jobs: Vec<J>) -> Result<(), Vec<J>> {
        let mut queue = self.shared.queue.lock();
        if queue.stopped {
            return Err(jobs);
        }
        queue.waiting.extend(jobs);
        // A slot that adds jobs takes one of them itself, right after it.
        let own = usize::from(IS_SLOT.get());
        let wanted = queue.waiting.len().saturating_sub(own).min(queue.idle);
        drop(queue);
        for _ in 0..wanted {
            self.shared.arrived.notify_one();
        }
        Ok(())
    }

    /// Takes waiting jobs out of the queue.
    pub(crate) fn take(&self, mut is_wanted: impl FnMut(&J) -> bool) -> Vec<J> {
        let mut queue = self.shared.queue.lock();
        let (taken, left) =
            std::mem::take(&mut queue.waiting).into_iter().partition::<Vec<_>, _>(&mut is_wanted);
        queue.waiting = left.into();
        taken
    }

    /// Whether no job waits for a slot.
    pub(crate) fn is_idle(&self) -> bool {
        self.shared.queue.lock().waiting.is_empty()
    }

    /// Lets the threads end after what they are at; gives the jobs that were not begun.
    pub(crate) fn stop(&self) -> Vec<J> {
        let mut queue = self.shared.queue.lock();
        queue.stopped = true;
        let waiting = std::mem::take(&mut queue.waiting);
        drop(queue);
        self.shared.arrived.notify_all();
        waiting.into()
    }

    /// Waits for the threads to end.
    pub(crate) fn join(&self) {
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            // Stopping from inside a job cannot wait for that job.
            if thread.thread().id() != thread::current().id() && thread.join().is_err() {
                tracing::error!("a slot of the executor panicked");
            }
        }
    }
}

impl<J> Shared<J> {
    /// The next job; none when the slots are stopped.
    fn next(&self) -> Option<J> {
        let mut queue = self.queue.lock();
        loop {
            if queue.stopped {
                return None;
            }
            if let Some(job) = queue.waiting.pop_front() {
                return Some(job);
            }
            queue.idle += 1;
            self.arrived.wait(&mut queue);
            queue.idle -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn jobs_are_begun_in_order_and_those_that_wait_can_be_taken_out() {
        let (tell, begun) = mpsc::channel();
        let (go, gate) = mpsc::channel::<()>();
        let gate = Arc::new(Mutex::new(gate));
        let slots = Slots::new();
        let run = move |job: u32| {
            tell.send(job).unwrap();
            gate.lock().recv().unwrap();
        };
        slots.push((0..8).collect()).unwrap();
        slots.start(1, run).unwrap();
        assert_eq!(begun.recv(), Ok(0));

        assert_eq!(slots.take(|job| job % 2 == 1), [1, 3, 5, 7]);

        go.send(()).unwrap();
        assert_eq!(begun.recv(), Ok(2));
        assert_eq!(slots.stop(), [4, 6]);
        assert_eq!(slots.push(vec![9]), Err(vec![9]));
        go.send(()).unwrap();
        slots.join();
        assert!(begun.recv().is_err(), "nothing is begun once the slots are stopped");
    }
}
