//! A folder of files named by the hash of their content: [`ContentFolder`].

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use firesteel_scheduler::deploy::ContentHash;

use super::{
    error::ArtifactError,
    hash::{CHUNK_BYTES, Hasher},
};

/// What the names of unfinished files begin with; the number of the process that writes them follows.
const UNFINISHED: &str = ".new-";

/// Readable and executable for all, writable for none: all users of a content share one file.
const MODE: u32 = 0o555;

/// Numbers the unfinished files of this process, of all its folders.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A folder in which a file has its name only when its content is whole and verified.
///
/// Several processes may use one folder.
#[derive(Debug)]
pub(super) struct ContentFolder {
    path: PathBuf,
}

impl ContentFolder {
    /// Uses `path`, which is made if need be. Removes what dead processes left unfinished.
    pub(super) fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        fs::create_dir_all(&path)?;
        for entry in fs::read_dir(&path)?.flatten() {
            let name = entry.file_name();
            let writer = name.to_str().and_then(writer_of);
            if writer.is_some_and(|pid| !is_running(pid)) {
                // Another worker may clean at the same time.
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(Self { path })
    }

    /// Where the content is, if it is here. Counts as a use.
    pub(super) fn find(&self, sha256: &ContentHash, len: u64) -> Option<PathBuf> {
        let path = self.path.join(sha256.to_string());
        let found = fs::metadata(&path).is_ok_and(|metadata| metadata.is_file() && metadata.len() == len);
        if found {
            let used = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
            if let Err(error) = used {
                // Only its age is wrong: at worst it is fetched once more.
                tracing::debug!(file = %path.display(), %error, "cannot note the use of an artifact");
            }
        }
        found.then_some(path)
    }

    /// Opens the content of a hash, of any length.
    pub(super) fn open_file(&self, sha256: &ContentHash) -> Option<(File, u64)> {
        let file = File::open(self.path.join(sha256.to_string())).ok()?;
        let len = file.metadata().ok()?.len();
        Some((file, len))
    }

    /// Reads `len` bytes from `body` and keeps them if they have the hash.
    pub(super) fn receive(
        &self,
        sha256: &ContentHash,
        len: u64,
        body: &mut dyn Read,
    ) -> Result<PathBuf, ArtifactError> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.path.join(format!("{UNFINISHED}{}-{number}", process::id()));
        let received = write_verified(&unfinished, sha256, len, body).and_then(|()| {
            let path = self.path.join(sha256.to_string());
            // A concurrent fetch that was faster has put the same content there.
            fs::rename(&unfinished, &path).map_err(|error| ArtifactError::local(&path, error))?;
            Ok(path)
        });
        if received.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        received
    }

    /// Removes what was not used for `age` and what `is_needed` does not hold.
    pub(super) fn sweep(&self, age: Duration, is_needed: impl Fn(&ContentHash) -> bool) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let sha256 = entry.file_name().to_str().and_then(|name| name.parse::<ContentHash>().ok());
            let used = entry.metadata().and_then(|metadata| metadata.modified());
            let is_old = used.is_ok_and(|used| used.elapsed().is_ok_and(|since| since >= age));
            if is_old && sha256.is_some_and(|sha256| !is_needed(&sha256)) {
                match fs::remove_file(entry.path()) {
                    Ok(()) => tracing::debug!(file = %entry.path().display(), "removed an old artifact"),
                    Err(error) => {
                        tracing::warn!(file = %entry.path().display(), %error, "cannot remove an artifact");
                    }
                }
            }
        }
    }
}

fn write_verified(
    path: &Path,
    sha256: &ContentHash,
    len: u64,
    body: &mut dyn Read,
) -> Result<(), ArtifactError> {
    let local = |error| ArtifactError::local(path, error);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(local)?;
    let mut hasher = Hasher::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut left = len;
    while left > 0 {
        let want = usize::try_from(left).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        match body.read(&mut chunk[..want]) {
            Ok(0) => return Err(ArtifactError::WrongLength { expected: len, actual: len - left }),
            Ok(read) => {
                hasher.update(&chunk[..read]);
                file.write_all(&chunk[..read]).map_err(local)?;
                left -= read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ArtifactError::broken(error)),
        }
    }
    let (actual, _) = hasher.finish();
    if actual != *sha256 {
        return Err(ArtifactError::WrongHash { expected: *sha256, actual });
    }
    // On the disk before it has its name: a machine that crashes must not keep half of it.
    file.sync_data().map_err(local)?;
    file.set_permissions(fs::Permissions::from_mode(MODE)).map_err(local)
}

/// The process that wrote an unfinished file.
fn writer_of(name: &str) -> Option<i32> {
    name.strip_prefix(UNFINISHED)?.split('-').next()?.parse().ok()
}

fn is_running(pid: i32) -> bool {
    // Any answer but "no such process" means that it may be.
    rustix::process::Pid::from_raw(pid)
        .is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}
