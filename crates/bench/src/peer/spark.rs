//! Spark, local or as a standalone cluster of two executors with one core each.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::{Installation, spark_cluster::SparkCluster};
use crate::{
    checksum,
    machine::first_line,
    system::{Plan, Session, System, runs},
    workload::Workload,
};

const SOURCE: &str = include_str!("../../peers/FiresteelPeer.scala");
const CLASS: &str = "FiresteelPeer";

/// Spark from its Python package, which has everything but Java.
#[derive(Debug)]
pub struct Spark {
    installation: Installation,
    version: String,
    cluster: bool,
}

impl Spark {
    /// Spark in one process with two threads.
    pub fn local() -> Result<Self> {
        Self::new(false)
    }

    /// Spark with a master, a worker and two executors of one core.
    pub fn standalone() -> Result<Self> {
        Self::new(true)
    }

    fn new(cluster: bool) -> Result<Self> {
        let installation = Installation::find()?;
        let version = installation.version("pyspark")?;
        if first_line("java", &["-version"]).is_empty() {
            bail!("Spark needs Java, 17 or newer: `cargo xtask peers install` says how to get it");
        }
        Ok(Self { installation, version, cluster })
    }

    fn home(&self) -> PathBuf {
        self.installation.packages().join("pyspark")
    }

    /// The workloads, compiled by the Scala compiler among Spark's jars; kept until their source changes.
    fn jar(&self) -> Result<PathBuf> {
        let version = checksum::bytes(SOURCE.as_bytes());
        let jar = self.installation.folder().join(format!("workloads-{version:016x}.jar"));
        if !jar.is_file() {
            self.compile(&jar).context("cannot compile the workloads for Spark")?;
        }
        Ok(jar)
    }

    fn compile(&self, jar: &Path) -> Result<()> {
        let folder = TempDir::new_in(self.installation.folder())?;
        let (source, classes) = (folder.path().join("Peer.scala"), folder.path().join("classes"));
        fs::write(&source, SOURCE)?;
        fs::create_dir(&classes)?;
        let mut scala = Command::new("java");
        scala.arg("-cp").arg(self.home().join("jars/*")).args(["scala.tools.nsc.Main", "-usejavacp", "-d"]);
        finish(scala.arg(&classes).arg(&source))?;
        // A Java runtime has no program that makes jars, but a jar is a zip.
        let pack = "import shutil, sys; shutil.make_archive(sys.argv[1], 'zip', sys.argv[2])";
        let packed = folder.path().join("packed");
        finish(Command::new(self.installation.python()).args(["-c", pack]).arg(&packed).arg(&classes))?;
        Ok(fs::rename(packed.with_extension("zip"), jar)?)
    }
}

fn finish(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        bail!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

impl System for Spark {
    fn name(&self) -> &'static str {
        "spark"
    }

    fn master(&self) -> String {
        if self.cluster { "standalone[2,1]" } else { "local[2]" }.to_owned()
    }

    fn version(&self) -> Option<String> {
        Some(format!("{}, {}", self.version, first_line("java", &["-version"])))
    }

    fn is_cluster(&self) -> bool {
        self.cluster
    }

    fn can_run(&self, workload: &Workload) -> bool {
        self.cluster || !workload.cluster_only
    }

    fn usual_runs(&self, workload: &Workload) -> usize {
        workload.runs.min(3)
    }

    fn open(&self, plan: &Plan<'_>) -> Result<Session> {
        let (home, jar) = (self.home(), self.jar()?);
        let cluster = self.cluster.then(|| SparkCluster::start(&home, plan.data)).transpose()?;
        let mut arguments: Vec<String> = match &cluster {
            Some(cluster) => {
                let memory = plan.workload.memory.unwrap_or("4g");
                let words = ["--driver-memory", "4g", "--executor-cores", "1", "--executor-memory", memory];
                let ready = ["--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0"];
                let master = ["--master", cluster.master()];
                let ready = if plan.workload.cold { &[] } else { &ready[..] };
                [&master, &words[..], ready].concat().into_iter().map(str::to_owned).collect()
            }
            None => {
                let memory = plan.workload.memory.unwrap_or("8g");
                ["--master", "local[2]", "--driver-memory", memory].map(str::to_owned).to_vec()
            }
        };
        let local = format!("spark.local.dir={}", plan.data.display());
        for setting in ["spark.ui.enabled=false", "spark.log.level=ERROR", &local] {
            arguments.extend(["--conf", setting].map(str::to_owned));
        }
        arguments.extend(["--class", CLASS].map(str::to_owned));
        arguments.push(jar.display().to_string());
        // Compiled code warms up: one run more than the check is left untimed.
        arguments.extend([plan.workload.name.to_owned(), "1".to_owned(), runs(self, plan).to_string()]);
        arguments.extend((plan.workload.sizes)(plan.scale).words());
        arguments.push(format!("data={}", plan.data.display()));
        arguments.extend(cluster.as_ref().map(|cluster| format!("worker_pid={}", cluster.worker_pid())));
        let session = Session::new(move || {
            let mut command = Command::new(home.join("bin/spark-submit"));
            command.env("SPARK_HOME", &home).env("SPARK_LOCAL_IP", "127.0.0.1").args(&arguments);
            command
        });
        Ok(match cluster {
            Some(cluster) => session.guarded_by(cluster),
            None => session,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::WORKLOADS;

    #[test]
    fn spark_has_every_workload() {
        for workload in &WORKLOADS {
            let known = SOURCE.contains(&format!("\"{}\"", workload.name));
            let by_prefix = workload.name.starts_with("efficiency_");
            assert!(known || by_prefix, "{}", workload.name);
        }
    }
}
