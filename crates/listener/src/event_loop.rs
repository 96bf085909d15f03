//! One thread that handles events in order: [`EventLoop`].
//!
//! The inbox has no bound, so that posting never waits; a poster must be fed by something that is bounded.
//! The loop knows nothing of listeners: a [`Handler`] does the work.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock},
    thread::{self, ThreadId},
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

/// Delay between polls of an idle loop; each one in a row is twice as long.
///
/// To wake a sleeping thread costs the poster 5 to 20 µs, to push an event 0.2 µs. A stream of events must not pay the
/// former for each of them, so a loop parks until it is woken only after [`POLL_DELAY_MAX`]. An event waits for a poll
/// at most about as long as the loop had nothing to do before it.
const FIRST_POLL_DELAY: Duration = Duration::from_millis(1);
const POLL_DELAY_MAX: Duration = Duration::from_millis(16);

/// A buffer that grew beyond this in a burst is given back.
const KEPT_CAPACITY: usize = 4_096;

/// What an [`EventLoop`] does with its events. All of it happens on the loop's thread.
pub(super) trait Handler<E>: Send + 'static {
    /// Handles one event. A panic is an error of this event only.
    fn on_event(&mut self, event: E);

    /// Hears that handling an event panicked with `message`. A panic in here is logged and forgotten.
    fn on_error(&mut self, message: &str);

    /// Runs once, after the last event.
    fn on_stop(&mut self) {}
}

/// A thread with an inbox. Dropping it stops it, as [`stop`](Self::stop) does.
pub(super) struct EventLoop<E> {
    shared: Arc<Shared<E>>,
}

struct Shared<E> {
    inbox: Mutex<Inbox<E>>,
    /// The loop's thread waits here for events.
    arrived: Condvar,
    /// Others wait here for the loop to get on.
    handled: Condvar,
    thread: OnceLock<ThreadId>,
}

struct Inbox<E> {
    events: Vec<E>,
    consumer: Consumer,
    /// Events posted and events handled so far.
    posted: u64,
    handled: u64,
    is_stopping: bool,
    is_over: bool,
}

/// What the loop's thread does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Consumer {
    /// Handles events, and will look into the inbox when it is done.
    Busy,
    /// Will look soon by itself.
    Polling,
    /// Sleeps until it is woken.
    Parked,
}

/// A point in a loop's order that one can wait for, without keeping the loop alive.
pub(super) struct Mark<E> {
    shared: Arc<Shared<E>>,
    place: Place,
}

enum Place {
    /// This many events are handled.
    Handled(u64),
    /// The last event is handled, and the handler dropped.
    End,
}

impl<E: Send + 'static> EventLoop<E> {
    /// Starts a thread called `name` that gives to `handler` what is posted.
    pub(super) fn start(name: String, handler: impl Handler<E>) -> io::Result<Self> {
        let inbox = Inbox {
            events: Vec::new(),
            consumer: Consumer::Busy,
            posted: 0,
            handled: 0,
            is_stopping: false,
            is_over: false,
        };
        let shared = Arc::new(Shared {
            inbox: Mutex::new(inbox),
            arrived: Condvar::new(),
            handled: Condvar::new(),
            thread: OnceLock::new(),
        });
        let of_thread = shared.clone();
        thread::Builder::new().name(name).spawn(move || run(&of_thread, handler))?;
        Ok(Self { shared })
    }

    /// Puts an event behind those that are there; returns whether it will be handled, which it is unless the loop was
    /// stopped before.
    pub(super) fn post(&self, event: E) -> bool {
        let mut inbox = self.shared.inbox.lock();
        if inbox.is_stopping {
            return false;
        }
        inbox.events.push(event);
        inbox.posted += 1;
        let must_wake = inbox.consumer == Consumer::Parked;
        drop(inbox);
        if must_wake {
            self.shared.arrived.notify_one();
        }
        true
    }

    /// Ends the loop after what was posted so far; the mark is that end. A second call changes nothing. May be called
    /// from the loop's own thread.
    pub(super) fn stop(&self) -> Mark<E> {
        self.shared.stop();
        Mark { shared: self.shared.clone(), place: Place::End }
    }

    /// Marks what was posted so far, and hurries the loop.
    pub(super) fn mark(&self) -> Mark<E> {
        let posted = self.shared.inbox.lock().posted;
        self.shared.arrived.notify_one();
        Mark { shared: self.shared.clone(), place: Place::Handled(posted) }
    }

    /// Whether the caller runs on the loop's thread.
    pub(super) fn is_current_thread(&self) -> bool {
        self.shared.thread.get() == Some(&thread::current().id())
    }
}

