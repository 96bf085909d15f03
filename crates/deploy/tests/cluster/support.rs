//! Clusters with short time-outs, applications that note what they are told, and waiting for conditions.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use firesteel_deploy::{
    Redial, Security,
    client::{AppClient, AppClientConf, AppEvents, ExecutorPlace},
    master::{MasterServer, MasterServerConf, MasterStatus, StoreConf, WorkerLineState},
    store::Compression,
    submit::{SubmitClient, SubmitConf},
    worker::{LogOwner, LogRequest, LogStream, WorkerServer, WorkerServerConf},
};
use firesteel_net::{Address, Secret};
use firesteel_scheduler::{
    client::ClientConfig,
    deploy::Command,
    master::{AppDescription, ProfileTotal},
};
use firesteel_types::{AppId, ExecutorId, ExecutorKey, ExecutorRequest, Host, ProfileId, WorkerId};
use parking_lot::{Condvar, Mutex};
use tempfile::TempDir;

use crate::waiting::found_within;

/// Longer than anything takes that works.
pub(crate) const GUARD: Duration = Duration::from_secs(60);

/// Waits until `look` finds something.
pub(crate) fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    found_within(GUARD, what, look)
}

/// A secret as operators set them.
pub(crate) fn text_secret() -> Secret {
    Secret::new(Secret::random().to_hex().as_bytes()).expect("64 digits are enough")
}

pub(crate) fn redial() -> Redial {
    Redial { first: Duration::from_millis(5), longest: Duration::from_millis(50) }
}

/// A folder, a secret and a master.
pub(crate) struct Cluster {
    pub(crate) folder: TempDir,
    pub(crate) security: Security,
    pub(crate) master: MasterServer,
    conf: MasterServerConf,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        Self::with(|_, _| {})
    }

    /// A master with settings that `change` may change; it gets the folder too.
    pub(crate) fn with(change: impl FnOnce(&mut MasterServerConf, &Path)) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let security = Security { secret: Some(text_secret()), ..Security::default() };
        let mut conf = MasterServerConf {
            security: security.clone(),
            artifacts: Some(folder.path().join("uploads")),
            ..MasterServerConf::new("127.0.0.1", 0)
        };
        change(&mut conf, folder.path());
        let security = conf.security.clone();
        let master = MasterServer::start(conf.clone()).expect("the master starts");
        Self { folder, security, master, conf }
    }

    /// A cluster whose master stores what it knows.
    pub(crate) fn with_store() -> Self {
        Self::with(|conf, folder| {
            let folder = folder.join("store");
            conf.store = StoreConf::Files { folder, compression: Compression::Zstd };
        })
    }

    /// Ends the master and starts another at the same address.
    pub(crate) fn restart_master(&mut self) {
        let port = self.master.address().port;
        self.master.stop();
        let conf = MasterServerConf { port, port_tries: 0, ..self.conf.clone() };
        self.master = MasterServer::start(conf).expect("the master starts again");
    }

    /// The configuration of worker `name` with so many cores and 1024 MiB.
    pub(crate) fn worker_conf(&self, name: &str, cores: u32) -> WorkerServerConf {
        let masters = [self.master.address().clone()];
        let folder = self.folder.path().join(name);
        let mut conf = WorkerServerConf {
            local_dirs: vec![folder.join("local")],
            security: self.security.clone(),
            redial: redial(),
            ..WorkerServerConf::new("127.0.0.1", &masters, cores, 1024, folder.join("work"))
        };
        conf.machine.terminate_timeout = Duration::from_millis(200);
        conf
    }

    /// A worker that is taken in.
    pub(crate) fn worker(&self, name: &str, cores: u32) -> WorkerServer {
        started(self.worker_conf(name, cores))
    }

    pub(crate) fn work_dir(&self, worker: &str) -> PathBuf {
        self.folder.path().join(worker).join("work")
    }

    pub(crate) fn status(&self) -> MasterStatus {
        self.master.status().expect("the master runs")
    }

    /// Waits until so many workers are alive.
    pub(crate) fn wait_for_workers(&self, count: usize) {
        eventually("the workers are registered", || (self.alive_workers() == count).then_some(()));
    }

    pub(crate) fn alive_workers(&self) -> usize {
        let workers = self.status().workers;
        workers.iter().filter(|worker| worker.state == WorkerLineState::Alive).count()
    }

    /// An application whose executors of one core run `script` in a shell.
    pub(crate) fn app(&self, script: &str) -> App {
        self.app_with(description(shell(script)))
    }

    pub(crate) fn app_with(&self, description: AppDescription) -> App {
        App::start(AppClientConf {
            security: self.security.clone(),
            redial: redial(),
            ..AppClientConf::new(&[self.master.address().clone()], description)
        })
    }

    pub(crate) fn submit_client(&self) -> SubmitClient {
        SubmitClient::new(SubmitConf {
            security: self.security.clone(),
            first_look: Duration::ZERO,
            look_every: Duration::from_millis(10),
            ..SubmitConf::new(vec![self.master.address().clone()])
        })
    }
}

pub(crate) fn started(conf: WorkerServerConf) -> WorkerServer {
    let worker = WorkerServer::start(conf).expect("the worker starts");
    assert!(worker.wait_registered(GUARD), "the worker is registered");
    worker
}

/// A command that runs `script` in a shell.
pub(crate) fn shell(script: &str) -> Command {
    let arguments = vec!["-c".to_owned(), script.to_owned()];
    Command { program: "/bin/sh".to_owned(), arguments, ..Command::default() }
}

