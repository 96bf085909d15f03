//! Opening files that may no longer be what was written: [`open_regular`].

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::OFlags;

/// Opens a file for reading, and fails if it is anything but a regular file.
///
/// To open a FIFO for reading is to wait for a writer, which may never come, so nothing waits here: what stands at `path`
/// is opened without waiting and looked at before it is read. Reading a regular file is not changed by that.
///
/// ```
/// # let folder = std::env::temp_dir();
/// let error = firesteel_storage::disk::open_regular(&folder).unwrap_err();
/// assert_eq!(error.to_string(), "it is a folder and not a file");
/// ```
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    let kind = if kind.is_dir() { "a folder" } else { "a FIFO or a device" };
    Err(io::Error::new(io::ErrorKind::InvalidData, format!("it is {kind} and not a file")))
}
