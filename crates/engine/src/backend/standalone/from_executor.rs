//! Messages of executors and their handling: [`FromExecutor`].

use std::sync::{Arc, Weak};

use firesteel_net::{Closed, Handler, Line, SendError, notice};
use firesteel_scheduler::{Event, ExecutorSpec, Scaling, TaskStatus};
use firesteel_storage::block::Directory;
use firesteel_types::{Cpus, ExecutorId};

use super::backend::Shared;
use crate::{
    driver::{Driver, Incoming},
    protocol::{Answer, Joining, Question, ToDriver, ToExecutor},
    task::{Report, ResultValue, TaskEnd, TaskOutput},
};

/// Takes the messages of one executor.
pub(super) struct FromExecutor {
    shared: Arc<Shared>,
    line: Line<ToExecutor>,
    /// The id it claims.
    executor: Option<ExecutorId>,
}

impl FromExecutor {
    pub(super) fn new(shared: Arc<Shared>, line: Line<ToExecutor>) -> Self {
        Self { shared, line, executor: None }
    }
}

impl Handler<ToDriver> for FromExecutor {
    fn messages(&mut self, messages: &mut Vec<ToDriver>) {
        let Some(driver) = self.shared.driver.get().and_then(Weak::upgrade) else { return };
        let mut events = Vec::new();
        for message in messages.drain(..) {
            match (message, self.executor) {
                (ToDriver::Register(joining), None) => self.join(joining, &mut events),
                (ToDriver::Register(_), Some(_)) => tracing::warn!("an executor asked twice to join"),
                (message, Some(executor)) => self.take(&driver, executor, message, &mut events),
                (_, None) => {
                    tracing::warn!(peer = %self.line.peer(), "refused a peer that spoke before it had joined");
                    return self.line.close();
                }
            }
        }
        if !events.is_empty() {
            driver.post_all(events);
        }
    }

    fn closed(&mut self, why: Closed) {
        if let Some(executor) = self.executor {
            self.shared.line_closed(executor, self.line.id(), &why.to_string());
        }
    }
}

impl FromExecutor {
    fn join(&mut self, joining: Box<Joining>, events: &mut Vec<Incoming>) {
        let executor = joining.executor;
        if joining.build != self.shared.build {
            let reason = format!(
                "its executable is another build ({}) than the driver's ({}): start the application again from one \
                 and the same executable",
                joining.build, self.shared.build
            );
            notice(|| tracing::error!(%executor, reason, "refused an executor"));
            let refused = self.line.send(&ToExecutor::Refused { reason });
            drop(refused);
            return self.line.close();
        }
        let spec = ExecutorSpec {
            executor,
            host: joining.host.clone(),
            address: joining.blocks.to_string().into(),
            cpus: Cpus::cores(joining.cores),
            resources: joining.resources.clone(),
            profile: joining.profile,
        };
        tracing::info!(%executor, host = %joining.host, cores = joining.cores, "an executor asks to join");
        self.executor = Some(executor);
        self.shared.links.ask(self.line.clone(), joining);
        events.push(Incoming::event(Event::ExecutorRegistered(spec)));
    }

    fn take(
        &self,
        driver: &Arc<Driver>,
        executor: ExecutorId,
        message: ToDriver,
        events: &mut Vec<Incoming>,
    ) {
        match message {
            ToDriver::Register(_) => (),
            ToDriver::Launched => events.push(Incoming::event(Event::ExecutorLaunched { executor })),
            ToDriver::Begun(attempts) => {
                let runs = |attempt| Event::StatusUpdate { executor, attempt, status: TaskStatus::Running };
                events.extend(attempts.into_iter().map(runs).map(Incoming::event));
            }
            ToDriver::Reports(reports) => {
                events.extend(reports.into_iter().map(|report| self.report(driver, executor, report)));
            }
            ToDriver::TasksReturned(attempts) => {
                events.push(Incoming::event(Event::TasksReturned { executor, attempts }));
            }
            ToDriver::Heartbeat { running } => {
                let block_manager_known = self.shared.blocks.knows(executor);
                events.push(Incoming::event(Event::Heartbeat { executor, block_manager_known, running }));
            }
            ToDriver::RegisterBlocks(registration) => {
                self.shared.blocks.register(&registration);
            }
            ToDriver::Blocks(updates) => events.extend(self.shared.blocks.noted(executor, &updates)),
            ToDriver::Ask { number, question } => {
                // Earlier messages must have reached the scheduler before the question.
                if !events.is_empty() {
                    driver.post_all(std::mem::take(events));
                }
                self.answer(driver, executor, number, question);
            }
            ToDriver::Decommissioning => {
                events.push(Incoming::event(Event::ScalingRequested(Scaling::Decommission {
                    executors: vec![executor],
                    worker_host: None,
                    adjust_target: false,
                    by_executor: true,
                })));
            }
        }
    }

    fn report(&self, driver: &Driver, executor: ExecutorId, report: Report) -> Incoming {
        let attempt = report.attempt;
        let is_stored =
            matches!(&report.end, TaskEnd::Finished(TaskOutput::Result { value: ResultValue::Stored, .. }));
        let mut incoming = driver.incoming(executor, None, report);
        if is_stored {
            let payload = incoming.payload.take().map(|(_, payload)| payload);
            self.shared.results.stored(attempt, executor, payload);
        }
        incoming
    }

    fn answer(&self, driver: &Arc<Driver>, executor: ExecutorId, number: u64, question: Question) {
        let answer = match question {
            Question::Commit { set, partition, number: attempt } => {
                let line = self.line.clone();
                return driver.may_commit_then((set, partition, attempt), move |granted| {
                    let sent = line.send(&ToExecutor::Answer { number, answer: Answer::Commit(granted) });
                    // One that is gone does not commit.
                    drop(sent);
                });
            }
            Question::MapTable(shuffle) => Answer::MapTable {
                table: self.shared.tables.table(shuffle, driver),
                addresses: self.shared.links.shuffle_addresses(),
            },
            Question::Locations(id) => {
                let (locations, addresses) = self.shared.blocks.locate(id);
                Answer::Locations { locations, addresses }
            }
            Question::Peers => {
                let (peers, addresses) = self.shared.blocks.peers_of(executor);
                Answer::Peers { peers, addresses }
            }
        };
        let mut sent = self.line.send(&ToExecutor::Answer { number, answer });
        if let Err(error @ SendError::TooLarge { .. }) = &sent {
            // Only a table can be so large. Those who wait for it must hear that it does not come.
            let table = format!("it is too large to be sent: {error}; raise firesteel.rpc.message.maxSize");
            let answer = Answer::MapTable { table: Err(table), addresses: Vec::new() };
            sent = self.line.send(&ToExecutor::Answer { number, answer });
        }
        if let Err(error) = sent {
            tracing::debug!(%executor, %error, "an answer cannot be sent");
        }
    }
}
