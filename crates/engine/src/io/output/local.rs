//! A file on this machine that is written under another name: [`LocalSink`].

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::file::Committed;
use super::folder::{OutputFolder, TEMPORARY};
use crate::io::error::IoError;
use crate::io::location::Location;

/// A file in the folder for temporaries, which is removed unless it is committed.
#[derive(Debug)]
pub(super) struct LocalSink {
    file: File,
    temporary: PathBuf,
    target: Location,
    sync: bool,
    bytes: u64,
}

impl LocalSink {
    /// Begins the file; its folder must be there, for a folder made anew after an abort would bring the output back.
    pub(super) fn create(
        folder: &OutputFolder,
        target: &Location,
        attempt: u64,
        sync: bool,
    ) -> Result<Self, IoError> {
        let temporary = folder.location().join(TEMPORARY).join(&format!("{}-{attempt}", target.name()));
        let temporary = PathBuf::from(temporary.to_string());
        let file = File::create_new(&temporary).map_err(|error| IoError::write(target, error))?;
        Ok(Self { file, temporary, target: target.clone(), sync, bytes: 0 })
    }

    /// A file on a disk without room, as the device `/dev/full` plays it.
    #[cfg(test)]
    pub(super) fn on_full_disk(target: &Location) -> Self {
        let file = File::options().write(true).open("/dev/full").expect("Linux has this device");
        let temporary = PathBuf::from("/nowhere/at/all");
        Self { file, temporary, target: target.clone(), sync: false, bytes: 0 }
    }

    /// Gives the file its name. A link, unlike a renaming, never replaces what has that name already.
    pub(super) fn commit(self) -> Result<Committed, IoError> {
        let committed = self.publish().map_err(|error| IoError::write(&self.target, error))?;
        Ok(if committed { Committed::Written { bytes: self.bytes } } else { Committed::KeptEarlier })
    }

    fn publish(&self) -> io::Result<bool> {
        if self.sync {
            self.file.sync_all()?;
        }
        let target = PathBuf::from(self.target.to_string());
        match fs::hard_link(&self.temporary, &target) {
            Ok(()) => (),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(error),
            // Not every file system has links. Then two attempts at the same moment replace one another.
            Err(_) if target.try_exists()? => return Ok(false),
            Err(_) => fs::rename(&self.temporary, &target)?,
        }
        if self.sync {
            sync_folder(&target)?;
        }
        Ok(true)
    }
}

impl Write for LocalSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LocalSink {
    fn drop(&mut self) {
        // Gone already after a renaming or an abort; else `finish` removes what cannot be removed here.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Has the disk confirm that the name is there.
fn sync_folder(target: &Path) -> io::Result<()> {
    match target.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
