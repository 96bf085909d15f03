//! Messages of the master about executors and workers: [`FromMaster`].

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use firesteel_deploy::client::{AppEvents, ExecutorPlace};
use firesteel_net::notice;
use firesteel_scheduler::{Event, Scaling};
use firesteel_types::{AppId, ExecutorId, ExecutorLossReason, Host, WorkerId, settings};
use parking_lot::{Condvar, Mutex};

use super::backend::Shared;
use crate::driver::Incoming;

/// Takes what the application client hears.
pub(super) struct FromMaster {
    shared: Arc<Shared>,
    /// How the registration ended, once it has.
    registered: Mutex<Option<Result<AppId, String>>>,
    answered: Condvar,
    /// How the last executor went.
    last_loss: Mutex<Option<String>>,
    /// How many executors in a row have ended before they joined.
    never_joined: AtomicU32,
}

impl FromMaster {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            registered: Mutex::default(),
            answered: Condvar::new(),
            last_loss: Mutex::default(),
            never_joined: AtomicU32::new(0),
        }
    }

    /// Waits until a master has registered the application, or all have refused.
    pub(super) fn wait(&self) -> Result<AppId, String> {
        let mut registered = self.registered.lock();
        loop {
            if let Some(registered) = &*registered {
                return registered.clone();
            }
            self.answered.wait(&mut registered);
        }
    }

    fn answer(&self, answer: Result<AppId, String>) -> bool {
        let mut registered = self.registered.lock();
        let is_first = registered.is_none();
        registered.get_or_insert(answer);
        self.answered.notify_all();
        is_first
    }

    /// Gives up when executors start and end again and again: for the master each of them has run.
    fn count_failures(&self, executor: ExecutorId, ended_by_itself: bool) {
        if self.shared.links.has_joined(executor) {
            return self.never_joined.store(0, Ordering::Relaxed);
        }
        if !ended_by_itself {
            return;
        }
        let failures = self.never_joined.fetch_add(1, Ordering::Relaxed) + 1;
        let most = self.shared.conf.get(settings::DEPLOY_MAX_EXECUTOR_RETRIES);
        if most > 0 && failures >= most && self.shared.links.is_empty() {
            self.dead(&format!(
                "{failures} executors in a row ended before they joined the application; their logs, on the pages of \
                 their workers, say why"
            ));
        }
    }

    fn post(&self, event: Event) {
        if let Some(driver) = self.shared.driver().filter(|driver| !driver.is_stopped()) {
            driver.post(Incoming::event(event));
        }
    }
}

impl AppEvents for FromMaster {
    fn connected(&self, app: &AppId) {
        self.shared.accept_executors(app);
        if self.answer(Ok(app.clone())) {
            tracing::info!(%app, "the master has taken the application");
        } else {
            tracing::info!(%app, "a master is there again");
        }
    }

    fn disconnected(&self) {
        notice(|| tracing::warn!("lost the master; executors go on, and a new master is waited for"));
    }

    fn dead(&self, reason: &str) {
        let reason = match &*self.last_loss.lock() {
            Some(last) => format!("{reason}; the last one: {last}"),
            None => reason.to_owned(),
        };
        if !self.answer(Err(reason.clone())) {
            notice(|| tracing::error!(reason, "the cluster has given the application up"));
            self.shared.failure.get_or_init(|| reason.clone());
            self.post(Event::ClusterFailed { message: reason });
        }
    }

    fn executor_added(&self, executor: ExecutorId, place: &ExecutorPlace) {
        let ExecutorPlace { host, cores, memory_mib, .. } = place;
        tracing::info!(%executor, %host, cores, memory_mib, "an executor is being started");
    }

    fn executor_removed(
        &self,
        executor: ExecutorId,
        message: &str,
        exit_code: Option<i32>,
        worker_host: Option<&Host>,
    ) {
        notice(|| tracing::warn!(%executor, message, ?exit_code, "an executor is gone"));
        *self.last_loss.lock() = Some(format!("{executor} {message}"));
        let ended_by_itself = exit_code != Some(0) && worker_host.is_none();
        self.count_failures(executor, ended_by_itself);
        let reason = ExecutorLossReason::from_exit(exit_code, message, worker_host.cloned());
        self.shared.executor_lost(executor, reason);
    }

    fn executor_decommissioned(&self, executor: ExecutorId, message: &str, worker_host: Option<&Host>) {
        tracing::info!(%executor, message, "an executor will leave");
        self.post(Event::ScalingRequested(Scaling::Decommission {
            executors: vec![executor],
            worker_host: worker_host.cloned(),
            adjust_target: false,
            by_executor: false,
        }));
    }

    fn worker_removed(&self, worker: &WorkerId, host: &Host, message: &str) {
        notice(|| tracing::warn!(%worker, %host, message, "a worker is gone"));
        self.post(Event::WorkerRemoved { host: host.clone(), message: message.to_owned() });
    }
}
