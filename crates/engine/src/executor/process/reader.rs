//! Messages of the driver and their handling: [`FromDriver`].

use std::sync::Arc;

use firesteel_net::{Closed, Handler};

use super::{End, Process};
use crate::protocol::ToExecutor;

/// Takes the driver's messages.
pub(super) struct FromDriver(pub(super) Arc<Process>);

impl Handler<ToExecutor> for FromDriver {
    fn messages(&mut self, messages: &mut Vec<ToExecutor>) {
        for message in messages.drain(..) {
            self.take(message);
        }
    }

    fn closed(&mut self, why: Closed) {
        self.0.end(End::DriverLost(why.to_string()));
    }
}

impl FromDriver {
    fn take(&self, message: ToExecutor) {
        let process = &self.0;
        match message {
            ToExecutor::Registered(welcome) => return process.joined(*welcome),
            ToExecutor::Refused { reason } => return process.end(End::Refused(reason)),
            ToExecutor::Stop { reason } => return process.end(End::Stopped(reason)),
            _ => (),
        }
        let Some(running) = process.running() else {
            return process.end(End::Failed("an order came before the executor was there".to_owned()));
        };
        match message {
            ToExecutor::Launch { stages, tasks } => running.launch(stages, tasks),
            ToExecutor::Kill { attempt, interrupt, reason } => {
                running.kill(process, attempt, interrupt, reason);
            }
            ToExecutor::TakeBack(attempts) => running.take_back(&attempts),
            ToExecutor::ForgetStage(set) => running.forget_stage(set),
            ToExecutor::Remove(what) => running.remove(what),
            ToExecutor::Answer { number, answer } => running.driver.answered(number, answer),
            ToExecutor::HeartbeatAnswer { registered } => process.heartbeat.answered(registered),
            ToExecutor::Replicate(order) => {
                let environment = running.environment.clone();
                spawn("firesteel-replicate", move || {
                    environment.blocks.manager().replicate(&order);
                });
            }
            ToExecutor::Decommission => process.decommission(),
            ToExecutor::Registered(_) | ToExecutor::Refused { .. } | ToExecutor::Stop { .. } => (),
        }
    }
}

pub(super) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) {
    if let Err(error) = std::thread::Builder::new().name(name.to_owned()).spawn(run) {
        tracing::error!(%error, name, "cannot start a thread");
    }
}
