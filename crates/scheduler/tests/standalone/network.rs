//! Connections and what is on its way: everything that will happen, in order of time.

use std::{collections::BTreeMap, time::Duration};

use firesteel_scheduler::{
    deploy::MasterToWorker,
    master::{AppMessage, MasterEvent, Reply},
    worker::{ProcessId, WorkerEvent},
};
use firesteel_types::{Rng, Timestamp};

/// Who is at the other end of a master's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Worker(usize),
    App(usize),
    Client,
}

/// One connection of a master. Its number is the master's peer.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    pub(crate) master: usize,
    pub(crate) end: End,
    pub(crate) open: bool,
    /// Nothing is delivered before what was sent earlier in the same direction.
    last_to_master: Timestamp,
    last_from_master: Timestamp,
}

/// Something that will happen.
#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// A message arrives at a master.
    ToMaster {
        connection: u64,
        event: MasterEvent,
    },
    ToWorker {
        connection: u64,
        message: MasterToWorker,
    },
    ToApp {
        connection: u64,
        message: AppMessage,
    },
    Answer {
        connection: u64,
        reply: Reply,
    },
    /// A worker hears of its own machine, if it is still the same process.
    WorkerNews {
        worker: usize,
        life: u32,
        event: WorkerEvent,
    },
    /// A master hears of its own runtime, if it is still the same process.
    MasterNews {
        master: usize,
        life: u32,
        event: MasterEvent,
    },
    ProcessEnds {
        worker: usize,
        life: u32,
        process: ProcessId,
        code: i32,
    },
    StartWorker {
        worker: usize,
    },
    StartMaster {
        master: usize,
    },
    Elect {
        master: usize,
    },
    /// An application without a master asks again.
    AskAgain {
        app: usize,
    },
    /// An application notices that its connection is gone.
    AppCutOff {
        app: usize,
        connection: u64,
    },
}

/// The network and the clock.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) now: Timestamp,
    pub(crate) rng: Rng,
    /// The longest way of a message; all take as long when `jitter` is off.
    pub(crate) delay: Duration,
    pub(crate) jitter: bool,
    connections: BTreeMap<u64, Connection>,
    next_connection: u64,
    queue: BTreeMap<(Timestamp, u64), Happening>,
    next_number: u64,
}

impl Network {
    pub(crate) fn new(now: Timestamp, seed: u64, delay: Duration, jitter: bool) -> Self {
        Self {
            now,
            rng: Rng::new(seed),
            delay,
            jitter,
            connections: BTreeMap::new(),
            next_connection: 0,
            queue: BTreeMap::new(),
            next_number: 0,
        }
    }

    pub(crate) fn connect(&mut self, master: usize, end: End) -> u64 {
        self.next_connection += 1;
        let (last_to_master, last_from_master) = (self.now, self.now);
        let connection = Connection { master, end, open: true, last_to_master, last_from_master };
        self.connections.insert(self.next_connection, connection);
        self.next_connection
    }

    pub(crate) fn connection(&self, connection: u64) -> &Connection {
        &self.connections[&connection]
    }

    /// The newest open connection between a master and another.
    pub(crate) fn between(&self, master: usize, end: End) -> Option<u64> {
        let mut newest_first = self.connections.iter().rev();
        let found = newest_first.find(|(_, known)| known.open && known.master == master && known.end == end);
        found.map(|(id, _)| *id)
    }

    pub(crate) fn open_connections(&self, which: impl Fn(&Connection) -> bool) -> Vec<u64> {
        let open = self.connections.iter().filter(|(_, known)| known.open && which(known));
        open.map(|(id, _)| *id).collect()
    }

    /// Closes a connection. What is on its way over it is lost.
    pub(crate) fn close(&mut self, connection: u64) {
        self.connections.get_mut(&connection).expect("connections are kept").open = false;
    }

    pub(crate) fn travel_time(&mut self) -> Duration {
        if self.jitter {
            let micros = usize::try_from(self.delay.as_micros()).expect("delays are short");
            Duration::from_micros(self.rng.below(micros) as u64 + 1)
        } else {
            self.delay
        }
    }

    pub(crate) fn send_to_master(&mut self, connection: u64, event: MasterEvent) {
        let arrival = self.now + self.travel_time();
        let known = self.connections.get_mut(&connection).expect("connections are kept");
        known.last_to_master = known.last_to_master.max(arrival);
        let at = known.last_to_master;
        self.at(at, Happening::ToMaster { connection, event });
    }

    pub(crate) fn send_from_master(&mut self, connection: u64, happening: Happening) {
        let arrival = self.now + self.travel_time();
        let known = self.connections.get_mut(&connection).expect("connections are kept");
        known.last_from_master = known.last_from_master.max(arrival);
        let at = known.last_from_master;
        self.at(at, happening);
    }

    pub(crate) fn soon(&mut self, happening: Happening) {
        let at = self.now + self.travel_time();
        self.at(at, happening);
    }

    pub(crate) fn after(&mut self, wait: Duration, happening: Happening) {
        self.at(self.now + wait, happening);
    }

    pub(crate) fn at(&mut self, at: Timestamp, happening: Happening) {
        self.next_number += 1;
        self.queue.insert((at, self.next_number), happening);
    }

    pub(crate) fn next_time(&self) -> Option<Timestamp> {
        self.queue.keys().next().map(|(at, _)| *at)
    }

    pub(crate) fn pop_until(&mut self, until: Timestamp) -> Option<Happening> {
        if self.next_time()? > until {
            return None;
        }
        self.queue.pop_first().map(|(_, happening)| happening)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound)
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}
