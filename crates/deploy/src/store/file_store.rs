//! A store with one file for each object: [`FileStore`].

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use firesteel_scheduler::master::{ObjectName, StoredObject};

use super::{
    error::StoreError,
    file_name::{DAMAGED, UNFINISHED, file_name, is_object},
    form::{self, Compression},
    no_store::Store,
};

const LOCK: &str = ".lock";

const LOCK_ATTEMPTS_MAX: u32 = 20;

const LOCK_RETRY_DELAY: Duration = Duration::from_millis(25);

/// Keeps each object in a file of its own.
///
/// A file appears whole or not at all, and is on the disk before [`Store::persist`] returns. Only one master uses a
/// folder at a time; a second one is refused.
///
/// ```
/// use firesteel_deploy::store::{Compression, FileStore, Store};
/// use firesteel_scheduler::{deploy::{Grant, WorkerDescription}, master::StoredObject};
///
/// # let folder = tempfile::tempdir()?;
/// let mut store = FileStore::open(folder.path().join("recovery"), Compression::None)?;
/// let resources = Grant { cores: 4, memory_mib: 1024, ..Grant::default() };
/// let worker = WorkerDescription { id: "worker-1".into(), host: "h".into(), port: 7078, resources, page: None };
/// let object = StoredObject::Worker(worker);
///
/// store.persist(&object)?;
/// assert_eq!(store.load()?, [object.clone()]);
/// store.forget(&object.name())?;
/// assert_eq!(store.load()?, []);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileStore {
    folder: PathBuf,
    compression: Compression,
    /// Held, not used: the folder is ours as long as this.
    _lock: File,
}

impl FileStore {
    /// Uses `folder`, which is made with its parents if need be, and may be a link to one.
    pub fn open(folder: impl Into<PathBuf>, compression: Compression) -> Result<Self, StoreError> {
        let folder = folder.into();
        fs::create_dir_all(&folder).map_err(|source| failed("make the folder", &folder, source))?;
        let lock = lock(&folder)?;
        for path in list(&folder)? {
            let is_unfinished = name_of(&path).is_some_and(|name| name.starts_with(UNFINISHED));
            if is_unfinished {
                fs::remove_file(&path).map_err(|source| failed("remove", &path, source))?;
            }
        }
        Ok(Self { folder, compression, _lock: lock })
    }

    fn path(&self, name: &ObjectName) -> PathBuf {
        self.folder.join(file_name(&name.to_string()))
    }

    /// Makes the names in the folder as durable as the files.
    fn sync_folder(&self) -> Result<(), StoreError> {
        let synced = File::open(&self.folder).and_then(|folder| folder.sync_all());
        synced.map_err(|source| failed("sync", &self.folder, source))
    }

    fn write_new(&self, name: &ObjectName, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.path(name);
        let unfinished = self.folder.join(format!("{UNFINISHED}{}", file_name(&name.to_string())));
        let write = || -> io::Result<()> {
            let mut file = File::create(&unfinished)?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        let written = write().and_then(|()| name_once(&unfinished, &path));
        if written.is_err() {
            // What is left of it is removed at the next start at the latest.
            let _ = fs::remove_file(&unfinished);
        }
        match written {
            Ok(()) => self.sync_folder(),
            Err(source) if source.kind() == io::ErrorKind::AlreadyExists => {
                Err(StoreError::Exists { name: name.to_string(), path })
            }
            Err(source) => Err(failed("write", &path, source)),
        }
    }
}

impl Store for FileStore {
    fn persist(&mut self, object: &StoredObject) -> Result<(), StoreError> {
        let name = object.name();
        let bytes = form::encode(object, self.compression).map_err(|error| StoreError::NotSerializable {
            name: name.to_string(),
            reason: error.to_string(),
        })?;
        self.write_new(&name, &bytes)
    }

