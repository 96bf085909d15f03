//! One `firesteel master` or `firesteel worker`: [`Daemon`].

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

use rustix::process::Signal;

use crate::process::{signal, wait_for};

/// A daemon that runs. Dropped, it is killed.
pub(crate) struct Daemon {
    child: Child,
    /// Held, so that the pipe keeps a reader.
    _output: BufReader<ChildStdout>,
    /// What it is started with once it has a port.
    arguments: Vec<String>,
    /// `firesteel://host:port`, or only `host:port` for a worker.
    pub(crate) url: String,
    pub(crate) page: String,
    pub(crate) log: PathBuf,
}

impl Daemon {
    /// Starts a daemon and waits until it reports that it is ready. It logs into a file of this name in `folder`.
    pub(crate) fn start(mut command: Command, folder: &Path, name: &str, arguments: &[&str]) -> Self {
        let log = folder.join(format!("{name}.log"));
        let file = File::options().create(true).append(true).open(&log).unwrap();
        command.args(arguments).stdout(Stdio::piped()).stderr(file).current_dir(folder);
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut ready = String::new();
        output.read_line(&mut ready).unwrap();
        let after = |before: &str| {
            let (_, rest) = ready.split_once(before).unwrap_or_else(|| panic!("{name} said only `{ready}`"));
            rest.split([',', '\n']).next().unwrap().to_owned()
        };
        let (url, page) = (after(" at "), after("page at "));
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Self { child, _output: output, arguments, url, page, log }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn port(&self) -> u16 {
        self.url.rsplit_once(':').unwrap().1.parse().unwrap()
    }

    pub(crate) fn stop(&self) {
        signal(self.pid(), Signal::STOP);
    }

    pub(crate) fn go_on(&self) {
        signal(self.pid(), Signal::CONT);
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again, after it was killed, at the port that it had.
    pub(crate) fn start_again(&mut self, command: Command, folder: &Path, name: &str) {
        let port = self.port().to_string();
        let mut arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        arguments.extend(["--port", &port]);
        *self = Self::start(command, folder, name, &arguments);
        assert_eq!(self.port().to_string(), port, "no process took the port meanwhile");
    }

    /// Asks it to end, which it does in order.
    pub(crate) fn end(mut self) {
        signal(self.pid(), Signal::TERM);
        let status = wait_for("a daemon ends", || self.child.try_wait().unwrap());
        assert_eq!(status.code(), Some(0), "{}", self.log.display());
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
