//! How a server ended, for those who wait for it: [`Ending`].

use std::{sync::Arc, time::Duration};

use parking_lot::{Condvar, Mutex};

/// How a master or worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// It was told to stop.
    Stopped,
    /// It gave up by itself; the process should end with this code.
    GaveUp {
        /// The exit code.
        code: i32,
        /// Why, for people.
        reason: String,
    },
    /// Its thread panicked, which is a mistake of ours.
    Panicked,
}

impl Ending {
    /// The exit code of a process whose only purpose was this.
    pub fn code(&self) -> i32 {
        match self {
            Self::Stopped => 0,
            Self::GaveUp { code, .. } => *code,
            Self::Panicked => 101,
        }
    }
}

/// Tells all threads that wait how it ended, once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latch(Arc<(Mutex<Option<Ending>>, Condvar)>);

impl Latch {
    /// Sets the ending, if none is set.
    pub(crate) fn set(&self, ending: Ending) {
        self.0.0.lock().get_or_insert(ending);
        self.0.1.notify_all();
    }

    pub(crate) fn get(&self) -> Option<Ending> {
        self.0.0.lock().clone()
    }

    pub(crate) fn wait(&self) -> Ending {
        let mut ending = self.0.0.lock();
        loop {
            if let Some(ending) = &*ending {
                return ending.clone();
            }
            self.0.1.wait(&mut ending);
        }
    }
}

/// Something that happens once, for those who wait for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flag(Arc<(Mutex<bool>, Condvar)>);

impl Flag {
    pub(crate) fn set(&self) {
        *self.0.0.lock() = true;
        self.0.1.notify_all();
    }

    /// Waits until it has happened; false when that takes longer than `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) -> bool {
        let mut is_set = self.0.0.lock();
        self.0.1.wait_while_for(&mut is_set, |is_set| !*is_set, timeout);
        *is_set
    }
}

/// Sets [`Ending::Panicked`] when it is dropped without another ending.
pub(crate) struct Guard(pub(crate) Latch);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.set(Ending::Panicked);
    }
}
