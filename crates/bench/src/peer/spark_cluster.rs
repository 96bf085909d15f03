//! Spark's master and worker, started for a while.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::{launch::end, processes::terminate};

/// How long a process may take to start, and to end.
const PROCESS_TIMEOUT: Duration = Duration::from_secs(60);

/// A master and a worker on this machine; both end when this is dropped.
pub(super) struct SparkCluster {
    master: String,
    /// The worker first, so that it ends before its master.
    processes: Vec<Child>,
}

impl SparkCluster {
    /// Starts both and waits until the worker is known to the master. Logs and work go to `folder`.
    pub(super) fn start(home: &Path, folder: &Path) -> Result<Self> {
        let mut cluster = Self { master: String::new(), processes: Vec::new() };
        let log = folder.join("spark-master.log");
        let class = "org.apache.spark.deploy.master.Master";
        let words = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"];
        cluster.add(home, &log, class, &words)?;
        cluster.master = wait_for(&log, |line| {
            let start = line.find("spark://")?;
            line[start..].split_whitespace().next().map(str::to_owned)
        })?;
        let log = folder.join("spark-worker.log");
        let class = "org.apache.spark.deploy.worker.Worker";
        let work = folder.join("spark-work").display().to_string();
        let master = cluster.master.clone();
        let words = ["--host", "127.0.0.1", "-c", "2", "-m", "9g", "-d", &work, "--webui-port", "0", &master];
        cluster.add(home, &log, class, &words)?;
        wait_for(&log, |line| line.contains("Successfully registered with master").then(String::new))?;
        Ok(cluster)
    }

    fn add(&mut self, home: &Path, log: &PathBuf, class: &str, words: &[&str]) -> Result<()> {
        let out = File::create(log)?;
        let mut command = Command::new(home.join("bin/spark-class"));
        command.arg(class).args(words).env("SPARK_HOME", home).env("SPARK_LOCAL_IP", "127.0.0.1");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(out);
        self.processes.insert(0, command.spawn().context("cannot start a process of Spark")?);
        Ok(())
    }

    /// Where applications find the master.
    pub(super) fn master(&self) -> &str {
        &self.master
    }

    /// The process whose children the executors are.
    pub(super) fn worker_pid(&self) -> u32 {
        self.processes[0].id()
    }
}

/// What `find` finds in the first line of a log in which it finds anything.
fn wait_for(log: &Path, find: impl Fn(&str) -> Option<String>) -> Result<String> {
    let start = Instant::now();
    while start.elapsed() < PROCESS_TIMEOUT {
        let text = fs::read_to_string(log).unwrap_or_default();
        if let Some(found) = text.lines().find_map(&find) {
            return Ok(found);
        }
        thread::sleep(Duration::from_millis(50));
    }
    bail!("Spark did not start within {PROCESS_TIMEOUT:?}:\n{}", fs::read_to_string(log).unwrap_or_default())
}

impl Drop for SparkCluster {
    fn drop(&mut self) {
        for process in &mut self.processes {
            // A worker that is asked to end takes its executors along.
            terminate(process.id()).ok();
            let start = Instant::now();
            while matches!(process.try_wait(), Ok(None)) {
                if start.elapsed() > PROCESS_TIMEOUT {
                    end(process);
                }
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}
