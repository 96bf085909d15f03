//! From the order to start a process to its end, on a thread of its own: [`Launcher`].

use std::{
    collections::BTreeMap,
    env,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::SyncSender,
    },
    thread,
    time::Duration,
};

use firesteel_net::{Address, Dialer, Keyring, Realm, Secret};
use firesteel_scheduler::{
    deploy::{Artifact, ArtifactKind, ArtifactSource, Command as ProcessCommand},
    worker::{ProcessOwner, ProcessStart, WorkerEvent},
};

use super::{
    child::Child,
    conf::LogRolling,
    environment::{PREFIX, Told, environment, variable},
    logs::LogStream,
    output::Outputs,
    process_records::{ProcessRecords, RecordGuard},
    rolling::RollingFile,
    run::Note,
};
use crate::{
    artifact::{ArtifactClient, ArtifactError, Cache, place},
    error::spawn,
    security::Security,
};

/// Where the executable and the files are, in the folder of a process.
const BIN: &str = "bin";
const FILES: &str = "files";

/// Delays between tries to reach the server of artifacts: each twice as long as the last, three seconds in all.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(50);
const RETRY_DELAY_MAX: Duration = Duration::from_secs(2);

/// What all processes of a worker have in common.
pub(super) struct Launcher {
    pub(super) inbox: SyncSender<Note>,
    pub(super) cache: Cache,
    pub(super) records: ProcessRecords,
    pub(super) keyring: Arc<Keyring>,
    pub(super) security: Security,
    /// Where this worker listens.
    pub(super) url: String,
    pub(super) page: Option<String>,
    pub(super) shuffle_service: bool,
    pub(super) rolling: LogRolling,
    pub(super) believe_paths: bool,
    pub(super) environment: BTreeMap<String, String>,
    /// Set when the worker ends: what has not started must not start.
    pub(super) cancelled: AtomicBool,
}

/// A process that runs.
struct Started {
    child: Child,
    outputs: Outputs,
    record: RecordGuard,
}

impl Launcher {
    /// Starts a process on a thread, which brings the news of it to the inbox. Gives the news at once when there is no
    /// thread to be had.
    pub(super) fn launch(
        self: &Arc<Self>,
        start: ProcessStart,
        master: Option<Address>,
    ) -> Option<WorkerEvent> {
        let (launcher, process) = (self.clone(), start.process);
        let thread = spawn("process", move || launcher.start_and_wait(&start, master.as_ref()));
        thread.err().map(|error| WorkerEvent::ProcessFailed { process, message: error.to_string() })
    }

    fn start_and_wait(&self, start: &ProcessStart, master: Option<&Address>) {
        let process = start.process;
        let tell = |note| {
            // The inbox is closed when the worker's own thread is gone; then this process is on its own.
            let _ = self.inbox.send(note);
        };
        let event = match self.start(start, master) {
            Ok(Started { child, outputs, record }) => {
                tell(Note::Started { process, handle: child.handle() });
                let code = child.run(outputs);
                drop(record);
                WorkerEvent::ProcessExited { process, code }
            }
            Err(message) => WorkerEvent::ProcessFailed { process, message },
        };
        tell(Note::Ended { process, event });
    }

    fn start(&self, start: &ProcessStart, master: Option<&Address>) -> Result<Started, String> {
        let folder = Path::new(&start.work_dir);
        let app_secret = self.app_secret(start)?;
        let executable = self
            .fetch_all(start, folder, master, app_secret.as_ref())
            .map_err(|error| not_fetched(&start.owner, &error))?;
        let program = match (&*start.command.program, executable) {
            (ProcessCommand::EXECUTABLE, Some(path)) => path,
            (ProcessCommand::EXECUTABLE, None) => {
                return Err("none of its artifacts is executable".to_owned());
            }
            (program, _) => program.into(),
        };
        let open = |stream: LogStream| {
            let log = RollingFile::open(folder, stream.name(), self.rolling);
            log.map_err(|error| format!("cannot write its log in {}: {error}", folder.display()))
        };
        let outputs = Outputs { stdout: open(LogStream::Stdout)?, stderr: open(LogStream::Stderr)? };
        if self.cancelled.load(Ordering::Acquire) {
            return Err("this worker ends".to_owned());
        }
        let mut command = self.command(start, folder, &program, app_secret.as_ref());
        let child = Child::spawn(&mut command)
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let record = self.records.note(child.pid());
        tracing::info!(owner = ?start.owner, pid = child.pid().as_raw_nonzero(), "started a process");
        Ok(Started { child, outputs, record })
    }

    /// The secret of an executor's application, which its executors, the shuffle service and the watch need.
    fn app_secret(&self, start: &ProcessStart) -> Result<Option<Secret>, String> {
        let ProcessOwner::Executor(key) = &start.owner else { return Ok(None) };
        let Some(sealed) = start.command.environment.get(variable::APP_SECRET) else { return Ok(None) };
        let secret = self.security.open_app_secret(sealed).ok_or_else(|| {
            format!(
                "the secret of {} cannot be opened; do driver and worker have the same cluster secret?",
                key.app
            )
        })?;
        let realm = Realm::from(&key.app);
        if realm == Realm::cluster() {
            return Err(format!("no application can be called {realm}"));
        }
        self.keyring.insert(realm, secret.clone());
        Ok(Some(secret))
    }

