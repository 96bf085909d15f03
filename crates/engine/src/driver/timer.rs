//! Waking the scheduler when a wait of its own is over.

use std::{
    sync::{Arc, Weak},
    thread,
    time::Instant,
};

use parking_lot::{Condvar, Mutex};

use firesteel_scheduler::Event;

use super::{Driver, Incoming};

/// When the scheduler next wants to be called although nothing happens, and the thread that does it.
#[derive(Default)]
pub(crate) struct Timer {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    deadline: Option<Instant>,
    stopped: bool,
}

impl Timer {
    /// Starts the thread. It ends when the driver is stopped or gone.
    pub(crate) fn start(driver: &Arc<Driver>) -> std::io::Result<()> {
        let weak = Arc::downgrade(driver);
        thread::Builder::new().name("firesteel-timer".to_owned()).spawn(move || run(&weak)).map(drop)
    }

    /// Sets the deadline. Only an earlier one wakes the thread: after a later one it finds out by itself.
    pub(super) fn set(&self, deadline: Option<Instant>) {
        let mut state = self.state.lock();
        let earlier = match (deadline, state.deadline) {
            (Some(new), Some(old)) => new < old,
            (Some(_), None) => true,
            (None, _) => false,
        };
        state.deadline = deadline;
        if earlier {
            self.changed.notify_one();
        }
    }

    pub(super) fn stop(&self) {
        self.state.lock().stopped = true;
        self.changed.notify_one();
    }

    /// Waits for the deadline; gives whether to go on.
    fn wait(&self) -> bool {
        let mut state = self.state.lock();
        loop {
            if state.stopped {
                return false;
            }
            match state.deadline {
                None => self.changed.wait(&mut state),
                Some(deadline) if deadline <= Instant::now() => {
                    state.deadline = None;
                    return true;
                }
                Some(deadline) => drop(self.changed.wait_until(&mut state, deadline)),
            }
        }
    }
}

fn run(driver: &Weak<Driver>) {
    while let Some(driver) = driver.upgrade() {
        if !driver.timer.wait() {
            return;
        }
        driver.post(Incoming::event(Event::Tick));
    }
}
