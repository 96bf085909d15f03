//! The scheduler's arm on a cluster: [`StandaloneBackend`].

use std::{
    sync::{Arc, OnceLock, Weak, mpsc},
    thread,
    time::{Duration, Instant},
};

use firesteel_net::{Dialer, Keyring, Realm, notice};
use firesteel_scheduler::{Event, NotSent, master::ProfileTotal};
use firesteel_storage::{
    block::{BlockId, BlockUpdate},
    transfer::{BlockClient, ClientConf},
};
use firesteel_types::{AppId, AttemptId, ExecutorId, ExecutorLossReason, ProfileId, StageAttemptId};
use parking_lot::Mutex;

use super::{
    block_registry::BlockRegistry, links::Links, map_tables::MapTableServer, results::ResultFetcher,
};
use crate::{
    Conf,
    build::Build,
    driver::{Driver, Incoming, Launch, Order, SchedulerBackend},
    protocol::{Stored, ToExecutor, Welcome},
    task::LateClient,
};

/// Sends the scheduler's decisions to executors in other processes.
pub(crate) struct StandaloneBackend(pub(super) Arc<Shared>);

/// What everything that talks to executors and to the cluster shares.
pub(super) struct Shared {
    pub(super) conf: Conf,
    pub(super) build: Build,
    pub(super) links: Arc<Links>,
    pub(super) blocks: Arc<BlockRegistry>,
    pub(super) tables: MapTableServer,
    pub(super) results: Arc<ResultFetcher>,
    pub(super) driver: OnceLock<Weak<Driver>>,
    /// The application's id, once a master has given it one.
    pub(super) app: OnceLock<AppId>,
    /// Why the cluster has given the application up, if it has.
    pub(super) failure: OnceLock<String>,
    /// What lets executors of this application in.
    pub(super) keyring: Arc<Keyring>,
    pub(super) client: Arc<LateClient>,
    /// Of the application.
    pub(super) dialer: Dialer,
    /// What is to be done elsewhere than in a turn.
    pub(super) chores: Chores,
    pub(super) message_max: u64,
    pub(super) loss_reason_wait: Duration,
    /// Stops the threads and connections that were started; set when they were.
    pub(super) stop: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

/// Something to do on the thread of its own that chores have.
pub(super) enum Chore {
    RequestExecutors(Vec<ProfileTotal>),
    KillExecutors(Vec<ExecutorId>),
    /// The reason of an executor's loss did not come in time.
    GiveUp {
        executor: ExecutorId,
        at: Instant,
        why: String,
    },
    StopContext,
}

/// Chores in order, done by one thread.
#[derive(Default)]
pub(super) struct Chores(Mutex<Option<mpsc::Sender<Chore>>>);

impl Chores {
    pub(super) fn add(&self, chore: Chore) {
        if let Some(chores) = &*self.0.lock() {
            // The receiver is gone when the application is over.
            let _ = chores.send(chore);
        }
    }

    /// Starts the thread; `perform` does what can be done at once.
    pub(super) fn start(&self, perform: impl FnMut(Chore) + Send + 'static) -> std::io::Result<()> {
        let (sender, chores) = mpsc::channel();
        let thread = thread::Builder::new().name("firesteel-cluster".to_owned());
        thread.spawn(move || run_chores(&chores, perform))?;
        *self.0.lock() = Some(sender);
        Ok(())
    }

    pub(super) fn stop(&self) {
        self.0.lock().take();
    }
}

/// Does chores as they come, those with a time when it has come.
fn run_chores(chores: &mpsc::Receiver<Chore>, mut perform: impl FnMut(Chore)) {
    let mut later: Vec<(Instant, Chore)> = Vec::new();
    loop {
        let next = later.iter().map(|(at, _)| *at).min();
        let wait = next.map_or(Duration::from_secs(60), |at| at.saturating_duration_since(Instant::now()));
        match chores.recv_timeout(wait) {
            Ok(Chore::GiveUp { executor, at, why }) => later.push((at, Chore::GiveUp { executor, at, why })),
            Ok(chore) => perform(chore),
            Err(mpsc::RecvTimeoutError::Timeout) => (),
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
        }
        let now = Instant::now();
        let (due, rest) = later.into_iter().partition::<Vec<_>, _>(|(at, _)| *at <= now);
        later = rest;
        for (_, chore) in due {
            perform(chore);
        }
    }
}

impl Shared {
    pub(super) fn driver(&self) -> Option<Arc<Driver>> {
        self.driver.get().and_then(Weak::upgrade)
    }

    /// The line of an executor broke. The master may know why; if it does not report that soon, the executor is given
    /// up.
    pub(super) fn line_closed(&self, executor: ExecutorId, line: u64, why: &str) {
        let Some(driver) = self.driver().filter(|driver| !driver.is_stopped()) else { return };
        if !self.links.closed(executor, line) {
            return;
        }
        notice(|| tracing::warn!(%executor, why, "lost the line to an executor"));
        driver.post(Incoming::event(Event::ExecutorDisconnected { executor }));
        let (at, why) = (Instant::now() + self.loss_reason_wait, why.to_owned());
        self.chores.add(Chore::GiveUp { executor, at, why });
    }

    /// The blocks of an executor are gone: those that had copies get new ones. Called by the first that hears of it.
    fn blocks_lost(&self, executor: ExecutorId) {
        for order in self.blocks.executor_lost(executor) {
            self.links.send(order.by, &ToExecutor::Replicate(order));
        }
    }

    /// An executor is gone.
    pub(super) fn executor_lost(&self, executor: ExecutorId, reason: ExecutorLossReason) {
        self.links.remove(executor);
        self.blocks_lost(executor);
        if let Some(driver) = self.driver() {
            driver.post(Incoming::event(Event::ExecutorLost { executor, reason }));
        }
    }

