//! The data source of a master's pages: [`MasterSource`].

use firesteel_deploy::master::{MasterServer, MasterStatus};

/// The data source of a master's pages. May take a while to answer.
pub trait MasterSource: Send + Sync + 'static {
    /// How things are; none when the master has ended.
    fn status(&self) -> Option<MasterStatus>;
}

impl MasterSource for MasterServer {
    fn status(&self) -> Option<MasterStatus> {
        Self::status(self)
    }
}
