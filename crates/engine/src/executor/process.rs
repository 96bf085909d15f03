//! A process that runs tasks for a driver elsewhere: the application's own executable, started by a worker.
//!
//! The worker starts it with the argument [`ARGUMENT`] with everything it must know in its environment ([`Start`]). It dials
//! the driver, joins, runs tasks on its slots ([`Process`]) until the driver stops it, and ends if it loses the driver
//! or the worker. The user's `main` is not run: the process becomes an executor before it would begin, so that every
//! program that uses the engine can be one, tests included.

mod answers;
mod entry;
mod heartbeat;
mod outbox;
mod reader;
mod reaper;
mod running;
mod start;
mod tables;
#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use firesteel_deploy::{
    Security,
    worker::{Watcher, WorkerWatch},
};
use firesteel_net::{Dialer, Line, LineConf, Listener, ListenerConf, OneSecret, Realm, Service, Services};
use firesteel_storage::{
    block::{EXIT_CODE_REFUSED, Wait},
    shuffle::fetch::FetchLimits,
    transfer::{BlockClient, BlockLimits, ClientConf, Retry, serve_blocks},
};
use firesteel_types::{AttemptId, ExecutorLossReason, settings};
use parking_lot::{Condvar, Mutex};
use tracing::level_filters::LevelFilter;

use self::{
    answers::DriverClient,
    heartbeat::Heartbeat,
    outbox::Outbox,
    reader::{FromDriver, spawn},
    running::{ExecutorParts, Running},
    start::Start,
    tables::Tables,
};
use crate::{
    Conf, Error, Result,
    build::Build,
    logging,
    protocol::{Joining, ToDriver, Welcome, line_conf},
    security,
    task::{
        Disk, Environment, ExecutorServices, LateClient, OtherExecutors, OwnBlocks, ProcessKind,
        RemoteShuffles, prepare_process,
    },
};

pub(crate) use start::ARGUMENT;

/// How often the driver is dialled before the executor gives up.
const TRIES: u32 = 3;
/// An executor may be there before its driver has heard the application's id, and is refused until then.
const FIRST_JOIN_RETRY_DELAY: Duration = Duration::from_millis(100);
const JOIN_RETRY_DELAY: Duration = Duration::from_secs(1);
/// How long the driver may take to receive the last reports.
const FINAL_REPORTS_TIMEOUT: Duration = Duration::from_secs(2);
/// How often a draining executor checks whether it may leave.
const DRAIN_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Why the process ends.
#[derive(Debug)]
enum End {
    /// The driver wants it.
    Stopped(String),
    /// It has drained.
    Drained,
    /// The driver does not take it.
    Refused(String),
    DriverLost(String),
    WorkerLost {
        code: i32,
        reason: String,
    },
    /// The driver did not answer its heartbeats.
    Silenced {
        code: i32,
    },
    /// The driver does not take its blocks.
    BlocksRefused,
    NoFolder,
    /// An attempt that was told to end has not, for as long as it may take.
    TaskStays {
        attempt: AttemptId,
        took: Duration,
    },
    Failed(String),
}

impl End {
    /// What is logged, and the exit code by which master and driver know.
    fn tell(&self) -> i32 {
        match self {
            Self::Stopped(reason) => {
                tracing::info!(reason, "the driver ends this executor");
                0
            }
            Self::Drained => {
                tracing::info!("this executor has drained and leaves");
                0
            }
            Self::Refused(reason) => {
                tracing::error!(reason, "the driver refuses this executor");
                1
            }
            Self::DriverLost(why) => {
                tracing::error!(why, "lost the driver");
                1
            }
            Self::WorkerLost { code, reason } => {
                tracing::error!(reason, "this executor ends with its worker");
                *code
            }
            Self::Silenced { code } => {
                tracing::error!("the driver answers no heartbeats");
                *code
            }
            Self::BlocksRefused => {
                tracing::error!("the driver does not take the blocks of this executor");
                EXIT_CODE_REFUSED
            }
            Self::NoFolder => {
                tracing::error!("none of the local folders can be used");
                ExecutorLossReason::EXIT_NO_LOCAL_DIRECTORY
            }
            Self::TaskStays { attempt, took } => {
                tracing::error!(%attempt, ?took, "a task does not end, so its executor does");
                1
            }
            Self::Failed(why) => {
                tracing::error!(why, "this executor cannot go on");
                1
            }
        }
    }
}

/// Runs this process as an executor; gives its exit code.
fn run() -> i32 {
    logging::start(LevelFilter::INFO);
    // A peer that closes its end must cost a connection, not the process; `main`, which sees to that, is not run.
    let ignored = signal_hook::flag::register(signal_hook::consts::SIGPIPE, Arc::default());
    if let Err(error) = ignored {
        tracing::warn!(%error, "broken pipes cannot be ignored");
    }
    match Process::start() {
        Ok(process) => {
            let end = process.wait();
            let code = end.tell();
            process.stop();
            code
        }
        Err(error) => {
            tracing::error!("{error}");
            1
        }
    }
}

