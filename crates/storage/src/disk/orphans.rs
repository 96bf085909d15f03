//! Private folders below a parent: how they are claimed, and how those of dead processes are found.
//!
//! A folder is alive as long as its process holds the lock on the file `lock` in it, and the system lets go of a lock
//! when the process dies, however it dies. The process that takes the lock of such a folder may remove it. A folder is not
//! locked yet at the moment it is made, so its maker looks again after locking, and takes another name if a cleaner was
//! faster. Folders lie beside those of users, whose names may begin alike: only names of our form are looked at, and a
//! folder without a lock is removed only while it is empty.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// What the names of all private folders begin with.
pub(super) const PREFIX: &str = "firesteel-";

/// How many hexadecimal digits they end with.
const DIGITS: usize = 16;

const LOCK_NAME: &str = "lock";

/// Only another process that cleans at this very moment can take a name away, so a second try nearly always succeeds.
const ATTEMPTS: usize = 8;

/// Makes a folder below `parent` that only this user may enter, and takes its lock.
pub(super) fn claim(parent: &Path, app: &str) -> io::Result<(PathBuf, File)> {
    fs::create_dir_all(parent)?;
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for _ in 0..ATTEMPTS {
        let path = parent.join(unpredictable_name(app));
        match fs::DirBuilder::new().mode(0o700).create(&path).and_then(|()| lock_new(&path)) {
            Ok(Some(lock)) => return Ok((path, lock)),
            Ok(None) => (),
            Err(error) if lost_race(&error) => last = error,
            Err(error) => {
                // Half a folder is worse than none; if this fails too, the next start cleans it.
                let _ = fs::remove_dir_all(&path);
                return Err(error);
            }
        }
    }
    Err(last)
}

/// Another process made or removed the same folder or lock meanwhile.
fn lost_race(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound)
}

/// The lock of a folder just made; `None` if a cleaner has it.
fn lock_new(folder: &Path) -> io::Result<Option<File>> {
    let lock = lock_options().create_new(true).open(folder.join(LOCK_NAME))?;
    Ok((try_lock(&lock)? && lock.metadata()?.nlink() > 0).then_some(lock))
}

fn lock_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    // A link in the place of the lock would make the owner of the folder choose what we open.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    options.read(true).write(true).mode(0o600).custom_flags(flags.cast_signed());
    options
}

fn try_lock(lock: &File) -> io::Result<bool> {
    match lock.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// A name that no other process can make before us: the seed comes from the system.
fn unpredictable_name(app: &str) -> String {
    let readable = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let app: String = app.chars().take(40).map(readable).collect();
    format!("{PREFIX}{app}-{:0DIGITS$x}", RandomState::new().hash_one(std::process::id()))
}

/// Whether [`unpredictable_name`] makes names like this one.
fn is_private_name(name: &str) -> bool {
    let digits = name.strip_prefix(PREFIX).and_then(|name| name.rsplit_once('-')).map(|(_, digits)| digits);
    digits.is_some_and(|digits| {
        digits.len() == DIGITS && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Removes the folders below `parent` whose processes are dead, and returns their paths.
///
/// Only folders of the same user, and never what a link points to. What cannot be removed stays, with a warning.
pub(super) fn remove_orphans(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let mut removed = Vec::new();
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(is_private_name);
        if !is_ours || !is_own_folder(&entry.path()) {
            continue;
        }
        match remove_if_dead(&entry.path()) {
            Ok(false) => (),
            Ok(true) => removed.push(entry.path()),
            Err(error) => {
                tracing::warn!(folder = %entry.path().display(), %error, "cannot remove a dead process's folder");
            }
        }
    }
    removed
}

fn is_own_folder(path: &Path) -> bool {
    // The link itself, not what it points to.
    fs::symlink_metadata(path)
        .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw())
}

fn remove_if_dead(folder: &Path) -> io::Result<bool> {
    let lock = match lock_options().open(folder.join(LOCK_NAME)) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return remove_if_empty(folder),
        Err(error) => return Err(error),
    };
    if !try_lock(&lock)? {
        return Ok(false);
    }
    match fs::remove_dir_all(folder) {
        Ok(()) => Ok(true),
        // Another process cleans as well.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A folder without a lock: left between its making and its locking, or not ours although its name looks so.
fn remove_if_empty(folder: &Path) -> io::Result<bool> {
    match fs::remove_dir(folder) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
