//! The local folders of a process, made when something is first written: [`Disk`].

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use firesteel_storage::{
    block::BlockFiles,
    disk::{DiskError, LocalDirs},
};
use parking_lot::Mutex;

/// Folders for spilled rows, shuffle files and blocks. Most small applications never need them.
pub(crate) struct Disk {
    parents: Vec<PathBuf>,
    app: String,
    state: Mutex<State>,
}

enum State {
    Unused,
    Made(LocalDirs),
    /// The application is over.
    Closed,
}

impl Disk {
    /// Folders in `parents`, later.
    pub(crate) fn new(parents: Vec<PathBuf>, app: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { parents, app: app.into(), state: Mutex::new(State::Unused) })
    }

    /// The folders, made now if need be.
    pub(crate) fn dirs(&self) -> Result<LocalDirs, DiskError> {
        let mut state = self.state.lock();
        match &*state {
            State::Made(dirs) => Ok(dirs.clone()),
            State::Closed => Err(DiskError::NoFolder { failures: Vec::new() }),
            State::Unused => {
                let dirs = LocalDirs::create(&self.parents, &self.app)?;
                *state = State::Made(dirs.clone());
                Ok(dirs)
            }
        }
    }

    /// Removes the folders, as soon as nobody reads a file in them.
    pub(crate) fn close(&self) {
        *self.state.lock() = State::Closed;
    }
}

impl BlockFiles for Disk {
    fn place(&self, name: &str) -> io::Result<PathBuf> {
        self.dirs().and_then(|dirs| dirs.place(name)).map_err(io::Error::other)
    }

    fn failed(&self, path: &Path, error: &io::Error) {
        if let State::Made(dirs) = &*self.state.lock() {
            dirs.failed(path, error);
        }
    }
}
