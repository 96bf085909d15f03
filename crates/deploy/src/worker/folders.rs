//! The folders of a worker: made, listed and removed.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use firesteel_scheduler::worker::DirListing;

use crate::clock::timestamp;

/// The folder of artifacts in the work folder.
pub(super) const CACHE: &str = "cache";

/// The folder of the worker's own things in the work folder.
pub(super) const OWN: &str = ".firesteel";

/// Where what is being removed waits, in the same file system as what it was part of.
const TRASH: &str = "trash";

/// Makes the folder of a process, and its local folders for the owner only. Gives those of the latter that were made.
pub(super) fn create(work_dir: &str, local_dirs: Vec<String>) -> io::Result<Vec<String>> {
    fs::create_dir_all(work_dir)?;
    let make = |dir: &String| match fs::DirBuilder::new().recursive(true).mode(0o700).create(dir) {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(folder = dir, %error, "a local folder cannot be made");
            false
        }
    };
    Ok(local_dirs.into_iter().filter(make).collect())
}

/// Moves a folder out of the way at once, and returns where it waits to be removed, which may take long.
pub(super) fn discard(dir: &Path, root: &Path) -> Option<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let trash = root.join(OWN).join(TRASH);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let place = trash.join(format!("{}-{number}", process::id()));
    match fs::create_dir_all(&trash).and_then(|()| fs::rename(dir, &place)) {
        Ok(()) => Some(place),
        Err(_) if !dir.exists() => None,
        Err(error) => {
            tracing::debug!(folder = %dir.display(), %error, "cannot move a folder to be removed");
            Some(dir.to_owned())
        }
    }
}

/// Removes a folder and all in it.
pub(super) fn remove(dir: &Path) {
    match fs::remove_dir_all(dir) {
        Ok(()) => tracing::debug!(folder = %dir.display(), "removed"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(folder = %dir.display(), %error, "cannot remove a folder"),
    }
}

/// What earlier workers did not get to remove. That of a worker that lives is removed twice, which does no harm.
pub(super) fn empty_trash(root: &Path) {
    let Ok(entries) = fs::read_dir(root.join(OWN).join(TRASH)) else { return };
    entries.flatten().for_each(|entry| remove(&entry.path()));
}

/// The folders of applications and drivers, each with the time of the newest thing in it.
pub(super) fn list(work_dir: &str) -> Vec<DirListing> {
    let Ok(entries) = fs::read_dir(work_dir) else { return Vec::new() };
    let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let listed = folders.filter_map(|folder| {
        let name = folder.file_name().into_string().ok()?;
        let is_app = name != CACHE && !name.starts_with('.');
        is_app.then(|| DirListing { newest: timestamp(newest(&folder.path())), name })
    });
    listed.collect()
}

/// When the newest thing in a folder was changed, itself included. Links are not followed.
fn newest(path: &Path) -> SystemTime {
    let Ok(metadata) = fs::symlink_metadata(path) else { return SystemTime::UNIX_EPOCH };
    let own = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    if !metadata.is_dir() {
        return own;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| newest(&entry.path())).fold(own, SystemTime::max)
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::PermissionsExt, time::Duration};

    use super::*;

    #[test]
    fn local_folders_are_for_the_owner_only_and_those_that_cannot_be_made_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("file"), "").unwrap();
        let text = |path: &str| root.path().join(path).to_str().unwrap().to_owned();

        let made = create(&text("work/app/0"), vec![text("a/app/executor-0"), text("file/app")]).unwrap();

        assert_eq!(made, [text("a/app/executor-0")]);
        assert_eq!(fs::metadata(&made[0]).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(create(&text("work/app/0"), made.clone()).unwrap(), made, "those that are there are fine");
        assert!(create(&text("file/app/0"), vec![]).is_err());
    }

    #[test]
    fn only_folders_of_applications_and_drivers_are_listed_with_their_newest_time() {
        let work = tempfile::tempdir().unwrap();
        for folder in ["app-1/0", "driver-1", "cache", ".firesteel/trash"] {
            fs::create_dir_all(work.path().join(folder)).unwrap();
        }
        fs::write(work.path().join("file"), "").unwrap();
        std::os::unix::fs::symlink("/", work.path().join("app-1/0/link")).unwrap();
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
        for path in ["driver-1", "app-1/0", "app-1"] {
            fs::File::open(work.path().join(path)).unwrap().set_modified(old).unwrap();
        }

        let mut listed = list(work.path().to_str().unwrap());
        listed.sort_by(|a, b| a.name.cmp(&b.name));

        let names: Vec<&str> = listed.iter().map(|dir| dir.name.as_str()).collect();
        assert_eq!(names, ["app-1", "driver-1"]);
        assert_eq!(listed[1].newest, timestamp(old));
        assert!(listed[0].newest > timestamp(old), "the link in it is new");
    }

    #[test]
    fn a_discarded_folder_is_gone_at_once_and_removed_later() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("app-1");
        fs::create_dir_all(dir.join("executor-0")).unwrap();

        let waits = discard(&dir, root.path()).unwrap();
        assert!(!dir.exists() && waits.join("executor-0").exists());
        assert_eq!(discard(&dir, root.path()), None);
        empty_trash(root.path());
        assert!(!waits.exists());
    }
}