/// An executor and its connections.
struct Process {
    start: Start,
    security: Security,
    source: Arc<OwnBlocks>,
    server: Arc<Listener>,
    line: OnceLock<Line<ToDriver>>,
    worker: OnceLock<WorkerWatch>,
    running: OnceLock<Arc<Running>>,
    heartbeat: Arc<Heartbeat>,
    end: Mutex<Option<End>>,
    ended: Condvar,
}

impl Process {
    fn start() -> Result<Arc<Self>> {
        let start = Start::from_env()?;
        let security = security::from_env()?;
        if start.folders.iter().all(|folder| std::fs::create_dir_all(folder).is_err()) {
            std::process::exit(End::NoFolder.tell());
        }
        let source = Arc::new(OwnBlocks { executor: start.executor, environment: OnceLock::new() });
        let secrets = OneSecret { realm: Realm::from(&start.app), secret: start.secret.clone() };
        let conf = ListenerConf { tls: security.tls_server.clone(), ..ListenerConf::new(Arc::new(secrets)) };
        let blocks = serve_blocks(source.clone(), BlockLimits::default());
        let services = Services::new().streams(Service::Blocks, blocks);
        let server = Listener::bind(start.host.as_str(), start.blocks_port, start.port_tries, conf, services)
            .map_err(|error| Error::CannotListen { what: format!("cannot serve blocks: {error}") })?;
        let process = Arc::new(Self {
            start,
            security,
            source,
            server: Arc::new(server),
            line: OnceLock::new(),
            worker: OnceLock::new(),
            running: OnceLock::new(),
            heartbeat: Arc::default(),
            end: Mutex::default(),
            ended: Condvar::new(),
        });
        process.watch_worker()?;
        process.join()?;
        Ok(process)
    }

    fn dialer(&self) -> Dialer {
        self.security.dialer_for(Realm::from(&self.start.app), self.start.secret.clone())
    }

    /// Keeps a line to the worker, whose end is the end of this process.
    fn watch_worker(self: &Arc<Self>) -> Result<()> {
        let Some(worker) = &self.start.worker else { return Ok(()) };
        let process = Arc::downgrade(self);
        let on_lost = move |code, reason| {
            if let Some(process) = process.upgrade() {
                process.end(End::WorkerLost { code, reason });
            }
        };
        let who = Watcher::Executor(self.start.executor);
        let watch = WorkerWatch::start(&self.dialer(), worker, &LineConf::default(), who, on_lost);
        let watch = watch.map_err(|error| Error::no_cluster(format!("cannot reach the worker: {error}")))?;
        self.worker.get_or_init(|| watch);
        Ok(())
    }

    /// Dials the driver and asks to join.
    fn join(self: &Arc<Self>) -> Result<()> {
        let driver = &self.start.driver;
        let line_conf = line_conf(self.start.message_max, self.start.network_timeout);
        let mut tries = 0;
        let line = loop {
            let from_driver = FromDriver(self.clone());
            match self.dialer().line(driver, Service::Driver, &line_conf, from_driver) {
                Ok(line) => break line,
                Err(error) if tries + 1 < TRIES => {
                    tracing::warn!(%error, "cannot reach the driver yet");
                    thread::sleep(if tries == 0 { FIRST_JOIN_RETRY_DELAY } else { JOIN_RETRY_DELAY });
                    tries += 1;
                }
                Err(error) => {
                    let what = format!(
                        "cannot reach the driver at {driver}: {error}; set firesteel.driver.host to an address \
                         that workers can reach"
                    );
                    return Err(Error::no_cluster(what));
                }
            }
        };
        let line = self.line.get_or_init(|| line);
        let own_build = Build::of_this_process();
        let build = own_build
            .map_err(|source| Error::System { what: "cannot read the executable".into(), source })?;
        let blocks = firesteel_net::Address::new(self.start.host.clone(), self.server.address().port());
        let shuffles = self.start.shuffle_service.clone().unwrap_or_else(|| blocks.clone());
        let joining = Joining {
            executor: self.start.executor,
            host: self.start.host.clone(),
            cores: self.start.cores,
            profile: self.start.profile,
            resources: self.start.resources.clone(),
            build,
            blocks,
            shuffles,
            worker_page: self.start.worker_page.clone(),
        };
        let sent = line.send(&ToDriver::Register(Box::new(joining)));
        sent.map_err(|error| Error::no_cluster(format!("cannot ask the driver to join: {error}")))
    }

    fn running(&self) -> Option<&Arc<Running>> {
        self.running.get()
    }

    /// The driver has taken this executor: what runs tasks is made now.
    fn joined(self: &Arc<Self>, welcome: Welcome) {
        if let Err(error) = self.begin(welcome) {
            self.end(End::Failed(error.to_string()));
        }
    }

