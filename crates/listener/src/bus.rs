//! Brings events to listeners: [`ListenerBus`].
//!
//! It decides nothing about events and keeps none that were delivered.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use firesteel_types::ListenerEvent;
use parking_lot::Mutex;

use super::{
    contract::{Listener, ListenerId},
    error::BusError,
    event_loop::Mark,
    queue::{Batch, Message, Queue, Registration},
};

/// Delivers every event to every listener, in the order of posting.
///
/// Listeners stand in named queues, each with its own thread: a slow one delays those of its own queue and no
/// else. Several threads may post; all queues then see the same order.
///
/// ```text
///              start                  stop
///   created ──────────▶ running ──────────▶ stopped
///   keeps what          delivers            delivers what was
///   is posted                               posted before, ignores the rest
/// ```
///
/// No event is ever dropped. (Spark's `LiveListenerBus` drops events when a queue is full, after which everything
/// derived from them is wrong.) The price is memory: a queue whose listeners are slower than the posts grows without
/// bound. So the producer must be bounded, as a scheduler is by its executors, and should post in batches, which cost
/// one allocation and one lock for any number of events and queues.
///
/// Dropping the bus stops it, without waiting.
///
/// ```
/// use std::sync::mpsc;
/// use firesteel::{ExecutorId, ListenerEvent, Timestamp, listener::{ListenerBus, Wait}};
///
/// let bus = ListenerBus::new();
/// let (seen, events) = mpsc::channel();
/// bus.add(ListenerBus::SHARED, move |event: &ListenerEvent| seen.send(event.clone()).unwrap())?;
///
/// let event = ListenerEvent::ExecutorUnexcluded { executor: ExecutorId(1), time: Timestamp::ZERO };
/// bus.post(vec![event.clone()]);
/// assert!(events.try_recv().is_err(), "it is kept until the bus starts");
///
/// bus.start()?;
/// bus.flush(Wait::Forever)?;
/// assert_eq!(events.try_recv(), Ok(event));
/// # Ok::<(), firesteel::listener::BusError>(())
/// ```
pub struct ListenerBus {
    /// Whether a post has anywhere to go. Read without the lock, so that a bus without listeners costs nothing.
    is_wanted: AtomicBool,
    next_id: AtomicU64,
    phase: Mutex<Phase>,
}

enum Phase {
    Created {
        queues: Vec<(String, Vec<Registration>)>,
        early: Vec<Batch>,
    },
    Running {
        queues: Vec<Queue>,
    },
    /// The threads may still be at work.
    Stopped {
        queues: Vec<Queue>,
    },
}

/// How long to wait for listeners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    No,
    /// No longer than this.
    AtMost(Duration),
    /// As long as it takes.
    Forever,
}

impl Wait {
    fn deadline(self) -> Option<Instant> {
        match self {
            Self::No => Some(Instant::now()),
            // A time that no clock reaches is for ever.
            Self::AtMost(time) => Instant::now().checked_add(time),
            Self::Forever => None,
        }
    }
}

impl ListenerBus {
    /// The queue for listeners without a better place: the application's own.
    pub const SHARED: &'static str = "shared";
    /// The queue of the status store.
    pub const APP_STATUS: &'static str = "appStatus";
    /// The queue of the event log.
    pub const EVENT_LOG: &'static str = "eventLog";
    /// The queue of the listener that asks for executors and gives them back.
    pub const EXECUTOR_MANAGEMENT: &'static str = "executorManagement";

    /// A bus without listeners, to be started.
    ///
    /// ```
    /// # use firesteel::listener::{ListenerBus, Wait};
    /// let bus = ListenerBus::new();
    /// assert!(bus.flush(Wait::No).is_err(), "it is not started");
    /// bus.start()?;
    /// bus.flush(Wait::No)?;
    /// # Ok::<(), firesteel::listener::BusError>(())
    /// ```
    pub fn new() -> Self {
        Self {
            is_wanted: AtomicBool::new(true),
            next_id: AtomicU64::new(0),
            phase: Mutex::new(Phase::Created { queues: Vec::new(), early: Vec::new() }),
        }
    }

