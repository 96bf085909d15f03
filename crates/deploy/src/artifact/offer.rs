//! The files that a driver gives to its executors: [`Offer`].

use std::{
    fs::File,
    io::{self, Seek},
    path::Path,
    sync::Arc,
};

use firesteel_scheduler::deploy::{Artifact, ArtifactKind, ArtifactSource, ContentHash};
use hashbrown::HashMap;
use parking_lot::RwLock;

use super::{hash::hash_reader, serve::Shelf};

/// Files of this process that others may have by their hash.
///
/// A file is opened when it is added and stays open, so that it can be had even after it was replaced, as a compiler
/// does with an executable that runs.
///
/// ```
/// use std::sync::Arc;
/// use firesteel_deploy::artifact::{Offer, Shelf};
/// use firesteel_scheduler::deploy::ArtifactKind;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("words.txt");
/// std::fs::write(&path, "to be")?;
/// let offer = Offer::default();
/// let artifact = offer.add(&path, "words.txt", ArtifactKind::File)?;
///
/// assert_eq!((artifact.name.as_str(), artifact.len), ("words.txt", 5));
/// assert!(offer.open(&artifact.sha256).is_some());
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Default)]
pub struct Offer {
    files: RwLock<HashMap<ContentHash, (Arc<File>, u64)>>,
}

impl Offer {
    /// Offers a file, to be called `name` where it is fetched to. The name must be that of a plain file.
    pub fn add(&self, path: impl AsRef<Path>, name: &str, kind: ArtifactKind) -> io::Result<Artifact> {
        let mut file = File::open(path.as_ref())?;
        if !file.metadata()?.is_file() {
            let text = format!("{} is not a file", path.as_ref().display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let (sha256, len) = hash_reader(&mut file)?;
        file.rewind()?;
        self.files.write().insert(sha256, (Arc::new(file), len));
        Ok(Artifact { name: name.to_owned(), sha256, len, kind, from: ArtifactSource::Driver })
    }
}

impl Shelf for Offer {
    fn open(&self, sha256: &ContentHash) -> Option<(Arc<File>, u64)> {
        self.files.read().get(sha256).cloned()
    }
}
