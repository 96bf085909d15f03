//! The one thread that pings for all lines of a process, and ends closes that take too long: [`schedule`].
//!
//! Pings must not come from the thread of a line: a handler that works for long, or a user's type that is slow to
//! deserialize, would make a busy process look dead. The thread starts with the first duty and ends with the last.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    thread,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use super::core::Core;
use crate::notice::notice;

/// What is to be done for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duty {
    /// Every time.
    Ping,
    /// Once.
    GiveUp,
}

#[derive(Debug)]
struct Pulse {
    /// By their time; the number tells apart what is due at the same time.
    due: BTreeMap<(Instant, u64), (Weak<Core>, Duty)>,
    next: u64,
    running: bool,
}

static PULSE: Mutex<Pulse> = Mutex::new(Pulse { due: BTreeMap::new(), next: 0, running: false });
static EARLIER: Condvar = Condvar::new();

/// Does its duty for `line` after some time, if the line is still there.
pub(super) fn schedule(after: Duration, line: &Arc<Core>, duty: Duty) {
    let mut pulse = PULSE.lock();
    pulse.add(after, Arc::downgrade(line), duty);
    if pulse.running {
        EARLIER.notify_one();
        return;
    }
    match thread::Builder::new().name("line-pulse".to_owned()).stack_size(256 << 10).spawn(run) {
        Ok(_) => pulse.running = true,
        Err(error) => {
            notice(|| tracing::error!(%error, "no thread for pings; peers will take this process for dead"))
        }
    }
}

impl Pulse {
    fn add(&mut self, after: Duration, line: Weak<Core>, duty: Duty) {
        self.next += 1;
        self.due.insert((self::after(after), self.next), (line, duty));
    }
}

/// The moment after so much time; what is more than a clock can say is later than any wait.
pub(super) fn after(time: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    Instant::now() + time.min(YEAR)
}

fn run() {
    let mut pulse = PULSE.lock();
    while let Some((&(at, _), _)) = pulse.due.first_key_value() {
        if Instant::now() < at {
            EARLIER.wait_until(&mut pulse, at);
            continue;
        }
        let Some((_, (line, duty))) = pulse.due.pop_first() else { continue };
        let Some(core) = line.upgrade() else { continue };
        drop(pulse);
        let again = match duty {
            Duty::Ping if core.ping() => core.ping_every(),
            Duty::Ping => None,
            Duty::GiveUp => {
                core.give_up();
                None
            }
        };
        drop(core);
        pulse = PULSE.lock();
        if let Some(after) = again {
            pulse.add(after, line, duty);
        }
    }
    pulse.running = false;
}
