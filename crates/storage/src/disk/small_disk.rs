//! For tests: a disk that is full after a megabyte.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A file system of one megabyte in memory, mounted on a folder of its own until it is dropped.
pub(crate) struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// `None`, with a printed reason, where the system does not let us mount.
    #[expect(clippy::print_stderr, reason = "a test that proves less says so")]
    pub(crate) fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(folder.path()).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self { folder }),
            Ok(output) => {
                eprintln!("skipped: cannot mount: {}", String::from_utf8_lossy(&output.stderr).trim());
                None
            }
            Err(error) => {
                eprintln!("skipped: cannot run `mount`: {error}");
                None
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, so that a file still open cannot keep it mounted for ever.
        let _ = Command::new("umount").arg("-l").arg(self.folder.path()).output();
    }
}
