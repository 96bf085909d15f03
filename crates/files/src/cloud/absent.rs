//! What stands for remote stores in a build without the feature `cloud`: the error that names it.

use std::io::{self, Read, Write};

use crate::error::IoError;
use crate::expand::HttpFile;
use crate::list::{Entry, Kind};
use crate::location::Location;
use crate::output::StagedContent;

/// Refuses a location that is not on this machine.
pub(crate) fn require(text: &str) -> Result<(), IoError> {
    Err(not_built(text))
}

/// Refuses an address, and shows it without the parts that may be secrets.
pub(crate) fn http_location(text: &str) -> Result<Location, IoError> {
    let (scheme, rest) = text.split_once("://").unwrap_or((text, ""));
    let address = rest.split(['?', '#']).next().unwrap_or(rest);
    let (host, key) = address.split_once('/').unwrap_or((address, ""));
    refused(&Location::Remote { store: format!("{scheme}://{host}"), key: key.to_owned() })
}

pub(crate) fn look_up(place: &Location) -> Result<Option<Kind>, IoError> {
    refused(place)
}

pub(crate) fn list(folder: &Location) -> Result<Vec<Entry>, IoError> {
    refused(folder)
}

pub(crate) fn http_file(file: &Location) -> Result<Option<HttpFile>, IoError> {
    refused(file)
}

pub(crate) fn open(file: &Location, _start: u64, _soft_end: u64) -> Result<Box<dyn Read + Send>, IoError> {
    refused(file)
}

/// An upload, of which there is none.
pub(crate) struct RemoteSink(Never);

enum Never {}

impl RemoteSink {
    pub(crate) fn new(file: &Location) -> Result<Self, IoError> {
        refused(file)
    }

    pub(crate) fn close(self) -> Result<StagedContent, IoError> {
        match self.0 {}
    }
}

impl Write for RemoteSink {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {}
    }
}

pub(crate) mod folder {
    //! The folder of an output on a remote store.

    use super::refused;
    use crate::error::IoError;
    use crate::output::{Note, OutputFolder, StagedFile};

    pub(crate) fn claim(folder: &OutputFolder) -> Result<(), IoError> {
        refused(folder.location())
    }

    pub(crate) fn publish(folder: &OutputFolder, _: &[StagedFile], _: &[Note]) -> Result<(), IoError> {
        refused(folder.location())
    }

    pub(crate) fn abort(folder: &OutputFolder, _: &[StagedFile]) -> Result<(), IoError> {
        refused(folder.location())
    }
}

fn refused<T>(place: &Location) -> Result<T, IoError> {
    Err(not_built(&place.to_string()))
}

fn not_built(location: &str) -> IoError {
    IoError::NotBuilt { location: location.to_owned(), what: "cloud storage", feature: "cloud" }
}
