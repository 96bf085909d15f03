//! The line that a process keeps to the worker that started it.
//!
//! [`WorkerWatch`] is the end inside the process; the worker's end answers and keeps the line open for as long as the
//! worker lives. So a process knows when its worker is gone, however it went.

use firesteel_net::{Accepted, Address, Closed, Dialer, Handler, Line, LineConf, NetError, Service};
use firesteel_scheduler::worker::{WatcherEffect, WorkerWatcher};
use firesteel_types::{DriverId, ExecutorId};

use crate::protocol::{FromWorker, ToWorker};

/// Who watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watcher {
    /// An executor, with a dialer of its application.
    Executor(ExecutorId),
    /// A driver that the cluster runs, with a dialer of the cluster.
    Driver(DriverId),
}

/// A watch over the worker that started this process. Dropped, it ends without a word.
#[derive(Debug)]
pub struct WorkerWatch {
    line: Line<ToWorker>,
}

impl WorkerWatch {
    /// Watches the worker at `address`. When it is lost, `on_lost` is called once, with the exit code that is due and
    /// the reason; it should end this process.
    ///
    /// It should not write to the standard output or error: the worker held the other end of both, and Rust's `print`
    /// macros panic when the pipe has no reader.
    pub fn start(
        dialer: &Dialer,
        address: &Address,
        conf: &LineConf,
        who: Watcher,
        on_lost: impl FnOnce(i32, String) + Send + 'static,
    ) -> Result<Self, NetError> {
        // Made when there is a connection: a worker that was never reached is the caller's to deal with.
        let watch = |_: &Line<ToWorker>| Watch {
            machine: WorkerWatcher::new(address.to_string()),
            address: address.to_string(),
            on_lost: Some(Box::new(on_lost)),
        };
        let line = dialer.line_with(address, Service::Worker, conf, watch)?;
        let hello = match who {
            Watcher::Executor(executor) => ToWorker::WatchAsExecutor(executor),
            Watcher::Driver(driver) => ToWorker::WatchAsDriver(driver),
        };
        // A line that is broken already reports that to the watch.
        let _ = line.send(&hello);
        Ok(Self { line })
    }

    /// Ends the watch: the loss of the worker is of no interest any more.
    pub fn stop(&self) {
        self.line.close();
    }
}

struct Watch {
    machine: WorkerWatcher,
    address: String,
    on_lost: Option<Box<dyn FnOnce(i32, String) + Send>>,
}

impl Handler<FromWorker> for Watch {
    fn messages(&mut self, messages: &mut Vec<FromWorker>) {
        for FromWorker::Watched in messages.drain(..) {
            tracing::debug!(worker = self.address, "watching the worker");
        }
    }

    fn closed(&mut self, why: Closed) {
        if matches!(why, Closed::ByUs) {
            self.on_lost = None;
        }
        self.end();
    }
}

/// A watch that ends without a word, as when its thread panics, has lost its worker too.
impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

impl Watch {
    fn end(&mut self) {
        for WatcherEffect::Exit { code, reason } in self.machine.on_connection_lost(&self.address) {
            if let Some(on_lost) = self.on_lost.take() {
                on_lost(code, reason);
            }
        }
    }
}

/// The worker's end of a watch.
pub(super) fn accept(accepted: Accepted<FromWorker>) -> Box<dyn Handler<ToWorker>> {
    let Accepted { line, realm, peer } = accepted;
    tracing::debug!(%peer, %realm, "a process watches this worker");
    Box::new(Watched { line })
}

struct Watched {
    line: Line<FromWorker>,
}

impl Handler<ToWorker> for Watched {
    fn messages(&mut self, messages: &mut Vec<ToWorker>) {
        for message in messages.drain(..) {
            tracing::debug!(?message, "watched");
            // A line that broke reports that to `closed`.
            let _ = self.line.send(&FromWorker::Watched);
        }
    }

    fn closed(&mut self, why: Closed) {
        tracing::debug!(%why, "a process stopped to watch");
    }
}
