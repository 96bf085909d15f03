//! What is written down about a cluster of this machine: [`State`].

use serde::{Deserialize, Serialize};

use super::process::Process;
use crate::daemon::Ready;

/// Which processes make up a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) master: Member,
    pub(crate) workers: Vec<Member>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    pub(crate) process: Process,
    /// Where it listens.
    pub(crate) url: String,
    /// Where its pages are.
    pub(crate) page: String,
}

impl Member {
    pub(super) fn new(process: Process, ready: Ready) -> Self {
        Self { process, url: ready.url, page: ready.page }
    }
}

impl State {
    pub(super) fn members(&self) -> impl Iterator<Item = &Member> {
        std::iter::once(&self.master).chain(&self.workers)
    }

    /// Whether any of its processes runs.
    pub(super) fn is_running(&self) -> bool {
        self.members().any(|member| member.process.is_running())
    }
}