impl<E> Drop for EventLoop<E> {
    fn drop(&mut self) {
        self.shared.stop();
    }
}

impl<E> Mark<E> {
    /// Waits until the loop got here; false if `deadline` came first.
    pub(super) fn wait(&self, deadline: Option<Instant>) -> bool {
        let mut inbox = self.shared.inbox.lock();
        while !self.is_reached(&inbox) {
            match deadline {
                None => self.shared.handled.wait(&mut inbox),
                Some(deadline) if self.shared.handled.wait_until(&mut inbox, deadline).timed_out() => {
                    return self.is_reached(&inbox);
                }
                Some(_) => (),
            }
        }
        true
    }

    fn is_reached(&self, inbox: &Inbox<E>) -> bool {
        match self.place {
            Place::Handled(events) => inbox.handled >= events,
            Place::End => inbox.is_over,
        }
    }
}

/// Runs `f`; if it panics, gives what the panic said.
pub(super) fn guarded(f: impl FnOnce()) -> Result<(), String> {
    // The handler that panicked may be left half changed. It is asked to handle the next event all the same, as its
    // contract states; none of our own state is touched in between.
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".to_owned())
    })
}

fn run<E>(shared: &Shared<E>, mut handler: impl Handler<E>) {
    let report = |what: &str, result: Result<(), String>| {
        if let Err(message) = result {
            let thread = thread::current();
            let name = thread.name().unwrap_or_default();
            tracing::error!(thread = name, message, "{what} of an event loop panicked");
        }
    };
    shared.thread.get_or_init(|| thread::current().id());
    let mut batch = Vec::new();
    let mut done = 0;
    while shared.take(&mut batch, &mut done) {
        for event in batch.drain(..) {
            if let Err(message) = guarded(|| handler.on_event(event)) {
                report("the error hook", guarded(|| handler.on_error(&message)));
            }
        }
        batch.shrink_to(KEPT_CAPACITY);
    }
    report("the stop hook", guarded(|| handler.on_stop()));
    report("the handler's end", guarded(move || drop(handler)));
    shared.inbox.lock().is_over = true;
    shared.handled.notify_all();
}

impl<E> Shared<E> {
    fn stop(&self) {
        self.inbox.lock().is_stopping = true;
        self.arrived.notify_one();
    }

    /// Reports that `done` events are handled, then waits for more and moves them to `batch`, which must be empty, and
    /// adds their number to `done`. False if there will be none.
    fn take(&self, batch: &mut Vec<E>, done: &mut u64) -> bool {
        let mut inbox = self.inbox.lock();
        if inbox.handled < *done {
            inbox.handled = *done;
            self.handled.notify_all();
        }
        let mut delay = FIRST_POLL_DELAY;
        while inbox.events.is_empty() {
            if inbox.is_stopping {
                return false;
            }
            if delay > POLL_DELAY_MAX {
                inbox.consumer = Consumer::Parked;
                self.arrived.wait(&mut inbox);
            } else {
                inbox.consumer = Consumer::Polling;
                self.arrived.wait_for(&mut inbox, delay);
                delay *= 2;
            }
        }
        inbox.consumer = Consumer::Busy;
        std::mem::swap(&mut inbox.events, batch);
        *done += batch.len() as u64;
        true
    }
}

#[cfg(test)]
mod tests;
