//! Time as the scheduler wants it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use firesteel_types::Timestamp;

/// Microseconds since 1970 that never go backwards, even if the system's clock does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
    start_us: u64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start: Instant::now(), start_us: since_epoch.as_micros() as u64 }
    }

    /// When the clock was started.
    pub(crate) fn began(&self) -> Timestamp {
        Timestamp(self.start_us)
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp(self.start_us + self.start.elapsed().as_micros() as u64)
    }

    /// The instant of a timestamp.
    pub(crate) fn instant(&self, at: Timestamp) -> Instant {
        self.start + Duration::from_micros(at.0.saturating_sub(self.start_us))
    }
}
