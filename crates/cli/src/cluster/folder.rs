//! The folder of a cluster of this machine: [`Folder`].

use std::{
    env, fs,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow, bail};
use rustix::fs::{FlockOperation, flock};

use super::state::State;
use crate::args::PlaceArgs;

/// What `down` removes, of all that may be in the folder.
const LOGS: [&str; 2] = ["logs", "work"];
const STATE: &str = "cluster.json";
const LOCK: &str = "lock";
const LOCAL: &str = "local";

/// The folder of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

/// Keeps other commands from changing the cluster.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// The folder of the user's own cluster.
pub(crate) fn default_folder() -> Result<PathBuf> {
    let from = |variable| env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = from("XDG_STATE_HOME").or_else(|| from("HOME").map(|home| home.join(".local/state")));
    let state = state.ok_or_else(|| anyhow!("neither XDG_STATE_HOME nor HOME is set; give --dir"))?;
    Ok(state.join("firesteel/cluster"))
}

impl Folder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The folder that the command line means.
    pub(super) fn of(args: &PlaceArgs) -> Result<Self> {
        let path = match &args.dir {
            Some(dir) => std::path::absolute(dir).context("--dir")?,
            None => default_folder()?,
        };
        Ok(Self::new(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn logs(&self) -> PathBuf {
        self.path.join(LOGS[0])
    }

    pub(super) fn work(&self, worker: u32) -> PathBuf {
        self.path.join(LOGS[1]).join(format!("worker-{worker}"))
    }

    pub(super) fn local(&self) -> PathBuf {
        self.path.join(LOCAL)
    }

    /// What is written down, if anything is.
    pub(super) fn state(&self) -> Result<Option<State>> {
        let path = self.path.join(STATE);
        let json = match fs::read(&path) {
            Ok(json) => json,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let state = serde_json::from_slice(&json).with_context(|| {
            format!("{} is damaged; end the processes by hand and remove it", path.display())
        })?;
        Ok(Some(state))
    }

    /// What is written down, if any of it runs.
    pub(crate) fn running(&self) -> Result<Option<State>> {
        Ok(self.state()?.filter(State::is_running))
    }

    /// Writes down which processes run. Appears whole or not at all.
    pub(super) fn write(&self, state: &State) -> Result<()> {
        let (path, unfinished) = (self.path.join(STATE), self.path.join("cluster.json.new"));
        let json = serde_json::to_vec_pretty(state)?;
        fs::write(&unfinished, json)
            .and_then(|()| fs::rename(&unfinished, &path))
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Makes the folder, and keeps others from changing the cluster until the lock is dropped.
    pub(super) fn lock(&self) -> Result<Lock> {
        let failed = || format!("cannot use the folder {}", self.path.display());
        fs::create_dir_all(&self.path).with_context(failed)?;
        let file = File::options().create(true).truncate(false).write(true).open(self.path.join(LOCK));
        let file = file.with_context(failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Lock { _file: file }),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                bail!(
                    "another command is changing the cluster in {}; try again when it is done",
                    self.path.display()
                )
            }
            Err(error) => Err(error).with_context(failed),
        }
    }

    /// Removes what the cluster has made, but for its logs if they are wanted. What else is in the folder stays.
    pub(super) fn clear(&self, keep_logs: bool) -> Result<()> {
        let mut gone = vec![LOCAL];
        if !keep_logs {
            gone.extend(LOGS);
        }
        for name in gone {
            let path = self.path.join(name);
            absent(fs::remove_dir_all(&path)).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        for name in [STATE, LOCK] {
            let path = self.path.join(name);
            absent(fs::remove_file(&path)).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        // Fails when something else is in it, which is not ours.
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }
}

/// What is not there is as good as removed.
fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_changes_a_cluster_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path().join("deep/down"));

        let lock = folder.lock().unwrap();
        assert!(folder.lock().unwrap_err().to_string().contains("another command"));
        drop(lock);
        assert!(folder.lock().is_ok());
    }

    #[test]
    fn only_what_the_cluster_made_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path().join("cluster"));
        drop(folder.lock().unwrap());
        fs::create_dir(folder.logs()).unwrap();
        fs::write(folder.path().join("mine.txt"), "x").unwrap();

        folder.clear(true).unwrap();
        assert!(folder.logs().exists());
        folder.clear(false).unwrap();

        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["mine.txt"]);
        fs::remove_file(folder.path().join("mine.txt")).unwrap();
        folder.clear(false).unwrap();
        assert!(!folder.path().exists());
    }

    #[test]
    fn a_damaged_state_is_told_and_an_absent_one_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path().to_owned());

        assert_eq!(folder.state().unwrap(), None);
        fs::write(dir.path().join(STATE), "{").unwrap();
        assert!(folder.state().unwrap_err().to_string().contains("damaged"));
    }
}
