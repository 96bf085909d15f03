//! The application as a process of the test: [`App`].

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
};

use crate::{
    job,
    process::{LIMIT, wait_for},
};

/// An application whose driver is a child of the test. Dropped, it is killed.
pub(crate) struct App {
    child: Child,
    lines: Receiver<String>,
    pub(crate) log: PathBuf,
}

impl App {
    /// Starts the application; `command` is this program with its environment.
    pub(crate) fn start(mut command: Command, log: PathBuf) -> Self {
        let file = File::options().create(true).append(true).open(&log).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(file).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        // Ends with the process.
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Self { child, lines, log }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line that begins like this, and gives the rest.
    pub(crate) fn said(&self, beginning: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(LIMIT);
            let line =
                line.unwrap_or_else(|_| panic!("did not say `{beginning}`: see {}", self.log.display()));
            if let Some(rest) = line.strip_prefix(beginning) {
                return rest.to_owned();
            }
        }
    }

    /// The id that the master gave it.
    pub(crate) fn id(&self) -> String {
        self.said("application ")
    }

    /// Waits until it has failed; gives its log.
    pub(crate) fn fail(mut self) -> String {
        let status = wait_for("the application fails", || self.child.try_wait().unwrap());
        assert!(!status.success());
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Waits until it has ended well, with the right answer.
    pub(crate) fn finish(mut self) {
        let answer = self.said("the sums are ");
        assert_eq!(format!("the sums are {answer}"), job::answer());
        let status = wait_for("the application ends", || self.child.try_wait().unwrap());
        assert!(status.success(), "{status}: see {}", self.log.display());
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for App {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
