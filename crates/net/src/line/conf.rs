//! What a line allows: [`LineConf`].

use std::time::Duration;

/// What a line allows, in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineConf {
    /// The longest message, sent or received, in bytes. Checked before memory is taken for it; below 4 GiB.
    pub max_message: usize,
    /// How many bytes may wait for a slow peer before it is cut off. One message alone is always taken.
    pub max_queued: u64,
    /// How long the peer may send nothing at all before the line is closed. Both sides should have the same, since
    /// each pings every quarter of its own. None waits for ever and never pings.
    pub silence: Option<Duration>,
    /// How long an orderly close may take to write what was sent and to hear from the peer that it got it.
    pub close_timeout: Duration,
}

impl Default for LineConf {
    fn default() -> Self {
        Self {
            max_message: 128 << 20,
            max_queued: 512 << 20,
            silence: Some(Duration::from_secs(60)),
            close_timeout: Duration::from_secs(5),
        }
    }
}
