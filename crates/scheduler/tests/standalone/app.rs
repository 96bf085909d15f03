//! The application's side, as little of it as the cluster can tell from a real one.

use std::collections::BTreeMap;

use firesteel_scheduler::{
    deploy::ExecutorState,
    master::{AppDescription, AppMessage, Reply},
};
use firesteel_types::{AppId, ExecutorId, WorkerId};

/// An application's driver.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) description: AppDescription,
    pub(crate) id: Option<AppId>,
    /// The connection to the master that leads, as far as it knows.
    pub(crate) connection: Option<u64>,
    pub(crate) phase: AppPhase,
    /// The executors it was told of and that are not gone.
    pub(crate) executors: BTreeMap<ExecutorId, (WorkerId, ExecutorState)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppPhase {
    /// It asks every master.
    Registering,
    Registered,
    /// Its master is gone; another one may announce itself.
    Waiting,
    Ended,
}

/// What a message makes an application do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AppReaction {
    Nothing,
    AcknowledgeMaster,
    /// Its executor was told to leave, so the driver drains it and lets it end.
    Drain(ExecutorId),
    /// It was given up.
    End,
}

impl App {
    pub(crate) fn new(description: AppDescription) -> Self {
        Self {
            description,
            id: None,
            connection: None,
            phase: AppPhase::Registering,
            executors: BTreeMap::new(),
        }
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.phase != AppPhase::Ended
    }

    pub(crate) fn on_reply(&mut self, connection: u64, reply: &Reply) {
        if let Reply::RegisteredApplication { app } = reply
            && self.phase == AppPhase::Registering
        {
            self.id = Some(app.clone());
            self.connection = Some(connection);
            self.phase = AppPhase::Registered;
        }
    }

    pub(crate) fn on_message(&mut self, connection: u64, message: &AppMessage) -> AppReaction {
        match message {
            AppMessage::ExecutorAdded { executor, worker, .. } => {
                self.executors.insert(*executor, (worker.clone(), ExecutorState::Launching));
                AppReaction::Nothing
            }
            AppMessage::ExecutorUpdated { executor, state, .. } => {
                if state.is_final() {
                    self.executors.remove(executor);
                } else if let Some((_, known)) = self.executors.get_mut(executor) {
                    *known = *state;
                }
                match state {
                    ExecutorState::Decommissioned => AppReaction::Drain(*executor),
                    ExecutorState::Launching
                    | ExecutorState::Running
                    | ExecutorState::Killed
                    | ExecutorState::Failed
                    | ExecutorState::Lost
                    | ExecutorState::Exited => AppReaction::Nothing,
                }
            }
            AppMessage::WorkerRemoved { worker, .. } => {
                self.executors.retain(|_, (its_worker, _)| its_worker != worker);
                AppReaction::Nothing
            }
            AppMessage::ApplicationRemoved { .. } => AppReaction::End,
            AppMessage::MasterChanged => {
                self.connection = Some(connection);
                self.phase = AppPhase::Registered;
                AppReaction::AcknowledgeMaster
            }
        }
    }
}
