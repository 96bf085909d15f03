//! The output of a map task, as readers find it: [`MapOutputFile`].

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use firesteel_types::{PartitionId, ShuffleId};

use super::error::{Damage, ShuffleFileError};
use super::index::Index;
use super::range::FileRange;
use super::summary::Summary;
use crate::codec::ContentSum;
use crate::disk::{LocalDirs, open_regular};

/// The committed output of one map task: its index, and its data file, open.
///
/// May be kept and used by many threads; blocks that were taken from it can be read after it is gone.
#[derive(Debug)]
pub struct MapOutputFile {
    index: Index,
    /// None if every block is empty.
    data: Option<(Arc<File>, Arc<Path>)>,
}

impl MapOutputFile {
    /// One that has just been written.
    pub(super) fn new(index: Index, data: Option<(Arc<File>, Arc<Path>)>) -> Self {
        Self { index, data }
    }

    /// Finds the output of map task `map`, and makes sure that index and data belong together.
    ///
    /// The data itself is verified as it is read.
    pub fn open(dirs: &LocalDirs, shuffle: ShuffleId, map: PartitionId) -> Result<Self, ShuffleFileError> {
        let missing = |part| ShuffleFileError::Missing { part, shuffle, map };
        let path = dirs.find(&index_name(shuffle, map)).ok_or_else(|| missing("index"))?;
        let mut bytes = Vec::new();
        let read = open_regular(&path).and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(|error| gone_or(error, &path, missing("index")))?;
        let index = Index::decode(&bytes)
            .map_err(|reason| ShuffleFileError::Damaged { path, damage: Damage::Index { reason } })?;
        if index.data_bytes() == 0 {
            return Ok(Self { index, data: None });
        }
        let path = dirs.find(&data_name(shuffle, map)).ok_or_else(|| missing("data"))?;
        let opened = open_regular(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (actual, file) = opened.map_err(|error| gone_or(error, &path, missing("data")))?;
        let expected = index.data_bytes();
        if actual != expected {
            return Err(ShuffleFileError::Damaged { path, damage: Damage::Length { expected, actual } });
        }
        Ok(Self { index, data: Some((Arc::new(file), path.into())) })
    }

    /// How many reduce partitions there are.
    pub fn partitions(&self) -> u32 {
        self.index.partitions()
    }

    /// Which run of the task made it; of two, the higher one came later.
    pub fn generation(&self) -> u64 {
        self.index.origin().generation
    }

    /// The sum of its rows in any order, where one was made.
    pub fn content_sum(&self) -> Option<ContentSum> {
        self.index.origin().content
    }

    /// The bytes of each block.
    pub fn lengths(&self) -> Vec<u64> {
        (0..self.partitions()).map(|reduce| self.index.block(reduce).1.checksum.bytes()).collect()
    }

    /// The block for a reduce partition; `None` if it is empty. Panics if there is no such partition.
    pub fn block(&self, reduce: PartitionId) -> Option<FileRange> {
        self.range(reduce.0..reduce.0 + 1)
    }

    /// The blocks of consecutive reduce partitions as one, which they are; `None` if all are empty.
    ///
    /// Panics if there are no such partitions.
    pub fn range(&self, reduces: Range<u32>) -> Option<FileRange> {
        let known = reduces.end <= self.partitions();
        assert!(known, "partitions {reduces:?} of {} partitions", self.partitions());
        let (file, path) = self.data.as_ref()?;
        let offset = self.index.block(reduces.start).0;
        let mut summary = Summary::default();
        for reduce in reduces {
            summary.append(self.index.block(reduce).1);
        }
        (summary.checksum.bytes() > 0)
            .then(|| FileRange::new(Arc::clone(file), Arc::clone(path), offset, summary))
    }

    /// Reads every block and compares its checksum.
    pub fn verify(&self) -> Result<(), ShuffleFileError> {
        (0..self.partitions())
            .filter_map(|reduce| self.block(PartitionId(reduce)))
            .try_for_each(|block| block.verify())
    }
}

/// Removes what a map task left.
pub fn remove_map_output(
    dirs: &LocalDirs,
    shuffle: ShuffleId,
    map: PartitionId,
) -> Result<(), ShuffleFileError> {
    let _held = dirs.hold(&index_name(shuffle, map));
    // The index first: without it there is no output.
    dirs.remove(&index_name(shuffle, map))?;
    dirs.remove(&data_name(shuffle, map))?;
    Ok(())
}

/// Removes all files of a shuffle and returns how many they were.
pub fn remove_shuffle(dirs: &LocalDirs, shuffle: ShuffleId) -> Result<usize, ShuffleFileError> {
    let prefix = format!("shuffle_{}_", shuffle.0);
    Ok(dirs.remove_matching(|name| name.starts_with(&prefix))?)
}

pub(super) fn data_name(shuffle: ShuffleId, map: PartitionId) -> String {
    format!("shuffle_{}_{}.data", shuffle.0, map.0)
}

pub(super) fn index_name(shuffle: ShuffleId, map: PartitionId) -> String {
    format!("shuffle_{}_{}.index", shuffle.0, map.0)
}

/// A file that was removed between finding and opening it is missing like any other.
fn gone_or(source: io::Error, path: &Path, missing: ShuffleFileError) -> ShuffleFileError {
    match source.kind() {
        io::ErrorKind::NotFound => missing,
        _ => ShuffleFileError::Unreadable { path: path.to_owned(), source },
    }
}
