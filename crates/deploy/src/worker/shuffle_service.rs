//! Serves the shuffle files of executors, also of dead ones: [`ShuffleService`].

use std::{io::Read, path::PathBuf};

use firesteel_storage::{
    block::BlockId,
    disk::LocalDirs,
    shuffle::files::MapOutputFile,
    transfer::{BlockSource, Payload},
};
use firesteel_types::{AppId, ExecutorId, StorageLevel};

/// The shuffle files below a worker's local folders.
///
/// Whose files a client may have is settled before: it has proved that it knows the secret of the application. The
/// files themselves were written by the executor into folders that both know.
#[derive(Debug)]
pub(super) struct ShuffleService {
    pub(super) local_roots: Vec<PathBuf>,
}

impl ShuffleService {
    fn dirs(&self, app: &AppId, of: ExecutorId) -> LocalDirs {
        LocalDirs::attach(self.local_roots.iter().map(|root| root.join(app.as_str()).join(of.to_string())))
    }
}

impl BlockSource for ShuffleService {
    fn open(&self, app: &AppId, of: ExecutorId, id: &BlockId) -> Result<Payload, String> {
        let BlockId::Shuffle { shuffle, map, reduce } = *id else {
            return Err(format!("a worker serves shuffle files only, not {id}"));
        };
        if !app.is_plain_name() {
            return Err(format!("{app} cannot have files"));
        }
        let file =
            MapOutputFile::open(&self.dirs(app, of), shuffle, map).map_err(|error| error.to_string())?;
        if reduce.0 >= file.partitions() {
            return Err(format!(
                "{shuffle} has {} partitions, and {reduce} is none of them",
                file.partitions()
            ));
        }
        Ok(match file.block(reduce) {
            Some(range) => {
                let (file, offset, len) = (range.file().clone(), range.offset(), range.len());
                Payload::File { file, offset, len }
            }
            None => Payload::Many(Vec::new()),
        })
    }

    fn store(
        &self,
        _: &AppId,
        _: ExecutorId,
        id: &BlockId,
        _: StorageLevel,
        _: u64,
        _: &mut dyn Read,
    ) -> Result<(), String> {
        Err(format!("a worker stores no blocks, and so not {id}"))
    }
}
