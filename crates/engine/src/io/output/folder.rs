//! The folder of an output as a whole: [`OutputFolder`].

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use futures_util::{StreamExt, TryStreamExt};
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use serde::{Deserialize, Serialize};

use crate::io::error::IoError;
use crate::io::list;
use crate::io::location::Location;
use crate::io::runtime;
use crate::io::stores::RemoteObject;

/// Holds what is being written; hidden from whoever reads the folder.
pub(super) const TEMPORARY: &str = "_temporary";

/// Says that the output is complete.
const SUCCESS: &str = "_SUCCESS";

/// How often the removal of a folder is tried while others still write into it.
const REMOVALS_MAX: usize = 5;

/// A folder that an output goes to; made once by the driver, then known to every task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutputFolder {
    location: Location,
}

impl OutputFolder {
    /// Makes the folder, and those it lies in; refuses a place where something is already.
    pub(crate) fn create(location: &Location) -> Result<Self, IoError> {
        if location.is_http() {
            return Err(IoError::ReadOnly { location: location.to_string() });
        }
        if list::look_up(location)?.is_some() {
            return Err(IoError::OutputExists { location: location.to_string() });
        }
        if let Location::Local(path) = location {
            create_local(location, Path::new(path))?;
        }
        Ok(Self { location: location.clone() })
    }

    /// A folder that is there already.
    pub(crate) fn existing(location: &Location) -> Self {
        Self { location: location.clone() }
    }

    /// Where the folder lies.
    pub(crate) fn location(&self) -> &Location {
        &self.location
    }

    /// Ends an output that is complete: removes what attempts left behind, then writes `_SUCCESS`.
    pub(crate) fn finish(&self) -> Result<(), IoError> {
        if matches!(self.location, Location::Local(_)) {
            remove_all(&self.location.join(TEMPORARY))?;
        }
        self.write_note(SUCCESS, "")
    }

    /// Writes a small file beside the parts, at once.
    pub(crate) fn write_note(&self, name: &str, text: &str) -> Result<(), IoError> {
        let note = self.location.join(name);
        match &note {
            Location::Local(path) => fs::write(path, text).map_err(|error| IoError::write(&note, error)),
            Location::Remote { store, key } => {
                let RemoteObject { store, key, .. } = RemoteObject::new(&note, store, key)?;
                let text = PutPayload::from(text.to_owned());
                runtime::block_on(async move { store.put(&key, text).await })?
                    .map_err(|error| IoError::write(&note, error))?;
                Ok(())
            }
        }
    }

    /// Gives the output up: removes the folder and all that is in it.
    ///
    /// A task that still writes finds its folder gone and fails.
    pub(crate) fn abort(&self) -> Result<(), IoError> {
        match &self.location {
            Location::Local(_) => remove_all(&self.location),
            Location::Remote { store, key } => {
                let RemoteObject { store, key, .. } = RemoteObject::new(&self.location, store, key)?;
                let removed = runtime::block_on(async move {
                    let keys = store.list(Some(&key)).map_ok(|object| object.location).boxed();
                    store.delete_stream(keys).try_for_each(|_| std::future::ready(Ok(()))).await
                })?;
                removed.map_err(|error| IoError::write(&self.location, error))
            }
        }
    }
}

fn create_local(location: &Location, path: &Path) -> Result<(), IoError> {
    let failed = |error| IoError::write(location, error);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    match fs::create_dir(path) {
        Ok(()) => fs::create_dir(path.join(TEMPORARY)).map_err(failed),
        // Somebody was faster, or a link that leads nowhere has the name.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(IoError::OutputExists { location: location.to_string() })
        }
        Err(error) => Err(failed(error)),
    }
}

fn remove_all(location: &Location) -> Result<(), IoError> {
    let Location::Local(path) = location else { return Ok(()) };
    let mut tries = 1;
    loop {
        match fs::remove_dir_all(path) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty && tries < REMOVALS_MAX => tries += 1,
            Err(error) => return Err(IoError::write(location, error)),
        }
    }
}
