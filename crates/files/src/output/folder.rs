//! The folder of an output as a whole: [`OutputFolder`].

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::staged::{StagedContent, StagedFile};
use crate::cloud;
use crate::error::IoError;
use crate::list;
use crate::location::Location;

/// Holds what is being written; hidden from readers of the folder.
pub(crate) const TEMPORARY: &str = "_temporary";

/// Says that the output is complete.
pub const SUCCESS: &str = "_SUCCESS";

/// How often the removal of a folder is tried while others still write into it.
const REMOVALS_MAX: usize = 5;

/// A small file beside the parts of an output: its name, which begins with `_`, and its content.
pub type Note = (&'static str, String);

/// A folder that an output goes to; made once by the driver, then known to every task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputFolder {
    location: Location,
    /// Tells this output from others at the same place, before or after it: what their tasks still write is not ours.
    output_id: String,
}

impl OutputFolder {
    /// Makes the folder, and those it lies in; refuses a place where something is already.
    pub fn create(location: &Location) -> Result<Self, IoError> {
        if location.is_http() {
            return Err(IoError::ReadOnly { location: location.to_string() });
        }
        if list::look_up(location)?.is_some() {
            return Err(IoError::OutputExists { location: location.to_string() });
        }
        let folder = Self { location: location.clone(), output_id: new_output_id() };
        match location {
            Location::Local(path) => folder.create_local(Path::new(path))?,
            Location::Remote { .. } => cloud::folder::claim(&folder)?,
        }
        Ok(folder)
    }

    /// Where the folder lies.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// The name of this output among all that were ever written here.
    pub fn output_id(&self) -> &str {
        &self.output_id
    }

    /// The folder for files that are being written on this machine.
    pub(super) fn staging(&self) -> Location {
        self.location.join(TEMPORARY).join(self.output_id())
    }

    /// Gives exactly these files their names, writes `notes`, and last of all `_SUCCESS`. What other attempts have left
    /// is removed.
    ///
    /// After an error the output is to be aborted. A driver that dies on the way leaves some of the parts and no
    /// `_SUCCESS`.
    pub fn publish(&self, files: &[StagedFile], notes: &[Note]) -> Result<(), IoError> {
        match &self.location {
            Location::Local(_) => self.publish_local(files, notes),
            Location::Remote { .. } => cloud::folder::publish(self, files, notes),
        }
    }

    /// Gives the output up: removes the folder, all that is in it, and the files that were reported.
    ///
    /// A task that still writes finds its folder gone and fails, or leaves an upload that is never completed. Nothing
    /// is removed if the folder is not this output's any more.
    pub fn abort(&self, files: &[StagedFile]) -> Result<(), IoError> {
        match &self.location {
            Location::Local(_) if !Path::new(&self.staging().to_string()).exists() => Ok(()),
            Location::Local(_) => remove_all(&self.location),
            Location::Remote { .. } => cloud::folder::abort(self, files),
        }
    }

    fn create_local(&self, path: &Path) -> Result<(), IoError> {
        let failed = |error| IoError::write(&self.location, error);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        match fs::create_dir(path) {
            Ok(()) => fs::create_dir_all(self.staging().to_string()).map_err(failed),
            // Another output was faster, or a link that leads nowhere has the name.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(IoError::OutputExists { location: self.location.to_string() })
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn publish_local(&self, files: &[StagedFile], notes: &[Note]) -> Result<(), IoError> {
        let staging = self.staging();
        for file in files {
            let staged = match &file.content {
                StagedContent::Local { staged_name } => staging.join(staged_name),
                StagedContent::Upload { .. } | StagedContent::Empty => {
                    unreachable!("a file of a local folder is written locally")
                }
            };
            let target = self.location.join(&file.name);
            fs::rename(staged.to_string(), target.to_string()).map_err(|error| match error.kind() {
                ErrorKind::NotFound => IoError::not_shared(&target, &staged),
                _ => IoError::write(&target, error),
            })?;
        }
        let success = (SUCCESS, String::new());
        for (name, text) in notes.iter().chain([&success]) {
            let note = self.location.join(name);
            fs::write(note.to_string(), text).map_err(|error| IoError::write(&note, error))?;
        }
        // The output is whole now. What cannot be removed is hidden, and no reason to throw it away.
        if let Err(error) = remove_all(&self.location.join(TEMPORARY)) {
            tracing::warn!(%error, "could not remove what attempts had left of an output");
        }
        Ok(())
    }
}

/// A number that no other output has, whatever application or machine it is of.
fn new_output_id() -> String {
    let random = RandomState::new().hash_one(std::process::id());
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("{:x}-{random:x}", now.unwrap_or_default().as_nanos())
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
