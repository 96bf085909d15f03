//! Starting one daemon in the background: [`Launched`].

use std::{
    env,
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use firesteel::Conf;

use super::{process::Process, state::Member};
use crate::daemon::Ready;

/// How much of a log is shown when a daemon does not start.
const TAIL_LINES: usize = 5;

/// A daemon that was started.
#[derive(Debug)]
pub(super) struct Launched {
    name: String,
    log: PathBuf,
    child: Child,
    pub(super) process: Process,
    said: Receiver<String>,
}

impl Launched {
    /// Starts `firesteel <arguments>` with these settings, apart from this terminal, with its log in a file.
    pub(super) fn start(name: &str, arguments: &[String], conf: &Conf, logs: &Path) -> Result<Self> {
        let program = env::current_exe().context("cannot find the executable of this command")?;
        let log = logs.join(format!("{name}.log"));
        let file = fs::create_dir_all(logs).and_then(|()| File::create(&log));
        let file = file.with_context(|| format!("cannot write {}", log.display()))?;
        let mut child = Command::new(&program)
            .args(arguments)
            .arg("--new-session")
            .env("FIRESTEEL_SETTINGS", conf.to_lines())
            // All of them are in the settings by now.
            .env_remove("FIRESTEEL_CONF")
            .env_remove("FIRESTEEL_MASTER")
            .env_remove("FIRESTEEL_APP_NAME")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(file)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let (tell, said) = channel();
        let output = child.stdout.take().expect("the standard output is piped");
        thread::spawn(move || {
            let mut line = String::new();
            if BufReader::new(output).read_line(&mut line).is_ok() {
                // The receiver is gone when the start was given up.
                let _ = tell.send(line);
            }
        });
        let Some(process) = Process::of(child.id().cast_signed()) else {
            // Gone already: the reason is in its log.
            let _ = child.wait();
            bail!(why(name, &log, "ended at once"));
        };
        Ok(Self { name: name.to_owned(), log, child, process, said })
    }

    /// Waits until the daemon reports its address.
    pub(super) fn wait_ready(mut self, deadline: Instant) -> Result<Member> {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.said.recv_timeout(left).ok().and_then(|line| line.parse::<Ready>().ok()) {
            Some(ready) => Ok(Member::new(self.process, ready)),
            None => {
                let what = match self.ended(deadline) {
                    Some(status) => format!("ended with {status}"),
                    None => "did not start".to_owned(),
                };
                Err(anyhow!(why(&self.name, &self.log, &what)))
            }
        }
    }
}

impl Launched {
    /// How the daemon ended, if it has: one that has closed its output without a word is about to.
    fn ended(&mut self, deadline: Instant) -> Option<ExitStatus> {
        loop {
            let ended = self.child.try_wait().ok().flatten();
            if ended.is_some() || Instant::now() >= deadline {
                return ended;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// What became of a daemon, with the end of its log.
fn why(name: &str, log: &Path, what: &str) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n  ");
    let said = if tail.is_empty() { String::new() } else { format!(", and logged:\n  {tail}") };
    format!("the {name} {what}{said}")
}

/// Ends processes side by side, and returns which of them live on.
pub(super) fn end_all<'a>(processes: impl IntoIterator<Item = &'a Process>, timeout: Duration) -> Vec<i32> {
    let asked: Vec<_> = processes.into_iter().map(|process| (process.pid, process.ask_to_end())).collect();
    let mut living = Vec::new();
    for (pid, ending) in asked {
        let end = ending.map_or(super::process::End::WasGone, |ending| ending.wait(timeout));
        match end {
            super::process::End::WasGone | super::process::End::Asked => {}
            super::process::End::Forced => crate::output::tell(&format!("process {pid} was ended by force")),
            super::process::End::Lives => living.push(pid),
        }
    }
    living
}