    /// Adds a listener to the queue called `queue`, which is made if there is none.
    ///
    /// It hears what is posted from now on. Before the bus is started it also hears what was posted before. Fails once
    /// the bus is stopped.
    ///
    /// ```
    /// # use firesteel::{ListenerEvent, listener::{ListenerBus, Wait}};
    /// let bus = ListenerBus::new();
    /// let first = bus.add(ListenerBus::SHARED, |_: &ListenerEvent| ())?;
    /// let second = bus.add("of my own", |_: &ListenerEvent| ())?;
    /// assert_ne!(first, second);
    /// bus.start()?;
    /// bus.stop(Wait::Forever)?;
    /// assert!(bus.add(ListenerBus::SHARED, |_: &ListenerEvent| ()).is_err());
    /// # Ok::<(), firesteel::listener::BusError>(())
    /// ```
    pub fn add(&self, queue: &str, listener: impl Listener + 'static) -> Result<ListenerId, BusError> {
        let id = ListenerId(self.next_id.fetch_add(1, Ordering::Relaxed));
        let kind = std::any::type_name_of_val(&listener);
        let registration = Registration { id, kind, listener: Box::new(listener) };
        match &mut *self.phase.lock() {
            Phase::Created { queues, .. } => match queues.iter_mut().find(|(name, _)| name == queue) {
                Some((_, listeners)) => listeners.push(registration),
                None => queues.push((queue.to_owned(), vec![registration])),
            },
            Phase::Running { queues } => {
                match queues.iter_mut().find(|known| known.name == queue) {
                    Some(known) => known.add(registration),
                    None => queues.push(start_queue(queue.to_owned(), vec![registration])?),
                }
                self.is_wanted.store(true, Ordering::Release);
            }
            Phase::Stopped { .. } => return Err(BusError::Stopped),
        }
        Ok(id)
    }

    /// Removes a listener; false if the bus does not have it.
    ///
    /// It still hears what was posted before, and is then dropped, both on its own thread: [`flush`](Self::flush)
    /// waits for that. A listener may remove itself.
    ///
    /// ```
    /// # use firesteel::{ListenerEvent, listener::ListenerBus};
    /// let bus = ListenerBus::new();
    /// let listener = bus.add(ListenerBus::SHARED, |_: &ListenerEvent| ())?;
    /// assert!(bus.remove(listener));
    /// assert!(!bus.remove(listener));
    /// # Ok::<(), firesteel::listener::BusError>(())
    /// ```
    pub fn remove(&self, id: ListenerId) -> bool {
        let mut phase = self.phase.lock();
        match &mut *phase {
            Phase::Created { queues, .. } => {
                let removed = queues.iter_mut().find_map(|(_, listeners)| {
                    let place = listeners.iter().position(|registration| registration.id == id)?;
                    Some(listeners.remove(place))
                });
                // The listener may do anything in its `drop`, call the bus too.
                drop(phase);
                removed.is_some()
            }
            Phase::Running { queues } => {
                let found = queues.iter_mut().any(|queue| queue.remove(id));
                let is_wanted = queues.iter().any(Queue::has_listeners);
                self.is_wanted.store(is_wanted, Ordering::Release);
                found
            }
            Phase::Stopped { .. } => false,
        }
    }

    /// Begins to deliver, first of all what was posted before.
    ///
    /// Fails if the bus was started before. If there are no threads to be had, the bus is stopped.
    ///
    /// ```
    /// # use firesteel::listener::ListenerBus;
    /// let bus = ListenerBus::new();
    /// bus.start()?;
    /// assert!(bus.start().is_err());
    /// # Ok::<(), firesteel::listener::BusError>(())
    /// ```
    pub fn start(&self) -> Result<(), BusError> {
        let mut phase = self.phase.lock();
        let (waiting, early) = match &mut *phase {
            Phase::Created { queues, early } => (std::mem::take(queues), std::mem::take(early)),
            Phase::Running { .. } => return Err(BusError::AlreadyStarted),
            Phase::Stopped { .. } => return Err(BusError::Stopped),
        };
        let started: Result<Vec<Queue>, BusError> =
            waiting.into_iter().map(|(name, listeners)| start_queue(name, listeners)).collect();
        let queues = match started {
            Ok(queues) => queues,
            Err(error) => {
                *phase = Phase::Stopped { queues: Vec::new() };
                self.is_wanted.store(false, Ordering::Release);
                return Err(error);
            }
        };
        for queue in &queues {
            for batch in &early {
                queue.post(batch);
            }
        }
        self.is_wanted.store(queues.iter().any(Queue::has_listeners), Ordering::Release);
        *phase = Phase::Running { queues };
        Ok(())
    }

    /// Posts events to every listener, in this order and behind all that was posted before.
    ///
    /// Never waits for a listener. Ignored after [`stop`](Self::stop). While a running bus has no listener it costs
    /// one atomic load; where making the events costs something, ask [`is_wanted`](Self::is_wanted) before.
    ///
    /// ```
    /// # use firesteel::{ExecutorId, ListenerEvent, Timestamp, listener::{ListenerBus, Wait}};
    /// let bus = ListenerBus::new();
    /// let (seen, events) = std::sync::mpsc::channel();
    /// bus.add(ListenerBus::SHARED, move |event: &ListenerEvent| seen.send(event.clone()).unwrap())?;
    /// bus.start()?;
    /// bus.post(vec![ListenerEvent::ExecutorUnexcluded { executor: ExecutorId(1), time: Timestamp::ZERO }]);
    /// bus.stop(Wait::Forever)?;
    /// assert_eq!(events.iter().count(), 1);
    /// # Ok::<(), firesteel::listener::BusError>(())
    /// ```
    pub fn post(&self, events: Vec<ListenerEvent>) {
        if !self.is_wanted() || events.is_empty() {
            return;
        }
        let batch = Arc::new(events);
        match &mut *self.phase.lock() {
            Phase::Created { early, .. } => early.push(batch),
            Phase::Running { queues } => queues.iter().for_each(|queue| queue.post(&batch)),
            Phase::Stopped { .. } => (),
        }
    }

