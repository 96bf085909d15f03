//! The folders of one process: [`LocalDirs`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};
use xxhash_rust::xxh3::xxh3_64;

use super::error::{DiskError, FolderFailure};
use super::folder::Folder;
use super::orphans;
use super::temp_file::TempFile;

/// Number of locks, chosen by the hash of a file name, that writers of the same name take.
const NAME_LOCKS: usize = 64;

/// Local folders, one below each parent, that take files in turn.
///
/// A clone is the same folders. They are removed, with all that is in them, when the last clone, [`TempFile`] and file
/// made from it is dropped; after a crash, when another process uses the same parent. A folder that is full or fails is
/// left out for a while, with one warning.
///
/// ```
/// use std::io::Write;
/// use firesteel_storage::disk::LocalDirs;
///
/// # let parent = std::env::temp_dir().join(format!("doc-local-dirs-{}", std::process::id()));
/// let dirs = LocalDirs::create(&[parent.clone()], "my application")?;
/// let mut file = dirs.create_temp("block")?;
/// file.write_all(b"rows")?;
/// let path = file.persist_as("block_1")?;
///
/// assert_eq!(dirs.find("block_1"), Some(path.clone()));
/// drop(dirs);
/// assert!(!path.exists());
/// # std::fs::remove_dir(parent)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LocalDirs {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    folders: Vec<Folder>,
    /// How many files were placed.
    turn: AtomicU64,
    /// Makes the names of temporary files.
    temporary: AtomicU64,
    name_locks: [Mutex<()>; NAME_LOCKS],
}

impl LocalDirs {
    /// Makes a private folder below each of the `parents`, which are made too if need be.
    ///
    /// First removes the folders that dead processes left there. A parent that cannot be used is left out with a warning;
    /// only if none can is it an error.
    pub fn create(parents: &[PathBuf], app: &str) -> Result<Self, DiskError> {
        let mut folders = Vec::new();
        let mut failures = Vec::new();
        for parent in parents {
            for orphan in orphans::remove_orphans(parent) {
                tracing::info!(folder = %orphan.display(), "removed the folder of a dead process");
            }
            match orphans::claim(parent, app) {
                Ok((path, lock)) => folders.push(Folder::new(path, Some(lock))),
                Err(source) => failures.push(FolderFailure { folder: parent.clone(), source }),
            }
        }
        if folders.is_empty() {
            return Err(DiskError::NoFolder { failures });
        }
        for FolderFailure { folder, source } in &failures {
            tracing::warn!(folder = %folder.display(), error = %source, "local folder cannot be used");
        }
        Ok(Self::of(folders))
    }

    /// The folders of another process, to find its files in. They are neither locked nor removed.
    pub fn attach(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        Self::of(folders.into_iter().map(|path| Folder::new(path, None)).collect())
    }

    fn of(folders: Vec<Folder>) -> Self {
        let name_locks = [const { Mutex::new(()) }; NAME_LOCKS];
        let (turn, temporary) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { shared: Arc::new(Shared { folders, turn, temporary, name_locks }) }
    }

