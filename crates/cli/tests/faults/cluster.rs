//! A master, workers and a folder for everything: [`Cluster`].

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    app::App,
    daemon::Daemon,
    gate::Gate,
    job,
    process::{LIMIT, is_alive, processes_with, signal, wait_for, wait_until},
};

/// The secret of all clusters here.
pub(crate) const SECRET: &str = "the secret of the tests of faults";

/// How soon a worker is taken for lost.
const WORKER_TIMEOUT: &str = "firesteel.worker.timeout=2s";

/// The variable by which everything is known that belongs to a cluster.
const MARK: &str = "FAULTS_CLUSTER";

/// A cluster of real processes, with a folder that holds everything they write.
pub(crate) struct Cluster {
    folder: TempDir,
    pub(crate) master: Daemon,
    pub(crate) workers: Vec<Daemon>,
}

impl Cluster {
    /// A master that remembers, without a worker.
    pub(crate) fn new() -> Self {
        Self::with_master(&[])
    }

    /// The same with more arguments for the master.
    pub(crate) fn with_master(more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["tmp", "gates"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let store = format!("firesteel.deploy.recoveryDirectory={}", folder.path().join("store").display());
        let arguments = ["master", "--host", "127.0.0.1", "--webui-port", "0", "--conf", WORKER_TIMEOUT];
        let recovery = ["--conf", "firesteel.deploy.recoveryMode=FILESYSTEM", "--conf", &store];
        let ports = ["--conf", "firesteel.port.maxRetries=0", "--conf", "firesteel.master.port=0"];
        let arguments = [&arguments[..], &recovery, &ports, more].concat();
        let master = Daemon::start(firesteel(folder.path()), folder.path(), "master", &arguments);
        Self { folder, master, workers: Vec::new() }
    }

    /// With so many workers of one core, which are registered.
    pub(crate) fn with_workers(count: usize) -> Self {
        let mut cluster = Self::new();
        for _ in 0..count {
            let master = cluster.master.url.clone();
            cluster.add_worker(&master, &[]);
        }
        cluster.wait_for_workers(count);
        cluster
    }

    /// Starts one more worker, which finds the master at `master`.
    pub(crate) fn add_worker(&mut self, master: &str, more: &[&str]) {
        let name = format!("worker-{}", self.workers.len());
        let local = format!("firesteel.local.dir={}", self.local_dir(self.workers.len()).display());
        let work = self.path().join(&name).join("work");
        let arguments = ["worker", master, "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1"];
        let folders = ["--memory", "1g", "--work-dir", work.to_str().unwrap(), "--conf", &local];
        let arguments = [&arguments[..], &folders, &["--conf", WORKER_TIMEOUT], more].concat();
        let worker = Daemon::start(firesteel(self.path()), self.path(), &name, &arguments);
        self.workers.push(worker);
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where the executors of a worker keep shuffle files and blocks.
    pub(crate) fn local_dir(&self, worker: usize) -> PathBuf {
        self.path().join(format!("worker-{worker}/local"))
    }

    /// Starts an application in this terminal.
    pub(crate) fn app(&self, name: &str, more: &[(&str, &str)]) -> App {
        let mut command = in_environment(Command::new(env::current_exe().unwrap()), self.path());
        command.args(job::ARGUMENTS).env("FIRESTEEL_MASTER", &self.master.url);
        command.env("FIRESTEEL_APP_NAME", name).env("FIRESTEEL_SETTINGS", settings(more));
        App::start(command, self.path().join(format!("{name}.log")))
    }

    /// Gives an application to the cluster, which runs its driver.
    pub(crate) fn submit(&self, name: &str, more: &[&str]) -> Command {
        let mut command = firesteel(self.path());
        command.args(["submit", "--master", &self.master.url, "--deploy-mode", "cluster", "--name", name]);
        command.args(["--driver-memory", "256m"]).args(more);
        for line in settings(&[]).lines() {
            command.args(["--conf", line]);
        }
        command.arg(env::current_exe().unwrap()).args(job::ARGUMENTS);
        command
    }

    /// From now on executors fail before they have done anything.
    pub(crate) fn break_executors(&self) {
        fs::write(self.path().join("gates").join(job::BROKEN), "").unwrap();
    }

    /// A closed gate of an application, to be made before the application comes to it.
    pub(crate) fn gate(&self, app: &str, name: &str) -> Gate {
        Gate::new(self.path().join("gates").join(app).join(name))
    }

    /// The answer of an application whose driver is not heard.
    pub(crate) fn written_answer(&self, app: &str) -> String {
        fs::read_to_string(self.path().join("gates").join(app).join("answer")).unwrap_or_default()
    }

    /// The status on the master's page.
    pub(crate) fn status(&self) -> Option<Value> {
        let page = ureq::get(format!("{}/json", self.master.page)).call();
        serde_json::from_str(&page.ok()?.body_mut().read_to_string().ok()?).ok()
    }

    /// Waits until the status on the master's page fulfils a condition.
    pub(crate) fn wait_for_status(&self, what: &str, holds: impl Fn(&Value) -> bool) {
        let mut last = None;
        let until = Instant::now() + LIMIT;
        while !last.as_ref().is_some_and(&holds) {
            assert!(Instant::now() < until, "waited in vain: {what}; the master says {last:?}");
            last = self.status();
        }
    }

    pub(crate) fn wait_for_workers(&self, count: usize) {
        self.wait_for_status("the workers are there", |status| status["aliveworkers"] == count);
    }

    /// Waits until an application is among the completed ones.
    pub(crate) fn wait_until_completed(&self, app: &str) {
        self.wait_for_status("the application is over", |status| {
            let is_it = |listed: &Value| listed["id"] == app;
            status["completedapps"].as_array().is_some_and(|apps| apps.iter().any(is_it))
        });
    }

    /// Kills the master and starts it again, at the same port and with what it has stored.
    pub(crate) fn restart_master(&mut self) {
        let (command, folder) = (firesteel(self.folder.path()), self.folder.path());
        self.master.start_again(command, folder, "master");
    }

    /// Which worker has started this executor.
    pub(crate) fn worker_of(&self, executor: u32) -> usize {
        let folder = fs::read_link(format!("/proc/{executor}/cwd")).unwrap();
        let is_its = |worker: &usize| folder.starts_with(self.path().join(format!("worker-{worker}")));
        (0..self.workers.len()).find(is_its).unwrap()
    }

    /// What a worker's executors have written to their logs.
    pub(crate) fn executor_logs(&self, worker: usize) -> String {
        let mut texts = String::new();
        let mut folders = vec![self.path().join(format!("worker-{worker}/work"))];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else if entry.file_name() == "stderr" {
                    texts += &fs::read_to_string(entry.path()).unwrap();
                }
            }
        }
        texts
    }