    fn begin(self: &Arc<Self>, welcome: Welcome) -> Result<()> {
        let Welcome { app: _, conf } = welcome;
        let Some(line) = self.line.get() else {
            return Err(Error::no_cluster("the driver spoke before it was asked"));
        };
        let conf = self.settings(conf)?;
        let timeout = conf.get(settings::NETWORK_TIMEOUT);
        let driver = Arc::new(DriverClient::new(line.clone(), self.start.driver.clone(), timeout));
        let tables = Arc::new(Tables::new(driver.clone()));
        let client = ClientConf {
            retry: Retry {
                max_tries: conf.get(settings::SHUFFLE_IO_MAX_RETRIES).saturating_add(1),
                first_wait: conf.get(settings::SHUFFLE_IO_RETRY_WAIT),
                ..Retry::default()
            },
            ..ClientConf::new(self.dialer())
        };
        let transport = Arc::new(BlockClient::new(client.clone()));
        let client = Arc::new(LateClient::from(BlockClient::new(client)));
        let disk = Disk::of_worker(self.start.folders.clone());
        let remote = RemoteShuffles {
            own: self.start.executor,
            tables: tables.clone(),
            transport,
            limits: fetch_limits(&conf),
            threads: Arc::default(),
            disk: disk.clone(),
        };
        let services = ExecutorServices {
            executor: self.start.executor,
            host: self.start.host.clone(),
            disk,
            driver: driver.clone(),
            directory: driver.clone(),
            peers: Arc::new(OtherExecutors { client, book: driver.clone() }),
            remote: Some(remote),
        };
        prepare_process(&conf, ProcessKind::Executor);
        let environment = Environment::new(&conf, services)?;
        self.source.environment.get_or_init(|| Arc::downgrade(&environment));
        let system = |source| Error::System { what: "cannot start a thread".to_owned(), source };
        let outbox = Outbox::start(line.clone()).map_err(system)?;
        let parts = ExecutorParts { environment, driver, tables, outbox, server: self.server.clone() };
        let running = Running::start(parts, self.start.cores, &conf).map_err(system)?;
        let (config, seed) = (conf.heartbeat(), u64::from(self.start.executor.0));
        self.heartbeat.start(self, &running, &config, seed).map_err(system)?;
        self.running.get_or_init(|| running);
        let told = line.send(&ToDriver::Launched);
        told.map_err(|error| {
            Error::no_cluster(format!("the driver cannot be told that all is ready: {error}"))
        })
    }

    /// The application's settings, with the memory that the worker gave to this executor.
    fn settings(&self, conf: Vec<(String, String)>) -> Result<Conf> {
        let conf = conf.into_iter().try_fold(Conf::new(), |conf, (key, value)| conf.set(key, value))?;
        Ok(conf.set("firesteel.memory.limit", format!("{}m", self.start.memory_mib))?)
    }

    /// Lets what runs end, moves the blocks elsewhere, and leaves.
    fn decommission(self: &Arc<Self>) {
        let process = self.clone();
        spawn("firesteel-drain", move || process.drain());
    }

    fn drain(&self) {
        let Some(running) = self.running() else { return };
        let manager = running.environment.blocks.manager();
        manager.decommission();
        loop {
            let is_idle = running.executor.is_idle() && running.slots.is_idle();
            let moved = manager.migrate_once(Wait::FOREVER);
            if is_idle && moved.kept.is_empty() {
                return self.end(End::Drained);
            }
            thread::sleep(DRAIN_POLL_INTERVAL);
        }
    }

    /// Ends the process, for the first reason that comes.
    fn end(&self, end: End) {
        self.end.lock().get_or_insert(end);
        self.ended.notify_all();
    }

    fn wait(&self) -> End {
        let mut end = self.end.lock();
        loop {
            if let Some(end) = end.take() {
                return end;
            }
            self.ended.wait(&mut end);
        }
    }

    fn stop(&self) {
        if let Some(running) = self.running() {
            running.stop();
            running.driver.close();
        }
        if let Some(line) = self.line.get() {
            line.close();
            // The last reports are on it.
            line.wait_closed(FINAL_REPORTS_TIMEOUT);
        }
    }
}

fn fetch_limits(conf: &Conf) -> FetchLimits {
    let count = |limit: Option<u32>| limit.map_or(usize::MAX, |limit| limit as usize);
    FetchLimits {
        max_bytes_in_flight: conf.get(settings::REDUCER_MAX_SIZE_IN_FLIGHT),
        max_requests_in_flight: count(conf.get(settings::REDUCER_MAX_REQS_IN_FLIGHT)),
        max_blocks_per_address: count(conf.get(settings::REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS)),
        max_block_in_memory: conf.get(settings::NETWORK_MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM),
    }
}