    /// The private folders: what another process [attaches](Self::attach) to.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.shared.folders.iter().map(Folder::path)
    }

    /// Where the file of this name is, if it is.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        check_name(name);
        self.shared.folders.iter().map(|folder| folder.path_of(name)).find(|path| path.exists())
    }

    /// Where the file of this name is, or else where it is to be written: in the next folder that can be used.
    ///
    /// The file is not made. Two calls for a name that has no file yet may give two places.
    pub fn place(&self, name: &str) -> Result<PathBuf, DiskError> {
        if let Some(path) = self.find(name) {
            return Ok(path);
        }
        self.shared.next_folder(|_, folder| folder.prepare(name))
    }

    /// Takes note that the file at `path`, which was [placed](Self::place) here, could not be written: its folder is left
    /// out for a while if it is to blame.
    pub fn failed(&self, path: &Path, error: &io::Error) {
        let folders = &self.shared.folders;
        if let Some(index) = folders.iter().position(|folder| path.starts_with(folder.path())) {
            self.shared.note(index, error);
        }
    }

    /// Makes an empty file with a name of its own that begins with `prefix`, in the next folder that can be used.
    pub fn create_temp(&self, prefix: &str) -> Result<TempFile, DiskError> {
        check_name(prefix);
        let number = self.shared.temporary.fetch_add(1, Ordering::Relaxed);
        let name = format!("temp_{prefix}_{number}");
        self.shared.next_folder(|index, folder| {
            let mut new = fs::OpenOptions::new();
            new.read(true).write(true).create_new(true);
            let (path, file) = folder.at(&name, |path| new.open(path))?;
            Ok(TempFile::new(file, path, Arc::clone(&self.shared), index))
        })
    }

    /// Removes the file of this name wherever it is; returns whether it was there.
    pub fn remove(&self, name: &str) -> Result<bool, DiskError> {
        check_name(name);
        self.shared.remove(name, |_| true)
    }

    /// Removes all files whose name `unwanted` picks, and returns how many they were.
    ///
    /// Goes through every folder: for a few large occasions, not for each file.
    pub fn remove_matching(&self, unwanted: impl Fn(&str) -> bool) -> Result<usize, DiskError> {
        let mut removed = 0;
        for folder in &self.shared.folders {
            for subfolder in entries(folder.path())?.filter(|path| path.is_dir()) {
                for path in entries(&subfolder)? {
                    let name = path.file_name().and_then(|name| name.to_str());
                    if name.is_some_and(&unwanted) {
                        removed += usize::from(remove_file(&path)?);
                    }
                }
            }
        }
        Ok(removed)
    }

    /// Keeps others who ask for the same name waiting until the guard is dropped.
    ///
    /// Holds only between clones of the same value. Never ask for a second name while holding one.
    pub fn hold(&self, name: &str) -> MutexGuard<'_, ()> {
        self.shared.name_locks[(xxh3_64(name.as_bytes()) as usize) % NAME_LOCKS].lock()
    }
}

impl Shared {
    /// Runs `attempt` on the folders in turn until one does not fail.
    fn next_folder<T>(&self, attempt: impl Fn(usize, &Folder) -> io::Result<T>) -> Result<T, DiskError> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let count = self.folders.len();
        let in_turn = |step: usize| (turn as usize).wrapping_add(step) % count;
        let (usable, resting): (Vec<usize>, Vec<usize>) =
            (0..count).map(in_turn).partition(|&index| self.folders[index].is_usable(turn));
        let mut failures = Vec::new();
        // Those that failed before come last: if nothing else is left, perhaps they are well again.
        for index in usable.into_iter().chain(resting) {
            let folder = &self.folders[index];
            match attempt(index, folder) {
                Ok(made) => return Ok(made),
                Err(source) => {
                    folder.note(&source, turn);
                    failures.push(FolderFailure { folder: folder.path().to_owned(), source });
                }
            }
        }
        Err(DiskError::NoFolder { failures })
    }

    pub(super) fn folder(&self, index: usize) -> &Folder {
        &self.folders[index]
    }

    /// Takes note that a file in a folder could not be written.
    pub(super) fn note(&self, index: usize, error: &io::Error) {
        self.folders[index].note(error, self.turn.load(Ordering::Relaxed));
    }

    /// Removes the file of this name from the folders whose index `from` picks.
    pub(super) fn remove(&self, name: &str, from: impl Fn(usize) -> bool) -> Result<bool, DiskError> {
        let mut removed = false;
        for (_, folder) in self.folders.iter().enumerate().filter(|(index, _)| from(*index)) {
            removed |= remove_file(&folder.path_of(name))?;
        }
        Ok(removed)
    }
}

/// A name that would leave its folder is a bug of ours, so there is no error for it.
pub(super) fn check_name(name: &str) {
    let leaves = name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']);
    assert!(!leaves, "`{name}` is no name for a local file");
}

fn remove_file(path: &Path) -> Result<bool, DiskError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(DiskError::new("remove", path, error)),
    }
}

/// What is in a folder; nothing if it is gone.
fn entries(folder: &Path) -> Result<impl Iterator<Item = PathBuf> + use<>, DiskError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => Some(entries),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(DiskError::new("list", folder, error)),
    };
    Ok(entries.into_iter().flatten().flatten().map(|entry| entry.path()))
}
