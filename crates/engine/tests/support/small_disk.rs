//! Disks that are soon full: [`SmallDisk`].

use std::{path::Path, process::Command};

use tempfile::TempDir;

/// A file system of its own with very little room. Needs the right to mount.
pub(crate) struct SmallDisk(TempDir);

impl SmallDisk {
    /// None, with a word, where the system does not let us mount.
    pub(crate) fn mount(kilobytes: u32) -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let options = format!("size={kilobytes}k,mode=0700");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder.path()).output();
        match mounted {
            Ok(done) if done.status.success() => Some(Self(folder)),
            refused => {
                println!("skipped, since a small disk cannot be mounted: {refused:?}");
                None
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a task of a job that failed may still have a file open.
        let unmounted = Command::new("umount").arg("-l").arg(self.0.path()).status();
        assert!(
            unmounted.is_ok_and(|status| status.success()),
            "{} is still mounted",
            self.0.path().display()
        );
    }
}
