//! Ray and Dask: scripts that run the workloads in Python.

use std::{fs, process::Command};

use anyhow::Result;
use tempfile::TempDir;

use super::Installation;
use crate::{
    system::{Plan, Session, System, runs},
    workload::Workload,
};

const WORKLOADS: &str = include_str!("../../peers/workloads.py");

/// A system whose tasks are Python functions.
#[derive(Debug)]
pub struct Python {
    installation: Installation,
    name: &'static str,
    script: &'static str,
    version: String,
}

impl Python {
    /// Ray on two processors of this machine.
    pub fn ray() -> Result<Self> {
        Self::new("ray", include_str!("../../peers/ray_peer.py"))
    }

    /// Dask with two worker processes of one thread.
    pub fn dask() -> Result<Self> {
        Self::new("dask", include_str!("../../peers/dask_peer.py"))
    }

    fn new(name: &'static str, script: &'static str) -> Result<Self> {
        let installation = Installation::find()?;
        let version = installation.version(name)?;
        Ok(Self { installation, name, script, version })
    }
}

impl System for Python {
    fn name(&self) -> &'static str {
        self.name
    }

    fn master(&self) -> String {
        "2 processes".to_owned()
    }

    fn version(&self) -> Option<String> {
        Some(self.version.clone())
    }

    fn can_run(&self, workload: &Workload) -> bool {
        knows(workload.name)
    }

    fn usual_runs(&self, _: &Workload) -> usize {
        2
    }

    fn open(&self, plan: &Plan<'_>) -> Result<Session> {
        let folder = TempDir::new()?;
        fs::write(folder.path().join("workloads.py"), WORKLOADS)?;
        let script = folder.path().join("peer.py");
        fs::write(&script, self.script)?;
        let mut arguments = vec![plan.workload.name.to_owned(), "0".to_owned(), runs(self, plan).to_string()];
        arguments.extend((plan.workload.sizes)(plan.scale).words());
        arguments.push(format!("data={}", plan.data.display()));
        let python = self.installation.python();
        let session = Session::new(move || {
            let mut command = Command::new(&python);
            command.arg(&script).args(&arguments);
            command
        });
        Ok(session.guarded_by(folder))
    }
}

/// Whether the scripts have a workload.
fn knows(workload: &str) -> bool {
    WORKLOADS.contains(&format!("\n    \"{workload}\": "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::WORKLOADS as ALL;

    #[test]
    fn the_scripts_have_workloads_of_ours_only() {
        let list = WORKLOADS.split_once("WORKLOADS = {\n").unwrap().1.split_once('}').unwrap().0;

        let known = ALL.iter().filter(|workload| knows(workload.name)).count();
        assert_eq!(list.lines().count(), known);
        assert!(knows("empty_tasks") && !knows("pagerank"));
    }
}
