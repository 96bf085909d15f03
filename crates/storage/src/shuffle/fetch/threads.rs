//! Threads that fetch, kept for a while after their work: [`FetchThreads`].
//!
//! A thread costs far more than a small block: its stack, and the first pages of its allocator.

use std::{collections::VecDeque, fmt, io, sync::Arc, thread, time::Duration};

use parking_lot::{Condvar, Mutex};

/// How long an idle thread waits for work before it ends.
const IDLE_THREAD_TTL: Duration = Duration::from_secs(5);

type Work = Box<dyn FnOnce() + Send>;

/// Starts threads, and uses those again that have nothing to do.
///
/// Shared by all fetchers of a process. As many threads run as there is work; none is waited for at the end.
#[derive(Default)]
pub struct FetchThreads {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Work for threads that wait, never more than there are.
    waiting: VecDeque<Work>,
    idle: usize,
    is_over: bool,
}

impl FetchThreads {
    /// Has a thread do `work`, at once.
    pub(super) fn run(&self, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        if state.idle > state.waiting.len() {
            state.waiting.push_back(Box::new(work));
            drop(state);
            self.shared.changed.notify_one();
            return Ok(());
        }
        drop(state);
        let shared = self.shared.clone();
        let thread = thread::Builder::new().name("shuffle-fetch".to_owned());
        thread.spawn(move || {
            work();
            while let Some(work) = shared.next() {
                work();
            }
        })?;
        Ok(())
    }
}

impl Shared {
    /// Waits for work; none when it took too long, or when all senders are gone.
    fn next(&self) -> Option<Work> {
        let mut state = self.state.lock();
        state.idle += 1;
        let mut timed_out = false;
        while state.waiting.is_empty() && !state.is_over && !timed_out {
            timed_out = self.changed.wait_for(&mut state, IDLE_THREAD_TTL).timed_out();
        }
        state.idle -= 1;
        state.waiting.pop_front()
    }
}

impl Drop for FetchThreads {
    fn drop(&mut self) {
        self.shared.state.lock().is_over = true;
        self.shared.changed.notify_all();
    }
}

impl fmt::Debug for FetchThreads {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.state.lock();
        out.debug_struct("FetchThreads").field("idle", &state.idle).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread::ThreadId};

    use super::*;

    /// The thread that did the work, once it waits for more.
    fn thread_of(threads: &FetchThreads) -> ThreadId {
        let (tell, told) = mpsc::channel();
        threads.run(move || tell.send(thread::current().id()).unwrap()).unwrap();
        let id = told.recv().unwrap();
        while threads.shared.state.lock().idle == 0 {
            thread::yield_now();
        }
        id
    }

    #[test]
    fn a_thread_without_work_is_used_again() {
        let threads = FetchThreads::default();

        assert_eq!(thread_of(&threads), thread_of(&threads));
    }

    #[test]
    fn work_never_waits_for_other_work() {
        let threads = FetchThreads::default();
        let (tell, told) = mpsc::channel();
        let gates: Vec<_> = (0..4)
            .map(|number| {
                let (open, gate) = mpsc::channel::<()>();
                let tell = tell.clone();
                threads
                    .run(move || {
                        tell.send(number).unwrap();
                        let _ = gate.recv();
                    })
                    .unwrap();
                open
            })
            .collect();

        let mut begun: Vec<i32> = told.iter().take(4).collect();
        begun.sort_unstable();

        assert_eq!(begun, [0, 1, 2, 3], "all four run at once");
        drop(gates);
    }

    #[test]
    fn threads_end_with_the_last_who_could_give_them_work() {
        let threads = FetchThreads::default();
        thread_of(&threads);
        let shared = Arc::downgrade(&threads.shared);

        drop(threads);

        while shared.strong_count() > 0 {
            thread::yield_now();
        }
    }
}
