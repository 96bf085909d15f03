//! A worker that runs: [`WorkerServer`].

use std::{
    fs,
    hash::{BuildHasher, RandomState},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::AtomicBool,
        mpsc::{SyncSender, channel, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use firesteel_net::{Address, Keyring, Listener, Realm, Service, Services};
use firesteel_scheduler::worker::{Worker, WorkerConfig, WorkerEvent};
use firesteel_storage::{
    disk::LocalDirs,
    transfer::{BlockLimits, serve_blocks},
};
use hashbrown::{HashMap, HashSet};
use parking_lot::Mutex;

use super::{
    conf::WorkerServerConf,
    folders,
    launch::Launcher,
    logs::{self, LogError, LogRequest, LogSlice},
    process_records::ProcessRecords,
    run::{Note, Run},
    shuffle_service::ShuffleService,
    status::WorkerStatus,
    watch,
};
use crate::{
    artifact::Cache,
    chores::Chores,
    clock::Clock,
    ending::{Ending, Flag, Guard, Latch},
    error::{DeployError, spawn},
    master_links::MasterLinks,
    protocol::{FromWorker, ToWorker},
    security::reachable_host,
};

/// Inbox capacity. Senders block when it is full (backpressure).
const INBOX_CAPACITY: usize = 16_384;

/// A worker on threads of this process, with real processes as executors and drivers.
///
/// ```
/// use std::time::Duration;
/// use firesteel_deploy::{
///     master::{MasterServer, MasterServerConf},
///     worker::{WorkerServer, WorkerServerConf},
/// };
///
/// let master = MasterServer::start(MasterServerConf::new("127.0.0.1", 0))?;
/// # let folder = tempfile::tempdir().expect("there is room for a folder");
/// let (masters, folder) = ([master.address().clone()], folder.path());
/// let worker = WorkerServer::start(WorkerServerConf {
///     local_dirs: vec![folder.join("local")],
///     ..WorkerServerConf::new("127.0.0.1", &masters, 2, 512, folder.join("work"))
/// })?;
///
/// assert!(worker.wait_registered(Duration::from_secs(60)));
/// assert_eq!(master.status().expect("the master runs").workers[0].resources.cores, 2);
/// worker.stop();
/// # Ok::<(), firesteel_deploy::DeployError>(())
/// ```
#[derive(Debug)]
pub struct WorkerServer {
    address: Address,
    work_dir: PathBuf,
    inbox: SyncSender<Note>,
    listener: Listener,
    thread: Mutex<Option<JoinHandle<()>>>,
    registered: Flag,
    ended: Latch,
    /// Held for their removal. Given up when the worker stops, so that nothing is left.
    local_dirs: Mutex<Option<LocalDirs>>,
}

impl WorkerServer {
    /// Starts a worker, which looks for its masters from then on.
    ///
    /// Ends processes and removes local files that a killed worker has left in the same folders.
    pub fn start(conf: WorkerServerConf) -> Result<Self, DeployError> {
        conf.security.check_listen(&conf.host, conf.port)?;
        let folder = |path: &Path, source| DeployError::Folder { path: path.to_owned(), source };
        let work_dir = fs::create_dir_all(&conf.work_dir)
            .and_then(|()| conf.work_dir.canonicalize())
            .map_err(|source| folder(&conf.work_dir, source))?;
        let own = work_dir.join(folders::OWN);
        let records = ProcessRecords::open(own.join("processes")).map_err(|source| folder(&own, source))?;
        let cache = work_dir.join(folders::CACHE);
        let cache = Cache::open(&cache).map_err(|source| folder(&cache, source))?;
        let local_dirs = LocalDirs::create(&conf.local_dirs, "worker")?;
        let local_roots: Vec<PathBuf> = local_dirs.folders().map(Path::to_owned).collect();

        let keyring = Arc::new(Keyring::default());
        keyring.insert(Realm::cluster(), conf.security.cluster_secret());
        let listener = listen(&conf, &keyring, &local_roots)?;
        let host = reachable_host(&conf.host, conf.public_host.as_deref());
        let address = Address::new(host, listener.address().port());
        tracing::info!(%address, "worker listens");

        let (inbox, notes) = sync_channel(INBOX_CAPACITY);
        let machine = machine_config(&conf, &address, &work_dir, &local_roots)?;
        let launcher = Launcher {
            inbox: inbox.clone(),
            cache,
            records,
            keyring: keyring.clone(),
            security: conf.security.clone(),
            url: address.to_string(),
            page: conf.page.clone(),
            shuffle_service: conf.shuffle_service,
            rolling: conf.rolling,
            believe_paths: conf.believe_paths,
            environment: conf.environment.clone(),
            cancelled: AtomicBool::new(false),
        };
        let run = run(&conf, machine, &address, &work_dir, inbox.clone(), launcher, keyring)?;
        let (registered, ended) = (run.registered.clone(), Latch::default());
        let thread = spawn("worker", {
            let guard = Guard(ended.clone());
            move || guard.0.set(run.run(notes))
        })?;
        let (thread, local_dirs) = (Mutex::new(Some(thread)), Mutex::new(Some(local_dirs)));
        Ok(Self { address, work_dir, inbox, listener, thread, registered, ended, local_dirs })
    }

    /// Where others reach it.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Waits until a master has taken the worker in for the first time; false when that takes longer than `timeout`.
    pub fn wait_registered(&self, timeout: Duration) -> bool {
        self.registered.wait(timeout)
    }

    /// How things are; none when the worker has ended.
    pub fn status(&self) -> Option<WorkerStatus> {
        let (asked, answer) = channel();
        self.inbox.send(Note::Status(asked)).ok()?;
        answer.recv().ok()
    }

    /// Reads a part of the log of a process.
    pub fn log(&self, request: &LogRequest) -> Result<LogSlice, LogError> {
        logs::read(&self.work_dir, request)
    }

    /// Has the worker drain: it takes no more executors, and its master is told.
    pub fn decommission(&self) {
        // A worker that has ended needs not drain.
        let _ = self.inbox.send(Note::Event(WorkerEvent::DecommissionSignalled));
    }

    /// Ends its processes, closes its connections and removes its local files. Logs and artifacts stay.
    ///
    /// Processes are asked to end first, so this may take twice the time that they are given for it.
    pub fn stop(&self) {
        // Fails when the worker has ended by itself.
        let _ = self.inbox.send(Note::Stop);
        if let Some(thread) = self.thread.lock().take() {
            // A panic is told by the latch.
            let _ = thread.join();
        }
        self.listener.stop();
        self.local_dirs.lock().take();
    }

    /// Waits until the worker has ended, and returns how.
    pub fn wait(&self) -> Ending {
        self.ended.wait()
    }

    /// How the worker ended; none while it runs.
    pub fn ending(&self) -> Option<Ending> {
        self.ended.get()
    }
}

impl Drop for WorkerServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn listen(
    conf: &WorkerServerConf,
    keyring: &Arc<Keyring>,
    local_roots: &[PathBuf],
) -> Result<Listener, DeployError> {
    let mut services =
        Services::new().lines::<FromWorker, ToWorker>(Service::Worker, conf.line.clone(), |line| {
            Some(watch::accept(line))
        });
    if conf.shuffle_service {
        let source = ShuffleService { local_roots: local_roots.to_vec() };
        services = services.streams(Service::Blocks, serve_blocks(Arc::new(source), BlockLimits::default()));
    }
    let listener = conf.security.listener(keyring.clone());
    Ok(Listener::bind(&conf.host, conf.port, conf.port_tries, listener, services)?)
}

/// The machine speaks of folders as texts.
fn machine_config(
    conf: &WorkerServerConf,
    address: &Address,
    work_dir: &Path,
    local_roots: &[PathBuf],
) -> Result<WorkerConfig, DeployError> {
    let text = |path: &Path| {
        path.to_str().map(str::to_owned).ok_or_else(|| DeployError::Folder {
            path: path.to_owned(),
            source: io::Error::new(io::ErrorKind::InvalidInput, "its name is not UTF-8"),
        })
    };
    Ok(WorkerConfig {
        host: address.host.clone(),
        port: address.port,
        url: address.to_string(),
        page: conf.page.clone(),
        work_dir: text(work_dir)?,
        local_roots: local_roots.iter().map(|root| text(root)).collect::<Result<_, _>>()?,
        ..conf.machine.clone()
    })
}

fn run(
    conf: &WorkerServerConf,
    machine: WorkerConfig,
    address: &Address,
    work_dir: &Path,
    inbox: SyncSender<Note>,
    launcher: Launcher,
    keyring: Arc<Keyring>,
) -> Result<Run, DeployError> {
    let tell = inbox.clone();
    let links = MasterLinks::new(
        conf.security.dialer(),
        conf.line.clone(),
        conf.redial,
        Arc::new(move |news| {
            // The worker may have ended meanwhile.
            let _ = tell.send(Note::Link(news));
        }),
    );
    let sweeper = Arc::new(Chores::start("worker-sweep")?);
    let trash = work_dir.to_owned();
    sweeper.add(move || folders::empty_trash(&trash));
    Ok(Run {
        url: address.to_string(),
        masters: machine.masters.clone(),
        retention: machine.app_data_retention,
        terminate_timeout: machine.terminate_timeout,
        machine: Worker::new(machine, RandomState::new().hash_one("worker"))?,
        clock: Clock::start(),
        inbox,
        links,
        registered: Flag::default(),
        launcher: Arc::new(launcher),
        keyring,
        work_dir: work_dir.to_owned(),
        launching: HashSet::new(),
        running: HashMap::new(),
        chores: Chores::start("worker-chores")?,
        sweeper,
    })
}
