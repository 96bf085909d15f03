//! Running the command, asking pages over plain connections, and making sure that nothing is left.
#![expect(clippy::panic, reason = "helpers of tests say what they saw")]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::waiting::found_within;

/// Longer than anything takes that works.
pub(crate) const GUARD: Duration = Duration::from_secs(90);

/// Waits until `look` finds something.
pub(crate) fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    found_within(GUARD, what, look)
}

/// The command in an empty environment, with a home of its own.
pub(crate) fn firesteel(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_firesteel"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("FIRESTEEL_"))
    {
        command.env_remove(name);
    }
    // What is left when a test fails is below its home, and goes with it.
    command.env("XDG_STATE_HOME", home).env("TMPDIR", home).stdin(Stdio::null());
    command
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

impl Ran {
    /// It worked.
    pub(crate) fn worked(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// It ended with `code`, and said all of `told` on standard error.
    pub(crate) fn failed(self, code: i32, told: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        for text in told {
            assert!(self.err.contains(text), "{text} in {self:?}");
        }
        self
    }
}

/// Runs the command to its end.
pub(crate) fn run(home: &Path, arguments: &[&str]) -> Ran {
    firesteel(home).args(arguments).output().expect("the command is built").into()
}

/// A cluster by `firesteel cluster up`, with ports that the system gives. Dropped, it is down.
pub(crate) struct Cluster {
    pub(crate) home: TempDir,
    pub(crate) master: String,
    pub(crate) page: String,
    pub(crate) worker_pages: Vec<String>,
}

impl Cluster {
    pub(crate) fn up(workers: u32, cores: u32, more: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("there is room for a folder");
        let (workers, cores) = (workers.to_string(), cores.to_string());
        let mut arguments = vec!["cluster", "up", "--workers", &workers, "--cores", &cores, "--memory", "1g"];
        arguments.extend(["--port", "0", "--webui-port", "0", "--worker-webui-port", "0"]);
        arguments.extend(more);
        let out = run(home.path(), &arguments).worked().out;
        let after = |name: &str| {
            let line = out.lines().find_map(|line| line.strip_prefix(name)).expect("the line is there");
            line.trim().to_owned()
        };
        let worker_pages =
            out.lines().filter_map(|line| line.split_once(", page ")).map(|(_, page)| page.to_owned());
        Self { master: after("master"), page: after("page"), worker_pages: worker_pages.collect(), home }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        run(self.home.path(), arguments)
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.home.path().join("firesteel/cluster")
    }

    /// The numbers of its processes.
    pub(crate) fn pids(&self) -> Vec<i32> {
        let json = fs::read(self.folder().join("cluster.json")).expect("the cluster is up");
        let state: Value = serde_json::from_slice(&json).expect("it is JSON");
        let pid = |member: &Value| member["process"]["pid"].as_i64().expect("a number") as i32;
        let workers = state["workers"].as_array().expect("a list").iter().map(pid);
        std::iter::once(pid(&state["master"])).chain(workers).collect()
    }

    pub(crate) fn down(&self) -> Ran {
        self.run(&["cluster", "down"])
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let down = self.down();
        if !thread::panicking() {
            down.worked();
        }
    }
}

/// Whether a process runs; one that has ended and only waits for its parent does not.
pub(crate) fn is_running(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// The processes whose command line or folder speaks of `folder`.
pub(crate) fn processes_in(folder: &Path) -> Vec<String> {
    let wanted = folder.to_string_lossy();
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").expect("there is one").flatten() {
        let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        let place = fs::read_link(process.path().join("cwd")).unwrap_or_default();
        if command.contains(&*wanted) || place.starts_with(folder) {
            found.push(command);
        }
    }
    found
}

/// A daemon in the foreground. Dropped, it is killed.
pub(crate) struct Daemon {
    child: Child,
    /// What it said when it was ready.
    pub(crate) ready: String,
}

impl Daemon {
    pub(crate) fn start(home: &Path, arguments: &[&str]) -> Self {
        let mut command = firesteel(home);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the command is built");
        let mut ready = String::new();
        let output = child.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut ready).expect("it says something or ends");
        assert!(!ready.is_empty(), "{arguments:?} did not start");
        Self { child, ready }
    }

    /// The word behind `before` in what it said.
    pub(crate) fn said(&self, before: &str) -> String {
        let (_, rest) = self.ready.split_once(before).unwrap_or_else(|| panic!("{before} in {}", self.ready));
        rest.split([',', '\n']).next().expect("there is a first").to_owned()
    }

    pub(crate) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Sends a signal by the shell's own command.
    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([format!("-{signal}"), self.child.id().to_string()]).status();
        assert!(sent.expect("there is a kill command").success());
    }

    pub(crate) fn wait(mut self) -> ExitStatus {
        eventually("the daemon ends", || self.child.try_wait().expect("it is a child"))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Asks a process to end, which lets a worker end its own processes first, and ends it by force if it does not.
fn end(child: &mut Child) {
    const TIMEOUT: Duration = Duration::from_secs(20);
    let deadline = Instant::now() + TIMEOUT;
    let asked = Command::new("kill").args(["-TERM", &child.id().to_string()]).stderr(Stdio::null()).status();
    while asked.is_ok() && Instant::now() < deadline {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    // It may have ended.
    let _ = child.kill();
    let _ = child.wait();
}

/// A command that runs beside the test. Dropped, it is killed.
pub(crate) struct Beside {
    child: Child,
    log: PathBuf,
}

impl Beside {
    /// Starts a command, whose output goes into a file `name` of `home`.
    pub(crate) fn start(home: &Path, name: &str, mut command: Command) -> Self {
        let log = home.join(name);
        let file = fs::File::create(&log).expect("the folder is there");
        command.stdout(file.try_clone().expect("it is open")).stderr(file);
        Self { child: command.spawn().expect("the command is built"), log }
    }

    /// What it has said so far.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).expect("the file is there")
    }

    /// Waits until it has printed all of `texts`.
    pub(crate) fn says(&mut self, texts: &[&str]) {
        let deadline = Instant::now() + GUARD;
        while !texts.iter().all(|text| self.said().contains(text)) {
            let ended = self.child.try_wait().expect("it is a child");
            assert!(ended.is_none() && Instant::now() < deadline, "{ended:?}, {texts:?} in {}", self.said());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until it has ended, and gives its code and what it said.
    pub(crate) fn wait(mut self) -> (Option<i32>, String) {
        let status = eventually("the command ends", || self.child.try_wait().expect("it is a child"));
        (status.code(), self.said())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// What a page answered.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Fetched {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}

/// Asks a page over a plain connection.
pub(crate) fn get(page: &str, path: &str) -> Fetched {
    request(page, "GET", path, "", "")
}

pub(crate) fn request(page: &str, method: &str, path: &str, head: &str, body: &str) -> Fetched {
    let host = page.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).unwrap_or_else(|error| panic!("{error} at {page}"));
    stream.set_read_timeout(Some(GUARD)).expect("not zero");
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{head}\r\n{body}"
    )
    .expect("the page listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the page answers");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Fetched { status, body: body.to_owned() }
}

/// An application that is a shell script.
pub(crate) fn script(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("the folder is there");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the file is there");
    path.to_str().expect("its name is a text").to_owned()
}
