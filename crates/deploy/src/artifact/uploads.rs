//! What clients have given to a master for the drivers that the cluster runs: [`Uploads`].

use std::{
    fs::File,
    io::{self, Read},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use firesteel_scheduler::deploy::ContentHash;

use super::{content_folder::ContentFolder, serve::Shelf};

/// A master's artifacts, in a folder that outlives it.
#[derive(Debug)]
pub(crate) struct Uploads {
    folder: ContentFolder,
    max_len: u64,
}

impl Uploads {
    pub(crate) fn open(path: impl Into<PathBuf>, max_len: u64) -> io::Result<Self> {
        Ok(Self { folder: ContentFolder::open(path)?, max_len })
    }

    /// Removes what no driver needs, unless it came so lately that its driver may be about to be submitted.
    pub(crate) fn sweep(&self, age: Duration, is_needed: impl Fn(&ContentHash) -> bool) {
        self.folder.sweep(age, is_needed);
    }
}

impl Shelf for Uploads {
    fn open(&self, sha256: &ContentHash) -> Option<(Arc<File>, u64)> {
        self.folder.open_file(sha256).map(|(file, len)| (Arc::new(file), len))
    }

    fn may_store(&self, sha256: &ContentHash, len: u64) -> Result<bool, String> {
        if len > self.max_len {
            return Err(format!("{len} bytes are more than the {} that a file may have", self.max_len));
        }
        Ok(self.folder.find(sha256, len).is_none())
    }

    fn store(&self, sha256: &ContentHash, len: u64, body: &mut dyn Read) -> Result<(), String> {
        self.folder.receive(sha256, len, body).map(|_| ()).map_err(|error| error.to_string())
    }
}
