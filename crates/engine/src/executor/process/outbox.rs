//! Reports on their way to the driver, many at a time: [`Outbox`].

use std::{
    io,
    sync::{Arc, Weak},
    thread,
    time::{Duration, Instant},
};

use firesteel_net::{Line, SendError};
use firesteel_types::TaskFailure;
use parking_lot::{Condvar, Mutex};

use crate::{
    protocol::ToDriver,
    task::{Report, TaskEnd, Updates},
};

/// Number of reports at which a batch is sent at once.
const REPORT_BATCH_MAX: usize = 64;
/// How long a report waits at most for others to be sent with it.
const REPORT_BATCH_DELAY: Duration = Duration::from_millis(1);

/// Reports that wait to be sent together. While tasks follow each other on a slot, each of them would otherwise be a
/// message of its own.
pub(super) struct Outbox {
    line: Line<ToDriver>,
    waiting: Mutex<Waiting>,
    began: Condvar,
}

#[derive(Default)]
struct Waiting {
    reports: Vec<Report>,
    since: Option<Instant>,
    is_closed: bool,
}

impl Outbox {
    /// Starts the thread that sends what has waited long enough.
    pub(super) fn start(line: Line<ToDriver>) -> io::Result<Arc<Self>> {
        let outbox = Arc::new(Self { line, waiting: Mutex::default(), began: Condvar::new() });
        let weak = Arc::downgrade(&outbox);
        thread::Builder::new().name("firesteel-outbox".to_owned()).spawn(move || run(&weak))?;
        Ok(outbox)
    }

    /// Sends a report: at once, or with those that follow if more of them are about to come.
    pub(super) fn add(&self, report: Report, more_follow: bool) {
        let mut waiting = self.waiting.lock();
        waiting.reports.push(report);
        if !more_follow || waiting.reports.len() >= REPORT_BATCH_MAX {
            return self.send(&mut waiting);
        }
        if waiting.since.is_none() {
            waiting.since = Some(Instant::now());
            self.began.notify_one();
        }
    }

    /// Sends everything; nothing waits any more.
    pub(super) fn close(&self) {
        let mut waiting = self.waiting.lock();
        waiting.is_closed = true;
        self.send(&mut waiting);
        self.began.notify_one();
    }

    /// Sends what waits. In order, so the lock is held; sending never waits.
    fn send(&self, waiting: &mut Waiting) {
        waiting.since = None;
        let reports = std::mem::take(&mut waiting.reports);
        if !reports.is_empty() {
            self.deliver(reports);
        }
    }

    /// Sends reports in one message, or each in its own if that is too large. Every report must arrive, or its job never
    /// ends: one that is too large by itself becomes a failure.
    fn deliver(&self, reports: Vec<Report>) {
        let message = ToDriver::Reports(reports);
        match (self.line.send(&message), message) {
            (Ok(()), _) => (),
            (Err(error @ SendError::TooLarge { .. }), ToDriver::Reports(mut reports)) => {
                match reports.len() {
                    1 => {
                        let failed = reports.pop().map(|report| too_large(report, &error));
                        self.deliver(failed.into_iter().collect());
                    }
                    _ => reports.into_iter().for_each(|report| self.deliver(vec![report])),
                }
            }
            (Err(error), _) => tracing::debug!(%error, "reports cannot be sent: the driver is gone"),
        }
    }

    /// Waits until something has waited long enough and sends it; returns whether to go on.
    fn turn(&self) -> bool {
        let mut waiting = self.waiting.lock();
        loop {
            if waiting.is_closed {
                return false;
            }
            match waiting.since {
                None => drop(self.began.wait_for(&mut waiting, Duration::from_secs(1))),
                Some(since) if since.elapsed() >= REPORT_BATCH_DELAY => {
                    self.send(&mut waiting);
                    return true;
                }
                Some(since) => drop(self.began.wait_until(&mut waiting, since + REPORT_BATCH_DELAY)),
            }
            if waiting.since.is_none() {
                return true;
            }
        }
    }
}

/// What is reported of an attempt whose own report cannot be sent. What it added to accumulators is left out.
fn too_large(report: Report, error: &SendError) -> Report {
    let message = format!(
        "what the task reports, its result and what it added to accumulators, is too large: {error}; raise \
         firesteel.rpc.message.maxSize or give back less"
    );
    let end = TaskEnd::Failed { failure: TaskFailure::panicked(message), operator: None };
    Report { end, updates: Updates::default(), ..report }
}

fn run(outbox: &Weak<Outbox>) {
    while let Some(outbox) = outbox.upgrade() {
        if !outbox.turn() {
            return;
        }
    }
}
