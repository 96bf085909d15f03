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
use firesteel_types::settings;
use parking_lot::Mutex;

use crate::Conf;

/// Folders for spilled rows, shuffle files and blocks. Most small applications never need them.
pub(crate) struct Disk(Mutex<State>);

enum State {
    /// To be made below these.
    Unused {
        parents: Vec<PathBuf>,
        app: String,
    },
    Made(LocalDirs),
    /// The application is over.
    Closed,
}

impl Disk {
    /// Folders in `parents`, later.
    pub(crate) fn new(parents: Vec<PathBuf>, app: impl Into<String>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State::Unused { parents, app: app.into() })))
    }

    /// Folders below those that the settings name, later.
    pub(crate) fn below(conf: &Conf, app: &str) -> Arc<Self> {
        let parents = match conf.get(settings::LOCAL_DIR) {
            Some(list) => list.split(',').map(|folder| PathBuf::from(folder.trim())).collect(),
            None => vec![std::env::temp_dir()],
        };
        Self::new(parents, app)
    }

    /// Folders that a worker made, and will remove.
    pub(crate) fn of_worker(folders: Vec<PathBuf>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State::Made(LocalDirs::attach(folders)))))
    }

    /// The folders, made now if need be.
    pub(crate) fn dirs(&self) -> Result<LocalDirs, DiskError> {
        let mut state = self.0.lock();
        match &*state {
            State::Made(dirs) => Ok(dirs.clone()),
            State::Closed => Err(DiskError::NoFolder { failures: Vec::new() }),
            State::Unused { parents, app } => {
                let dirs = LocalDirs::create(parents, app)?;
                *state = State::Made(dirs.clone());
                Ok(dirs)
            }
        }
    }

    /// Removes the folders, as soon as no reader has a file in them.
    pub(crate) fn close(&self) {
        *self.0.lock() = State::Closed;
    }
}

impl BlockFiles for Disk {
    fn place(&self, name: &str) -> io::Result<PathBuf> {
        self.dirs().and_then(|dirs| dirs.place(name)).map_err(io::Error::other)
    }

    fn failed(&self, path: &Path, error: &io::Error) {
        if let State::Made(dirs) = &*self.0.lock() {
            dirs.failed(path, error);
        }
    }
}
