//! The intervals of heartbeats, and their validation.
//!
//! [`HeartbeatConfig`] is plain data; it does not read the application's settings.

use std::time::Duration;

use serde::{Deserialize, Serialize};

const INTERVAL: &str = "firesteel.executor.heartbeatInterval";
const CHECK_INTERVAL: &str = "firesteel.network.timeoutInterval";
const NETWORK_TIMEOUT: &str = "firesteel.network.timeout";
const BLOCK_MANAGER_TIMEOUT: &str = "firesteel.storage.blockManagerHeartbeatTimeoutMs";

/// How often executors report, and how long they may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatConfig {
    /// The time between two heartbeats of an executor.
    pub interval: Duration,
    /// The time between two looks for silent executors.
    pub check_interval: Duration,
    /// How long anything on the network may be silent.
    pub network_timeout: Duration,
    /// How long an executor may be silent, if that differs from the network timeout.
    pub block_manager_timeout: Option<Duration>,
    /// How many heartbeats in a row may fail before an executor gives up.
    pub max_failures: u32,
}

impl Default for HeartbeatConfig {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(10),
            check_interval: Duration::from_mins(1),
            network_timeout: Duration::from_mins(2),
            block_manager_timeout: None,
            max_failures: 60,
        }
    }
}

impl HeartbeatConfig {
    /// How long an executor may be silent before it is given up.
    pub fn executor_timeout(&self) -> Duration {
        self.block_manager_timeout.unwrap_or(self.network_timeout)
    }

    /// Checks the intervals against the executor timeout.
    pub fn validate(&self) -> Result<(), HeartbeatConfigError> {
        let (limit_key, limit) = match self.block_manager_timeout {
            Some(timeout) => (BLOCK_MANAGER_TIMEOUT, timeout),
            None => (NETWORK_TIMEOUT, self.network_timeout),
        };
        for (key, interval) in [(CHECK_INTERVAL, self.check_interval), (INTERVAL, self.interval)] {
            if interval.is_zero() {
                return Err(HeartbeatConfigError::NotPositive { key });
            }
            if interval > limit {
                return Err(HeartbeatConfigError::LongerThanTimeout { key, interval, limit_key, limit });
            }
        }
        Ok(())
    }
}

/// Why the intervals cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the field names say it")]
#[non_exhaustive]
pub enum HeartbeatConfigError {
    /// Without any time between them, heartbeats or checks would never stop.
    #[error("{key} must be greater than 0")]
    NotPositive { key: &'static str },
    /// Healthy executors would be given up, or dead ones noticed far too late.
    #[error("{key} is {interval:?} but must not exceed {limit_key}, which is {limit:?}")]
    LongerThanTimeout { key: &'static str, interval: Duration, limit_key: &'static str, limit: Duration },
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(121);
    const LIMIT: Duration = Duration::from_mins(2);

    fn too_long(key: &'static str, limit_key: &'static str) -> Result<(), HeartbeatConfigError> {
        Err(HeartbeatConfigError::LongerThanTimeout { key, interval: LONG, limit_key, limit: LIMIT })
    }

    /// Behaviours: HB-005, HB-006.
    #[test]
    fn the_block_manager_timeout_goes_before_the_network_timeout() {
        let by_network = HeartbeatConfig::default();
        let by_block_manager = HeartbeatConfig { block_manager_timeout: Some(LONG), ..by_network };

        assert_eq!(by_network.executor_timeout(), LIMIT);
        assert_eq!(by_block_manager.executor_timeout(), LONG);
    }

    /// Behaviours: HB-006.
    #[test]
    fn intervals_may_reach_the_timeout_but_not_exceed_it() {
        let equal = HeartbeatConfig { interval: LIMIT, check_interval: LIMIT, ..HeartbeatConfig::default() };
        assert_eq!(equal.validate(), Ok(()));

        let slow_check = HeartbeatConfig { check_interval: LONG, ..equal };
        let slow_beat = HeartbeatConfig { interval: LONG, ..equal };

        assert_eq!(slow_check.validate(), too_long(CHECK_INTERVAL, NETWORK_TIMEOUT));
        assert_eq!(slow_beat.validate(), too_long(INTERVAL, NETWORK_TIMEOUT));
    }

    /// Behaviours: HB-006.
    #[test]
    fn the_error_names_the_timeout_that_is_in_force() {
        let config = HeartbeatConfig {
            network_timeout: Duration::from_hours(1),
            block_manager_timeout: Some(LIMIT),
            ..HeartbeatConfig::default()
        };
        let slow_check = HeartbeatConfig { check_interval: LONG, ..config };
        let slow_beat = HeartbeatConfig { interval: LONG, ..config };

        assert_eq!(slow_check.validate(), too_long(CHECK_INTERVAL, BLOCK_MANAGER_TIMEOUT));
        assert_eq!(slow_beat.validate(), too_long(INTERVAL, BLOCK_MANAGER_TIMEOUT));
        assert_eq!(
            slow_beat.validate().unwrap_err().to_string(),
            "firesteel.executor.heartbeatInterval is 121s but must not exceed \
             firesteel.storage.blockManagerHeartbeatTimeoutMs, which is 120s"
        );
    }

    #[test]
    fn intervals_must_be_positive() {
        let config = HeartbeatConfig { interval: Duration::ZERO, ..HeartbeatConfig::default() };

        assert_eq!(config.validate(), Err(HeartbeatConfigError::NotPositive { key: INTERVAL }));
    }
}
