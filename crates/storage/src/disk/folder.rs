//! One private folder, and whether it can be used at present: [`Folder`].

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use super::error::blames_folder;

/// Files lie in so many sub-folders, since large folders are slow on some file systems.
const SUBFOLDERS: u64 = 64;

/// A folder that failed is tried again after this many files were placed elsewhere.
const RETRY_AFTER_FILES: u64 = 64;

/// A folder is well again when it takes this many bytes: a full disk still takes an empty file.
const PROBE_BYTES: usize = 64 * 1024;

/// One of the folders of a process.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    health: Mutex<Health>,
    /// Held, not used: the folder lives as long as this. A folder of another process has none here.
    lock: Option<File>,
}

#[derive(Clone, Copy, Debug)]
enum Health {
    Good,
    /// Failed when so many files had been placed.
    Failed {
        at: u64,
    },
}

impl Folder {
    pub(super) fn new(path: PathBuf, lock: Option<File>) -> Self {
        Self { path, health: Mutex::new(Health::Good), lock }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where a file of this name is, if it is in this folder.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(subfolder(name)).join(name)
    }

    /// Does something at the place of a file of this name. The sub-folder is made only when it turns out to be missing,
    /// which is seldom.
    pub(super) fn at<T>(&self, name: &str, act: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
        let path = self.path_of(name);
        let done = match act(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => act(&self.prepare(name)?)?,
            done => done?,
        };
        Ok((path, done))
    }

    /// Where a file of this name is, if it is in this folder, and the sub-folder is there.
    pub(super) fn prepare(&self, name: &str) -> io::Result<PathBuf> {
        let subfolder = self.path.join(subfolder(name));
        match fs::create_dir(&subfolder) {
            Ok(()) => (),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            Err(error) => return Err(error),
        }
        Ok(subfolder.join(name))
    }

    /// Whether a file may be placed here, the `turn`th of all. Tries a failed folder again after a rest.
    pub(super) fn is_usable(&self, turn: u64) -> bool {
        let mut health = self.health.lock();
        let Health::Failed { at } = *health else { return true };
        if turn.saturating_sub(at) < RETRY_AFTER_FILES {
            return false;
        }
        match self.probe() {
            Ok(()) => {
                tracing::info!(folder = %self.path.display(), "local folder can be used again");
                *health = Health::Good;
                true
            }
            Err(_) => {
                *health = Health::Failed { at: turn };
                false
            }
        }
    }

    fn probe(&self) -> io::Result<()> {
        let path = self.path.join("probe");
        let written = File::create(&path).and_then(|mut file| file.write_all(&vec![0; PROBE_BYTES]));
        let removed = fs::remove_file(&path);
        written.and(removed)
    }

    /// Takes note of a failure at the time of the `turn`th file. Warns when it is the first in a row.
    pub(super) fn note(&self, error: &io::Error, turn: u64) {
        if !blames_folder(error) {
            return;
        }
        let before = std::mem::replace(&mut *self.health.lock(), Health::Failed { at: turn });
        if matches!(before, Health::Good) {
            tracing::warn!(folder = %self.path.display(), %error, "local folder failed; it is avoided for a while");
        }
    }
}

/// Removes the folder if it is ours; not what links in it point to.
impl Drop for Folder {
    fn drop(&mut self) {
        if self.lock.is_none() {
            return;
        }
        match fs::remove_dir_all(&self.path) {
            Ok(()) => (),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (),
            Err(error) => {
                tracing::warn!(folder = %self.path.display(), %error, "cannot remove the local folder");
            }
        }
    }
}

/// The same in every process, so that another one finds a file as well.
fn subfolder(name: &str) -> String {
    format!("{:02x}", xxh3_64(name.as_bytes()) % SUBFOLDERS)
}
