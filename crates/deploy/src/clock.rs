//! The time that machines are told: [`Clock`].

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use firesteel_types::Timestamp;

/// Wall-clock time that never jumps: read once, then counted on.
///
/// A machine compares times with each other, so they must not go back when the system clock is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    began: Instant,
    at: Timestamp,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { began: Instant::now(), at: timestamp(SystemTime::now()) }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.at + self.began.elapsed()
    }

    /// How long it is until `deadline`; nothing when it is past, and a long time when there is none.
    pub(crate) fn until(&self, deadline: Option<Timestamp>) -> Duration {
        const WAIT_MAX: Duration = Duration::from_hours(24);
        deadline.map_or(WAIT_MAX, |deadline| deadline.since(self.now()).min(WAIT_MAX))
    }
}

/// A time of the file system or the clock; the epoch for what is before it.
pub(crate) fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::ZERO + time.duration_since(UNIX_EPOCH).unwrap_or_default()
}