    fn forget(&mut self, name: &ObjectName) -> Result<(), StoreError> {
        let path = self.path(name);
        match fs::remove_file(&path) {
            Ok(()) => self.sync_folder(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(failed("remove", &path, source)),
        }
    }

    fn load(&mut self) -> Result<Vec<StoredObject>, StoreError> {
        let mut objects = Vec::new();
        for path in list(&self.folder)? {
            if !name_of(&path).is_some_and(|name| is_object(&name)) {
                continue;
            }
            let bytes = fs::read(&path).map_err(|source| failed("read", &path, source))?;
            match form::decode(&bytes) {
                Ok(object) => objects.push(object),
                Err(error) => set_aside(&path, &error),
            }
        }
        Ok(objects)
    }
}

/// Takes the folder for this master, for as long as the file stays open.
///
/// A process that a thread is just starting holds all files that this process had open until it runs its own program,
/// so a lock that was let go of a moment ago may still be held.
fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join(LOCK);
    let file = File::create(&path).map_err(|source| failed("make", &path, source))?;
    for _ in 0..LOCK_ATTEMPTS_MAX {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_RETRY_DELAY),
            Err(TryLockError::Error(source)) => return Err(failed("lock", &path, source)),
        }
    }
    Err(StoreError::InUse { folder: folder.to_owned() })
}

/// Gives a finished file its name, unless another has it.
fn name_once(unfinished: &Path, path: &Path) -> io::Result<()> {
    use rustix::{
        fs::{CWD, RenameFlags, renameat_with},
        io::Errno,
    };
    match renameat_with(CWD, unfinished, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        // Not every file system can do this in one step. One master uses the folder, so two steps are as good.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            if path.try_exists()? {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            fs::rename(unfinished, path)
        }
        Err(error) => Err(error.into()),
    }
}

/// A master must start even if one object is lost, and the name must be free for a new one.
fn set_aside(path: &Path, error: &io::Error) {
    tracing::error!(file = %path.display(), %error, "a stored object cannot be read and is left out");
    let mut damaged = path.to_owned();
    damaged.as_mut_os_string().push(DAMAGED);
    if let Err(error) = fs::rename(path, &damaged) {
        tracing::error!(file = %path.display(), %error, "cannot set a damaged file aside");
    }
}

/// The files in a folder. Others may keep folders of their own beside them, as a master does with its artifacts.
fn list(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|source| failed("list", folder, source))?;
    let is_folder = |path: &PathBuf| path.is_dir();
    let paths = entries.into_iter().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| !is_folder(path)).collect();
    paths.sort();
    Ok(paths)
}