    /// Puts all artifacts into the folder of the process, and gives the path of the executable.
    fn fetch_all(
        &self,
        start: &ProcessStart,
        folder: &Path,
        master: Option<&Address>,
        app_secret: Option<&Secret>,
    ) -> Result<Option<PathBuf>, ArtifactError> {
        let mut executable = None;
        for artifact in &start.command.artifacts {
            if !artifact.has_plain_name() {
                return Err(ArtifactError::BadName { name: artifact.name.clone() });
            }
            let cached = self.fetch(artifact, start, master, app_secret)?;
            let into = folder.join(match artifact.kind {
                ArtifactKind::Executable => BIN,
                ArtifactKind::File => FILES,
            });
            fs::create_dir_all(&into)
                .map_err(|source| ArtifactError::Local { path: into.clone(), source: Arc::new(source) })?;
            let placed = place(&cached, &into, &artifact.name)?;
            if artifact.kind == ArtifactKind::Executable {
                executable = Some(placed);
            }
        }
        Ok(executable)
    }

    /// Where an artifact is on this machine.
    fn fetch(
        &self,
        artifact: &Artifact,
        start: &ProcessStart,
        master: Option<&Address>,
        app_secret: Option<&Secret>,
    ) -> Result<PathBuf, ArtifactError> {
        let no_source = |reason: &str| {
            let (name, reason) = (artifact.name.clone(), reason.to_owned());
            ArtifactError::NoSource { name, reason }
        };
        let is_cancelled = || self.cancelled.load(Ordering::Acquire);
        let (dialer, address) = match &artifact.from {
            ArtifactSource::Path(path) => return self.local_path(artifact, path),
            ArtifactSource::Driver => {
                let ProcessOwner::Executor(key) = &start.owner else {
                    return Err(no_source("a driver has no driver to fetch it from"));
                };
                let secret = app_secret.ok_or_else(|| no_source("the application has no secret"))?;
                let url = start.driver_url.as_deref().unwrap_or_default();
                let address: Address =
                    url.parse().map_err(|_| no_source(&format!("`{url}` is no address of a driver")))?;
                (self.security.dialer_for(Realm::from(&key.app), secret.clone()), address)
            }
            ArtifactSource::Master => {
                let address = master.ok_or_else(|| no_source("no master is connected"))?;
                (self.security.dialer(), address.clone())
            }
        };
        self.cache.get(artifact, || {
            tracing::info!(artifact = artifact.name, from = %address, bytes = artifact.len, "fetching");
            let client = self.connect(&dialer, &address, &is_cancelled)?;
            Ok(Box::new(client.get(artifact.sha256, artifact.len)?) as Box<dyn Read>)
        })
    }

    /// Connects to the server of artifacts, with retries: a driver may not know its own id yet, since the
    /// master tells it at the same time as it orders the first executors.
    fn connect<'a>(
        &self,
        dialer: &Dialer,
        address: &Address,
        is_cancelled: &'a (dyn Fn() -> bool + Sync),
    ) -> Result<ArtifactClient<'a>, ArtifactError> {
        let mut pause = FIRST_RETRY_DELAY;
        loop {
            match ArtifactClient::connect(dialer, address, is_cancelled) {
                Err(ArtifactError::Net(error)) if pause <= RETRY_DELAY_MAX && !is_cancelled() => {
                    tracing::debug!(%address, %error, "trying again to fetch");
                    thread::sleep(pause);
                    pause *= 2;
                }
                connected => return connected,
            }
        }
    }

    /// The file that a driver in this very process names.
    fn local_path(&self, artifact: &Artifact, path: &str) -> Result<PathBuf, ArtifactError> {
        if !self.believe_paths {
            let (name, path) = (artifact.name.clone(), path.to_owned());
            return Err(ArtifactError::ForeignPath { name, path });
        }
        let len = File::open(path).and_then(|file| file.metadata()).map(|metadata| metadata.len());
        match len {
            Ok(len) if len == artifact.len => Ok(path.into()),
            Ok(len) => Err(ArtifactError::WrongLength { expected: artifact.len, actual: len }),
            Err(source) => Err(ArtifactError::Local { path: path.into(), source: Arc::new(source) }),
        }
    }

    fn command(
        &self,
        start: &ProcessStart,
        folder: &Path,
        program: &Path,
        app_secret: Option<&Secret>,
    ) -> Command {
        let files_dir = folder.join(FILES);
        let told = Told {
            worker_url: &self.url,
            worker_page: self.page.as_deref(),
            shuffle_service: self.shuffle_service.then_some(self.url.as_str()),
            app_secret,
            cluster_secret: self.cluster_secret(&start.owner),
            files_dir: &files_dir,
        };
        let mut command = Command::new(program);
        command.args(&start.command.arguments).current_dir(folder);
        // The worker's own settings and the cluster's secret are none of the process's business.
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with(PREFIX)) {
            command.env_remove(name);
        }
        command.envs(environment(start, &told)).envs(&self.environment);
        command
    }

    /// The cluster's secret, for a driver.
    fn cluster_secret(&self, owner: &ProcessOwner) -> Option<String> {
        let secret = self.security.secret.as_ref().filter(|_| matches!(owner, ProcessOwner::Driver(_)));
        secret.map(|secret| format!("hex:{}", secret.to_hex()))
    }
}

fn not_fetched(owner: &ProcessOwner, error: &ArtifactError) -> String {
    match (owner, error) {
        (ProcessOwner::Executor(_), ArtifactError::Net(_)) => format!(
            "cannot fetch what it needs from the driver: {error}; set firesteel.driver.host to an address that \
             workers can reach"
        ),
        _ => format!("cannot fetch what it needs: {error}"),
    }
}