    /// Whether a listener would hear an event, now or once the bus is started.
    ///
    /// ```
    /// # use firesteel::{ListenerEvent, listener::ListenerBus};
    /// let bus = ListenerBus::new();
    /// bus.start()?;
    /// assert!(!bus.is_wanted());
    /// bus.add(ListenerBus::SHARED, |_: &ListenerEvent| ())?;
    /// assert!(bus.is_wanted());
    /// # Ok::<(), firesteel::listener::BusError>(())
    /// ```
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Acquire)
    }

    /// Waits until every listener has handled what was posted before this call.
    ///
    /// Fails when the time is over; with [`Wait::No`] it only looks. Refused before the bus is started, and inside a
    /// listener, which would wait for itself.
    ///
    /// ```
    /// # use firesteel::listener::{BusError, ListenerBus, Wait};
    /// let bus = ListenerBus::new();
    /// assert!(matches!(bus.flush(Wait::Forever), Err(BusError::NotStarted)));
    /// bus.start()?;
    /// assert!(bus.flush(Wait::Forever).is_ok());
    /// # Ok::<(), firesteel::listener::BusError>(())
    /// ```
    pub fn flush(&self, wait: Wait) -> Result<(), BusError> {
        let phase = self.phase.lock();
        let queues = match &*phase {
            Phase::Created { .. } => return Err(BusError::NotStarted),
            Phase::Running { queues } | Phase::Stopped { queues } => queues,
        };
        refuse_listeners(queues, "flush")?;
        let marks: Vec<_> = queues.iter().map(|queue| (queue.name.clone(), queue.events.mark())).collect();
        drop(phase);
        wait_for_all(marks, wait)
    }

    /// Delivers what was posted before, lets go of the listeners, and ends the threads.
    ///
    /// Waits for that as long as `wait` allows, and fails when the time is over; what is not delivered by then is
    /// delivered afterwards, as long as the process lives. A second call only waits. Refused before the bus is started,
    /// and inside a listener, which would wait for itself.
    ///
    /// ```
    /// # use firesteel::listener::{BusError, ListenerBus, Wait};
    /// let bus = ListenerBus::new();
    /// bus.start()?;
    /// bus.stop(Wait::Forever)?;
    /// assert!(matches!(bus.start(), Err(BusError::Stopped)));
    /// # Ok::<(), firesteel::listener::BusError>(())
    /// ```
    pub fn stop(&self, wait: Wait) -> Result<(), BusError> {
        let mut phase = self.phase.lock();
        let queues = match &mut *phase {
            Phase::Created { .. } => return Err(BusError::NotStarted),
            Phase::Running { queues } | Phase::Stopped { queues } => {
                refuse_listeners(queues, "stop")?;
                std::mem::take(queues)
            }
        };
        self.is_wanted.store(false, Ordering::Release);
        let marks: Vec<_> = queues.iter().map(|queue| (queue.name.clone(), queue.events.stop())).collect();
        *phase = Phase::Stopped { queues };
        drop(phase);
        if wait == Wait::No { Ok(()) } else { wait_for_all(marks, wait) }
    }

    /// Whether the caller is a listener of this bus, which must not wait for it.
    ///
    /// A caller that stops the bus as a part of something larger asks this first.
    ///
    /// ```
    /// # use firesteel::listener::ListenerBus;
    /// assert!(!ListenerBus::new().is_listener_thread());
    /// ```
    pub fn is_listener_thread(&self) -> bool {
        match &*self.phase.lock() {
            Phase::Created { .. } => false,
            Phase::Running { queues } | Phase::Stopped { queues } => {
                queues.iter().any(|queue| queue.events.is_current_thread())
            }
        }
    }
}

impl Default for ListenerBus {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ListenerBus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ListenerBus").field("is_wanted", &self.is_wanted()).finish_non_exhaustive()
    }
}

fn start_queue(name: String, listeners: Vec<Registration>) -> Result<Queue, BusError> {
    Queue::start(name.clone(), listeners).map_err(|source| BusError::Thread { queue: name, source })
}

fn refuse_listeners(queues: &[Queue], operation: &'static str) -> Result<(), BusError> {
    if queues.iter().any(|queue| queue.events.is_current_thread()) {
        return Err(BusError::InsideListener { operation });
    }
    Ok(())
}

fn wait_for_all(marks: Vec<(String, Mark<Message>)>, wait: Wait) -> Result<(), BusError> {
    let deadline = wait.deadline();
    match marks.into_iter().find(|(_, mark)| !mark.wait(deadline)) {
        Some((queue, _)) => Err(BusError::TimedOut { queue }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