fn name_of(path: &Path) -> Option<String> {
    path.file_name().and_then(|name| name.to_str()).map(str::to_owned)
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { action, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use firesteel_scheduler::{
        deploy::{Command, Grant, WorkerDescription},
        master::{DriverDescription, StoredDriver},
    };
    use firesteel_types::Timestamp;

    use super::*;

    fn worker(id: &str) -> StoredObject {
        let addresses = [("gpu".into(), ["0".into(), "1".into()].into())].into();
        let resources = Grant { cores: 4, memory_mib: 1 << 40, addresses };
        StoredObject::Worker(WorkerDescription {
            id: id.into(),
            host: "h".into(),
            port: 1,
            resources,
            page: None,
        })
    }

    fn driver(id: &str) -> StoredObject {
        let command = Command { program: "x".repeat(10_000), ..Command::default() };
        let description = DriverDescription {
            cores: 1,
            memory_mib: 1024,
            resources: [("gpu".into(), 1)].into(),
            supervise: true,
            command: Arc::new(command),
        };
        StoredObject::Driver(StoredDriver { id: id.into(), submitted: Timestamp(7), description })
    }

    fn open(folder: &Path) -> FileStore {
        FileStore::open(folder, Compression::None).unwrap()
    }

    /// Behaviours: MAST-026.
    #[test]
    fn what_is_stored_is_read_back_by_the_next_master_and_what_is_removed_is_not() {
        for compression in [Compression::None, Compression::Zstd] {
            let folder = tempfile::tempdir().unwrap();
            let mut store = FileStore::open(folder.path(), compression).unwrap();
            store.persist(&worker("w1")).unwrap();
            store.persist(&driver("d1")).unwrap();
            store.persist(&worker("w2")).unwrap();
            store.forget(&worker("w1").name()).unwrap();
            store.forget(&worker("never").name()).unwrap();
            drop(store);
            fs::create_dir(folder.path().join("artifacts")).unwrap();

            assert_eq!(open(folder.path()).load().unwrap(), [driver("d1"), worker("w2")]);
            let files = list(folder.path()).unwrap();
            let names: Vec<_> = files.iter().filter_map(|path| name_of(path)).collect();
            assert_eq!(names, [LOCK, "driver_d1", "worker_w2"], "one file for each object");
        }
    }

    /// Behaviours: MAST-026.
    #[test]
    fn compressed_files_are_smaller_and_live_beside_plain_ones() {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path()).persist(&driver("plain")).unwrap();
        let mut store = FileStore::open(folder.path(), Compression::Zstd).unwrap();
        store.persist(&driver("small")).unwrap();

        assert_eq!(store.load().unwrap(), [driver("plain"), driver("small")]);
        let len = |name| fs::metadata(folder.path().join(name)).unwrap().len();
        assert!(len("driver_small") * 10 < len("driver_plain"));
    }

    /// Behaviours: MAST-026.
    #[test]
    fn storing_a_name_twice_is_an_error_and_keeps_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path());
        store.persist(&worker("w1")).unwrap();
        let StoredObject::Worker(mut other) = worker("w1") else { unreachable!() };
        other.port = 2;

        let error = store.persist(&StoredObject::Worker(other)).unwrap_err();

        assert!(matches!(&error, StoreError::Exists { name, .. } if name == "worker_w1"), "{error}");
        assert_eq!(store.load().unwrap(), [worker("w1")]);
        store.forget(&worker("w1").name()).unwrap();
        store.persist(&worker("w1")).unwrap();
    }

    /// Behaviours: MAST-026.
    #[test]
    fn parents_are_made_and_a_link_is_as_good_as_a_folder() {
        let root = tempfile::tempdir().unwrap();
        let (real, link) = (root.path().join("a/b/c"), root.path().join("link"));
        open(&real).persist(&worker("w1")).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();

        let mut store = open(&link);
        store.persist(&worker("w2")).unwrap();

        assert_eq!(store.load().unwrap(), [worker("w1"), worker("w2")]);
        assert!(real.join("worker_w2").exists());
    }

    #[test]
    fn a_name_from_a_peer_cannot_leave_the_folder() {
        let root = tempfile::tempdir().unwrap();
        let mut store = open(&root.path().join("store"));

        store.persist(&worker("../../escaped")).unwrap();

        assert_eq!(store.load().unwrap(), [worker("../../escaped")]);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_second_master_is_refused_until_the_first_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let first = open(folder.path());

        let refused = FileStore::open(folder.path(), Compression::None).unwrap_err();
        assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
        drop(first);
        open(folder.path());
    }

    #[test]
    fn a_damaged_file_is_set_aside_and_an_unfinished_one_removed() {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path()).persist(&worker("w1")).unwrap();
        let whole = fs::read(folder.path().join("worker_w1")).unwrap();
        fs::write(folder.path().join("worker_w2"), &whole[..whole.len() / 2]).unwrap();
        fs::write(folder.path().join(".new-worker_w3"), "{").unwrap();

        let mut store = open(folder.path());

        assert_eq!(store.load().unwrap(), [worker("w1")]);
        assert!(folder.path().join("worker_w2.damaged").exists());
        assert!(!folder.path().join(".new-worker_w3").exists());
        store.persist(&worker("w2")).unwrap();
        assert_eq!(store.load().unwrap(), [worker("w1"), worker("w2")]);
    }
}