/// An application that wants one executor of one core and 64 MiB.
pub(crate) fn description(command: Command) -> AppDescription {
    AppDescription {
        name: "test".to_owned(),
        cores_max: None,
        executor: ExecutorRequest { cores: Some(1), memory_mib: 64, ..ExecutorRequest::default() },
        executor_limit: Some(1),
        driver_url: "127.0.0.1:1".to_owned(),
        page: None,
        command: Arc::new(command),
    }
}

pub(crate) fn total(total: i64) -> Vec<ProfileTotal> {
    vec![ProfileTotal { profile: ProfileId::DEFAULT, executor: None, total }]
}

/// What an application was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Connected(AppId),
    Disconnected,
    Dead(String),
    Added(ExecutorId),
    Removed { executor: ExecutorId, message: String, exit_code: Option<i32>, host: Option<Host> },
    Decommissioned { executor: ExecutorId, host: Option<Host> },
    WorkerRemoved { worker: WorkerId, message: String },
}

#[derive(Default)]
pub(crate) struct Notes {
    news: Mutex<Vec<News>>,
    more: Condvar,
}

impl Notes {
    fn note(&self, news: News) {
        self.news.lock().push(news);
        self.more.notify_all();
    }

    pub(crate) fn all(&self) -> Vec<News> {
        self.news.lock().clone()
    }

    /// Waits until something was told that `wanted` picks.
    pub(crate) fn wait<T>(&self, wanted: impl Fn(&News) -> Option<T>) -> T {
        let deadline = Instant::now() + GUARD;
        let mut news = self.news.lock();
        loop {
            if let Some(found) = news.iter().find_map(&wanted) {
                return found;
            }
            let timed_out = self.more.wait_until(&mut news, deadline).timed_out();
            assert!(!timed_out, "waited in vain; this was told: {news:?}");
        }
    }
}

impl AppEvents for Notes {
    fn connected(&self, app: &AppId) {
        self.note(News::Connected(app.clone()));
    }

    fn disconnected(&self) {
        self.note(News::Disconnected);
    }

    fn dead(&self, reason: &str) {
        self.note(News::Dead(reason.to_owned()));
    }

    fn executor_added(&self, executor: ExecutorId, _: &ExecutorPlace) {
        self.note(News::Added(executor));
    }

    fn executor_removed(&self, executor: ExecutorId, message: &str, code: Option<i32>, host: Option<&Host>) {
        let (message, host) = (message.to_owned(), host.cloned());
        self.note(News::Removed { executor, message, exit_code: code, host });
    }

    fn executor_decommissioned(&self, executor: ExecutorId, _: &str, host: Option<&Host>) {
        self.note(News::Decommissioned { executor, host: host.cloned() });
    }

    fn worker_removed(&self, worker: &WorkerId, _: &Host, message: &str) {
        self.note(News::WorkerRemoved { worker: worker.clone(), message: message.to_owned() });
    }
}

/// An application and what it was told.
pub(crate) struct App {
    pub(crate) client: AppClient,
    pub(crate) notes: Arc<Notes>,
}

impl App {
    pub(crate) fn start(conf: AppClientConf) -> Self {
        let notes = Arc::new(Notes::default());
        let client = AppClient::start(conf, notes.clone()).expect("the client starts");
        Self { client, notes }
    }

    /// Waits until a master has taken it in, and gives its id.
    pub(crate) fn id(&self) -> AppId {
        self.notes.wait(|news| match news {
            News::Connected(app) => Some(app.clone()),
            _ => None,
        })
    }

    /// Waits until executor `executor` is gone; gives the message and the exit code.
    pub(crate) fn removed(&self, executor: u32) -> (String, Option<i32>) {
        self.notes.wait(|news| match news {
            News::Removed { executor: of, message, exit_code, .. } if *of == ExecutorId(executor) => {
                Some((message.clone(), *exit_code))
            }
            _ => None,
        })
    }

    pub(crate) fn dead(&self) -> String {
        self.notes.wait(|news| match news {
            News::Dead(reason) => Some(reason.clone()),
            _ => None,
        })
    }

    /// Counts what `wanted` picks.
    pub(crate) fn count(&self, wanted: impl Fn(&News) -> bool) -> usize {
        self.notes.all().iter().filter(|news| wanted(news)).count()
    }
}

/// Quick to give up.
pub(crate) fn impatient(masters: &[Address]) -> ClientConfig {
    ClientConfig {
        registration_timeout: Duration::from_millis(50),
        ..ClientConfig::new(masters.iter().map(|master| master.to_string().into()).collect())
    }
}

/// The whole standard output of an executor; none before it has begun.
pub(crate) fn stdout(worker: &WorkerServer, app: &AppId, executor: u32) -> Option<String> {
    let owner = LogOwner::Executor(ExecutorKey::new(app.clone(), executor));
    log(worker, owner, LogStream::Stdout)
}

pub(crate) fn log(worker: &WorkerServer, owner: LogOwner, stream: LogStream) -> Option<String> {
    let request = LogRequest { owner, stream, offset: Some(0), length: 1 << 20 };
    worker.log(&request).ok().map(|slice| String::from_utf8_lossy(&slice.bytes).into_owned())
}

/// Waits for the first whole line in a file, and gives the number in it.
pub(crate) fn number_in(path: &Path) -> i32 {
    eventually(&format!("a number in {}", path.display()), || {
        let text = fs::read_to_string(path).ok()?;
        text.split_once('\n').and_then(|(line, _)| line.parse().ok())
    })
}

/// Whether a process is there; one that has ended and was not waited for counts as gone.
pub(crate) fn is_running(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z')))
}

pub(crate) fn wait_until_gone(pid: i32) {
    eventually(&format!("process {pid} is gone"), || (!is_running(pid)).then_some(()));
}
