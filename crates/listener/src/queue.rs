//! The listeners of one queue, and the thread that calls them: [`Queue`].

use std::{io, sync::Arc};

use firesteel_types::ListenerEvent;

use super::{
    contract::{Listener, ListenerId},
    event_loop::{EventLoop, Handler, guarded},
};

/// Events that were posted together. Every queue has the same copy.
pub(super) type Batch = Arc<Vec<ListenerEvent>>;

/// A listener with what is known of it.
pub(super) struct Registration {
    pub(super) id: ListenerId,
    /// Its type, to name it in the log.
    pub(super) kind: &'static str,
    pub(super) listener: Box<dyn Listener>,
}

/// A named thread with its listeners.
///
/// The thread owns the listeners; a listener comes and goes by a message in the same order as the events, so it
/// hears exactly what is posted while it is registered.
pub(super) struct Queue {
    pub(super) name: String,
    pub(super) events: EventLoop<Message>,
    members: Vec<ListenerId>,
}

/// What the queue's thread is told.
pub(super) enum Message {
    Events(Batch),
    Add(Registration),
    Remove(ListenerId),
}

impl Queue {
    /// Starts the thread with the listeners that are known already.
    pub(super) fn start(name: String, listeners: Vec<Registration>) -> io::Result<Self> {
        let members = listeners.iter().map(|registration| registration.id).collect();
        let thread = format!("listener-{name}");
        let events = EventLoop::start(thread, Listeners { queue: name.clone(), listeners })?;
        Ok(Self { name, events, members })
    }

    pub(super) fn add(&mut self, registration: Registration) {
        self.members.push(registration.id);
        self.events.post(Message::Add(registration));
    }

    /// Returns whether it had the listener.
    pub(super) fn remove(&mut self, id: ListenerId) -> bool {
        let Some(place) = self.members.iter().position(|member| *member == id) else { return false };
        self.members.remove(place);
        self.events.post(Message::Remove(id));
        true
    }

    /// Whether a listener would hear an event.
    pub(super) fn has_listeners(&self) -> bool {
        !self.members.is_empty()
    }

    pub(super) fn post(&self, batch: &Batch) {
        if self.has_listeners() {
            self.events.post(Message::Events(batch.clone()));
        }
    }
}

/// The part of a queue that lives on its thread.
struct Listeners {
    queue: String,
    listeners: Vec<Registration>,
}

impl Handler<Message> for Listeners {
    fn on_event(&mut self, message: Message) {
        match message {
            Message::Events(batch) => {
                for event in batch.iter() {
                    self.deliver(event);
                }
            }
            Message::Add(registration) => self.listeners.push(registration),
            Message::Remove(id) => self.listeners.retain(|registration| registration.id != id),
        }
    }

    fn on_error(&mut self, message: &str) {
        tracing::error!(queue = self.queue, message, "a listener panicked when it was removed");
    }

    /// Here, one by one: a listener that panics when it is dropped does not take the others along.
    fn on_stop(&mut self) {
        for registration in std::mem::take(&mut self.listeners) {
            if let Err(message) = guarded(move || drop(registration)) {
                self.on_error(&message);
            }
        }
    }
}

impl Listeners {
    fn deliver(&mut self, event: &ListenerEvent) {
        for Registration { id, kind, listener } in &mut self.listeners {
            if let Err(message) = guarded(|| listener.on_event(event)) {
                tracing::error!(queue = self.queue, listener = %id, kind, message, "a listener panicked");
            }
        }
    }
}
