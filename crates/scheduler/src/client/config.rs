//! The settings of an application's client.

use std::time::Duration;

use crate::deploy::MasterAddress;

/// What a client must know before it starts. [`ClientConfig::new`] fills in Spark's defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// Every master that may lead.
    pub masters: Vec<MasterAddress>,
    /// How long the masters may take to answer a registration.
    pub registration_timeout: Duration,
    /// How often the masters are asked, the first time included.
    pub registration_tries: u32,
    /// Interval at which a client that lost its master registers again.
    pub reconnect_interval: Duration,
}

/// Why a client cannot be made from its settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ClientConfigError {
    /// It would never find a master.
    #[error("no master is given; name at least one, as firesteel://host:port")]
    NoMasters,
    /// It would be busy with nothing else.
    #[error("{setting} is zero; give a value above zero")]
    Zero { setting: &'static str },
}

impl ClientConfig {
    /// A client of these masters.
    pub fn new(masters: Vec<MasterAddress>) -> Self {
        Self {
            masters,
            registration_timeout: Duration::from_secs(20),
            registration_tries: 3,
            reconnect_interval: Duration::from_secs(10),
        }
    }

    pub(super) fn check(&self) -> Result<(), ClientConfigError> {
        if self.masters.is_empty() {
            return Err(ClientConfigError::NoMasters);
        }
        let zero = [
            ("the registration timeout", self.registration_timeout < Duration::from_micros(1)),
            ("the number of registration tries", self.registration_tries == 0),
            ("the reconnect interval", self.reconnect_interval < Duration::from_micros(1)),
        ];
        match zero.into_iter().find(|(_, is_zero)| *is_zero) {
            Some((setting, _)) => Err(ClientConfigError::Zero { setting }),
            None => Ok(()),
        }
    }
}
