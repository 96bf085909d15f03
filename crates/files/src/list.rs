//! What is at a place, and what is in a folder: [`look_up`] and [`list`], for local and remote places alike.
//!
//! Links on this machine are followed. No patterns here, and no rule of what is hidden.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use super::cloud;
use super::error::IoError;
use super::location::Location;

/// What is found at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file of so many bytes.
    File { size: u64 },
    /// A folder, or a key with others below it.
    Folder,
    /// A device, pipe or socket, which has no size and is not read.
    Special,
}

/// One thing in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub location: Location,
    pub kind: Kind,
}

/// Says what is at a place, or `None` when there is nothing.
pub fn look_up(location: &Location) -> Result<Option<Kind>, IoError> {
    match location {
        Location::Local(path) => match fs::metadata(path) {
            Ok(metadata) => Ok(Some(kind_of(&metadata))),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(IoError::read(location, 0, error)),
        },
        Location::Remote { .. } => cloud::look_up(location),
    }
}

/// The folder above one, as the system finds it; `None` when `place` is no folder.
pub(crate) fn parent(place: &Location) -> Result<Option<Location>, IoError> {
    // Keys of a store have no `..`, which the store itself says.
    let Location::Local(path) = place else { return Ok(Some(place.join(".."))) };
    let outside = |path: &str| match path.rsplit_once('/') {
        Some(("", _)) | None => Location::Local("/".to_owned()),
        Some((above, _)) => Location::Local(above.to_owned()),
    };
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(Some(outside(path))),
        Ok(metadata) if metadata.is_symlink() => {
            let real = real_path(place)?.filter(|real| real.is_dir());
            Ok(real.and_then(|real| Some(outside(real.to_str()?))))
        }
        Ok(_) => Ok(None),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(IoError::read(place, 0, error)),
    }
}

/// A path on this machine without links; `None` on a store, or when there is nothing.
pub(crate) fn real_path(place: &Location) -> Result<Option<PathBuf>, IoError> {
    let Location::Local(path) = place else { return Ok(None) };
    match fs::canonicalize(path) {
        Ok(real) => Ok(Some(real)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(IoError::read(place, 0, error)),
    }
}

/// Lists what is directly in a folder, in the order of the names; a place that is no folder has nothing in it.
pub fn list(folder: &Location) -> Result<Vec<Entry>, IoError> {
    let mut entries = match folder {
        Location::Local(path) => list_local(folder, path)?,
        Location::Remote { .. } if folder.is_http() => {
            return Err(IoError::CannotList { location: folder.to_string() });
        }
        Location::Remote { .. } => cloud::list(folder)?,
    };
    entries.sort_unstable_by(|a, b| a.location.cmp(&b.location));
    Ok(entries)
}

fn kind_of(metadata: &fs::Metadata) -> Kind {
    if metadata.is_file() {
        Kind::File { size: metadata.len() }
    } else if metadata.is_dir() {
        Kind::Folder
    } else {
        Kind::Special
    }
}

/// A path through something that is not a folder leads nowhere, just like one through a missing folder.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn list_local(folder: &Location, path: &str) -> Result<Vec<Entry>, IoError> {
    let names = match fs::read_dir(path) {
        Ok(names) => names,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(IoError::read(folder, 0, error)),
    };
    let mut entries = Vec::new();
    for entry in names {
        let entry = entry.map_err(|error| IoError::read(folder, 0, error))?;
        let name = entry.file_name().into_string().map_err(|name| IoError::BadLocation {
            location: folder.join(&name.to_string_lossy()).to_string(),
            reason: "its name is not UTF-8".to_owned(),
        })?;
        let location = folder.join(&name);
        // Gone since the folder was read, or a link that leads nowhere: not there.
        let Some(kind) = look_up(&location)? else { continue };
        entries.push(Entry { location, kind });
    }
    Ok(entries)
}
