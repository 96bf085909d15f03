//! What an application's client is told at its start: [`AppClientConf`].

use std::time::Duration;

use firesteel_net::{Address, LineConf};
use firesteel_scheduler::{client::ClientConfig, master::AppDescription};

use crate::{master_links::Redial, security::Security};

/// What an application's client is told at its start.
#[derive(Clone, Debug)]
pub struct AppClientConf {
    /// The masters, and how long they may take.
    pub machine: ClientConfig,
    /// What the application asks for.
    pub description: AppDescription,
    /// How long the driver waits for the answer to a request.
    pub answer_timeout: Duration,
    /// The secret and the certificates.
    pub security: Security,
    /// What its lines allow.
    pub line: LineConf,
    /// How patiently it looks for a master that is lost.
    pub redial: Redial,
}

impl AppClientConf {
    /// A client of `masters` for an application, with the usual settings.
    pub fn new(masters: &[Address], description: AppDescription) -> Self {
        Self {
            machine: ClientConfig::new(masters.iter().map(|master| master.to_string().into()).collect()),
            description,
            answer_timeout: Duration::from_mins(2),
            security: Security::default(),
            line: LineConf::default(),
            redial: Redial::default(),
        }
    }
}
