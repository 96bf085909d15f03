//! A file on this machine in the staging folder of an output: [`LocalSink`].

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;

use super::folder::OutputFolder;
use super::staged::StagedContent;
use crate::error::IoError;
use crate::location::Location;

/// A file in the staging folder, which is removed unless it is closed.
#[derive(Debug)]
pub(super) struct LocalSink {
    file: File,
    path: PathBuf,
    staged_name: String,
    /// The name that it is to get, for errors.
    target: Location,
    sync: bool,
    is_closed: bool,
}

impl LocalSink {
    /// Begins the file. The staging folder must be there: one made anew after an abort would bring the output back.
    pub(super) fn create(
        folder: &OutputFolder,
        target: &Location,
        attempt: u64,
        sync: bool,
    ) -> Result<Self, IoError> {
        let staged_name = format!("{}-{attempt}", target.name());
        let staging = folder.staging();
        let path = PathBuf::from(staging.join(&staged_name).to_string());
        let file = File::create_new(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => IoError::not_shared(target, &staging),
            _ => IoError::write(target, error),
        })?;
        Ok(Self { file, path, staged_name, target: target.clone(), sync, is_closed: false })
    }

    /// A file on a disk without room, as the device `/dev/full` plays it.
    #[cfg(test)]
    pub(super) fn on_full_disk(target: &Location) -> Self {
        let file = File::options().write(true).open("/dev/full").expect("Linux has this device");
        let (path, staged_name) = (PathBuf::from("/nowhere/at/all"), String::new());
        Self { file, path, staged_name, target: target.clone(), sync: false, is_closed: false }
    }

    /// Leaves the file to the driver.
    pub(super) fn close(mut self) -> Result<StagedContent, IoError> {
        if self.sync {
            self.file.sync_all().map_err(|error| IoError::write(&self.target, error))?;
        }
        self.is_closed = true;
        Ok(StagedContent::Local { staged_name: std::mem::take(&mut self.staged_name) })
    }
}

impl Write for LocalSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LocalSink {
    fn drop(&mut self) {
        if !self.is_closed {
            // Gone already after an abort; else the driver removes it with the staging folder.
            let _ = fs::remove_file(&self.path);
        }
    }
}
