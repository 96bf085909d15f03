//! A worker's artifacts: [`Cache`].

use std::{
    fs,
    io::{self, Read},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use firesteel_scheduler::deploy::{Artifact, ContentHash};
use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex};

use super::{content_folder::ContentFolder, error::ArtifactError};

/// Keeps artifacts by their content, each fetched once however many processes start at the same time.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: ContentFolder,
    flights: Mutex<HashMap<ContentHash, Arc<Flight>>>,
}

/// One fetch, and those who wait for it.
#[derive(Debug, Default)]
struct Flight {
    landed: Mutex<Option<Result<PathBuf, ArtifactError>>>,
    arrival: Condvar,
}

impl Cache {
    pub(crate) fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        Ok(Self { folder: ContentFolder::open(path)?, flights: Mutex::default() })
    }

    /// Where the artifact is. When it is not here, `fetch` gives something to read it from; others who want the same
    /// meanwhile wait, and get the same answer.
    pub(crate) fn get<'a>(
        &self,
        artifact: &Artifact,
        fetch: impl FnOnce() -> Result<Box<dyn Read + 'a>, ArtifactError>,
    ) -> Result<PathBuf, ArtifactError> {
        let Artifact { sha256, len, .. } = *artifact;
        let flight = {
            let mut flights = self.flights.lock();
            if let Some(flight) = flights.get(&sha256).cloned() {
                drop(flights);
                return flight.wait();
            }
            if let Some(path) = self.folder.find(&sha256, len) {
                return Ok(path);
            }
            let flight = Arc::new(Flight::default());
            flights.insert(sha256, flight.clone());
            flight
        };
        let landing = Landing { cache: self, sha256, flight: &flight };
        let fetched = fetch().and_then(|mut body| self.folder.receive(&sha256, len, &mut *body));
        landing.land(fetched)
    }

    /// Removes what no process has wanted for `age`. Those that have a link to it keep it.
    pub(crate) fn sweep(&self, age: Duration) {
        self.folder.sweep(age, |_| false);
    }
}

impl Flight {
    fn wait(&self) -> Result<PathBuf, ArtifactError> {
        let mut landed = self.landed.lock();
        loop {
            if let Some(result) = &*landed {
                return result.clone();
            }
            self.arrival.wait(&mut landed);
        }
    }
}

/// Ends a flight in any case: a task that waits for it must not wait for ever because a fetch panicked.
struct Landing<'a> {
    cache: &'a Cache,
    sha256: ContentHash,
    flight: &'a Flight,
}

impl Landing<'_> {
    fn land(self, result: Result<PathBuf, ArtifactError>) -> Result<PathBuf, ArtifactError> {
        *self.flight.landed.lock() = Some(result.clone());
        result
    }
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        self.cache.flights.lock().remove(&self.sha256);
        self.flight.landed.lock().get_or_insert(Err(ArtifactError::Cancelled));
        self.flight.arrival.notify_all();
    }
}

/// Puts a cached file into the folder of a process under `name`, in place of what has that name.
pub(crate) fn place(cached: &Path, folder: &Path, name: &str) -> Result<PathBuf, ArtifactError> {
    let path = folder.join(name);
    let put = || -> io::Result<()> {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        // A link to the file itself outlives the cache; where file systems differ, one to its name has to do.
        fs::hard_link(cached, &path).or_else(|_| symlink(cached, &path))
    };
    put().map_err(|error| ArtifactError::local(&path, error))?;
    Ok(path)
}