    /// Ends the cluster, and makes sure that nothing is left of it and of its applications.
    pub(crate) fn finish(mut self) {
        // Everything but the daemons has ended by itself by now, or does so.
        let mark = mark(self.path());
        let daemons: Vec<u32> = self.workers.iter().chain([&self.master]).map(Daemon::pid).collect();
        let others =
            || processes_with(&mark).into_iter().filter(|process| !daemons.contains(process)).count();
        wait_until("no executor and no driver is left", || others() == 0);
        for worker in std::mem::take(&mut self.workers) {
            worker.end();
        }
        // The master ends last; a placeholder would have to be a process too.
        signal(self.master.pid(), Signal::TERM);
        wait_until("the master ends", || !is_alive(self.master.pid()));
        // With them their ports are free, which other tests may have by now.
        assert_eq!(processes_with(&mark), [0_u32; 0]);
        let left = |folder: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(folder).into_iter().flatten();
            entries.map(|entry| entry.unwrap().path()).collect()
        };
        assert_eq!(left(&self.path().join("tmp")), Vec::<PathBuf>::new());
        let workers = fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path());
        for local in workers.map(|folder| folder.join("local")) {
            assert_eq!(left(&local), Vec::<PathBuf>::new());
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        for process in processes_with(&mark(self.path())) {
            signal(process, Signal::KILL);
        }
        for entry in fs::read_dir(self.path()).unwrap().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "log") {
                println!(
                    "--- {}\n{}",
                    entry.path().display(),
                    fs::read_to_string(entry.path()).unwrap_or_default()
                );
            }
        }
        for worker in 0..self.workers.len() {
            println!("--- executors of worker-{worker}\n{}", self.executor_logs(worker));
        }
    }
}

/// Settings of the applications, one a line: executors that fit, and no long waits.
fn settings(more: &[(&str, &str)]) -> String {
    let usual = [
        ("firesteel.executor.memory", "512m"),
        ("firesteel.ui.enabled", "false"),
        ("firesteel.shuffle.io.retryWait", "100ms"),
        ("firesteel.executor.lossReason.wait", "500ms"),
    ];
    let lines: Vec<String> = usual.iter().chain(more).map(|(key, value)| format!("{key}={value}")).collect();
    lines.join("\n")
}

fn mark(folder: &Path) -> (String, String) {
    (MARK.to_owned(), folder.to_str().unwrap().to_owned())
}

/// A program in an environment that names only the cluster it belongs to.
fn in_environment(mut command: Command, folder: &Path) -> Command {
    let own = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("FIRESTEEL_");
    for (name, _) in env::vars_os().filter(|(name, _)| own(name)) {
        command.env_remove(name);
    }
    let (name, value) = mark(folder);
    command.env(name, value).env("TMPDIR", folder.join("tmp")).env(job::GATES, folder.join("gates"));
    command.env("FIRESTEEL_AUTHENTICATE_SECRET", SECRET).stdin(Stdio::null()).current_dir(folder);
    command
}

fn firesteel(folder: &Path) -> Command {
    in_environment(Command::new(env!("CARGO_BIN_EXE_firesteel")), folder)
}

/// Runs a command to its end; gives its code and what it said on standard output.
pub(crate) fn run(mut command: Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Waits until an application that a worker runs has come to its driver's gate; gives its process.
pub(crate) fn driver_at(gate: &Gate, other_than: Option<u32>) -> u32 {
    wait_for("the driver runs", || gate.came().into_iter().find(|process| Some(*process) != other_than))
}