    /// The application has its id, and with it a realm of its own.
    pub(super) fn accept_executors(&self, app: &AppId) {
        let realm = Realm::from(app);
        self.keyring.insert(realm.clone(), self.dialer.secret.clone());
        self.client
            .get_or_init(|| BlockClient::new(ClientConf::new(Dialer { realm, ..self.dialer.clone() })));
        self.app.get_or_init(|| app.clone());
    }

    /// The same, unless the loss was reported already.
    pub(super) fn executor_lost_if_known(&self, executor: ExecutorId, reason: ExecutorLossReason) {
        let is_known =
            |driver: Arc<Driver>| driver.query(|scheduler| scheduler.executor_status(executor).is_some());
        if self.driver().is_some_and(is_known) {
            self.executor_lost(executor, reason);
        }
    }

    fn welcome(&self) -> Option<Welcome> {
        let conf = self.conf.iter().map(|(key, value, _)| (key.to_owned(), value.to_owned()));
        Some(Welcome {
            app: self.app.get()?.clone(),
            conf: conf.filter(|(key, _)| !is_secret(key)).collect(),
        })
    }
}

/// Settings that executors have no use for and should not know.
fn is_secret(key: &str) -> bool {
    key.starts_with("firesteel.authenticate.") || key.starts_with("firesteel.ssl.")
}

impl SchedulerBackend for StandaloneBackend {
    fn launch(&self, launches: Vec<Launch>) {
        let too_large = self.0.links.launch(launches, self.0.message_max);
        let Some(driver) = self.0.driver() else { return };
        for refused in too_large {
            let (attempt, size_bytes) = (refused.attempt, refused.size_bytes);
            let why = NotSent::TooLarge { size_bytes };
            driver.post(Incoming::event(Event::TaskNotSent { attempt, why }));
        }
    }

    fn app_id(&self) -> Option<AppId> {
        self.0.app.get().cloned()
    }

    fn stored_at(&self, executor: ExecutorId, id: BlockId) -> Option<BlockUpdate> {
        self.0.blocks.stored_at(executor, id)
    }

    fn worker_page(&self, executor: ExecutorId) -> Option<String> {
        self.0.links.worker_page(executor)
    }

    fn kill(&self, executor: ExecutorId, attempt: AttemptId, interrupt: bool, reason: String) {
        self.0.links.send(executor, &ToExecutor::Kill { attempt, interrupt, reason });
    }

    fn forget_stage(&self, set: StageAttemptId) {
        self.0.links.forget_stage(set);
    }

    fn remove(&self, what: Stored) {
        if let Stored::Shuffle(shuffle) = what {
            self.0.tables.forget(shuffle);
        }
        self.0.blocks.remove(what);
        self.0.links.send_all(&ToExecutor::Remove(what));
    }

    fn perform(&self, order: Order) {
        let shared = &self.0;
        match order {
            Order::AnswerRegistration { executor, answer } => {
                let Some(line) = shared.links.answer(executor, answer.is_ok()) else { return };
                let message = match (answer, shared.welcome()) {
                    (Ok(()), Some(welcome)) => ToExecutor::Registered(Box::new(welcome)),
                    (Ok(()), None) => ToExecutor::Refused { reason: "the driver is not ready".to_owned() },
                    (Err(refusal), _) => ToExecutor::Refused { reason: refusal.to_string() },
                };
                if let Err(error) = line.send(&message) {
                    tracing::debug!(%executor, %error, "an executor that asked to join is gone");
                }
            }
            Order::AnswerHeartbeat { executor, reply } => {
                let registered = !reply.reregister_block_manager;
                shared.links.send(executor, &ToExecutor::HeartbeatAnswer { registered });
            }
            Order::TakeBack { executor, attempts } => {
                shared.links.send(executor, &ToExecutor::TakeBack(attempts));
            }
            Order::FetchResult { attempt } => shared.results.want(attempt),
            Order::DropResult { attempt } => shared.results.give_up(attempt),
            Order::KillExecutors { executors } => {
                if !executors.is_empty() {
                    shared.chores.add(Chore::KillExecutors(executors));
                }
            }
            Order::DecommissionExecutors { executors } => {
                for executor in executors {
                    shared.blocks.decommission(executor);
                    shared.links.send(executor, &ToExecutor::Decommission);
                }
            }
            Order::RequestExecutors { totals } => {
                let total = |(profile, total): (ProfileId, u32)| ProfileTotal {
                    profile,
                    executor: None,
                    total: total.into(),
                };
                shared.chores.add(Chore::RequestExecutors(totals.into_iter().map(total).collect()));
            }
            Order::ForgetBlocks { executor } => shared.blocks_lost(executor),
            Order::ResolveRacks { hosts } => {
                if let Some(driver) = shared.driver() {
                    let racks = hosts.into_iter().map(|host| (host, None)).collect();
                    driver.post(Incoming::event(Event::RacksResolved(racks)));
                }
            }
            Order::StopExecutors => {
                let reason = "the application is over".to_owned();
                shared.links.send_all(&ToExecutor::Stop { reason });
            }
            Order::StopContext { reason } => {
                notice(|| tracing::error!(reason, "the application cannot go on"));
                shared.chores.add(Chore::StopContext);
            }
        }
    }

    fn stop(&self) {
        let reason = "the application is over".to_owned();
        self.0.links.send_all(&ToExecutor::Stop { reason });
        self.0.results.stop();
        self.0.chores.stop();
        let stop = self.0.stop.lock().take();
        if let Some(stop) = stop {
            stop();
        }
    }
}
