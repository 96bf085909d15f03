//! What the tests of shuffle files share.

use std::fs;
use std::path::{Path, PathBuf};

use firesteel_types::{AttemptId, PartitionId, ShuffleId};
use tempfile::{TempDir, tempdir};

use crate::codec::Compression;
use crate::disk::LocalDirs;
use crate::shuffle::files::*;

pub(super) type Row = (String, u64);

pub(super) const SHUFFLE: ShuffleId = ShuffleId(1);
pub(super) const MAP: PartitionId = PartitionId(4);

/// Local folders of a test; gone with it.
pub(super) struct Disk {
    pub(super) dirs: LocalDirs,
    _root: TempDir,
}

impl Disk {
    pub(super) fn new() -> Self {
        let root = tempdir().unwrap();
        let parents = [root.path().join("a"), root.path().join("b")];
        Self { dirs: LocalDirs::create(&parents, "test").unwrap(), _root: root }
    }

    pub(super) fn writer(&self, partitions: u32, compression: Compression) -> MapOutputWriter {
        MapOutputWriter::new(&self.dirs, SHUFFLE, MAP, partitions, compression, AttemptId(0))
    }

    /// Commits blocks of rows, each for its reduce partition, as the output of [`MAP`].
    pub(super) fn commit(&self, partitions: u32, blocks: &[(u32, Vec<Row>)]) -> Committed {
        let mut writer = self.writer(partitions, Compression::Lz4);
        for (reduce, rows) in blocks {
            write_block(&mut writer, *reduce, rows);
        }
        writer.commit().unwrap()
    }

    pub(super) fn open(&self) -> Result<MapOutputFile, ShuffleFileError> {
        MapOutputFile::open(&self.dirs, SHUFFLE, MAP)
    }

    pub(super) fn data_path(&self) -> PathBuf {
        self.dirs.find("shuffle_1_4.data").unwrap()
    }

    pub(super) fn index_path(&self) -> PathBuf {
        self.dirs.find("shuffle_1_4.index").unwrap()
    }

    /// The names of all files, apart from locks.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.dirs.folders().flat_map(files_below).collect();
        names.sort();
        names
    }
}

fn files_below(folder: &Path) -> Vec<String> {
    let sub_folders = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = sub_folders.filter(|path| path.is_dir()).flat_map(|path| fs::read_dir(path).unwrap());
    files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

pub(super) fn write_block(writer: &mut MapOutputWriter, reduce: u32, rows: &[Row]) {
    writer.start(PartitionId(reduce));
    let mut out = writer.rows();
    out.extend(rows).unwrap();
    out.finish().unwrap();
}

pub(super) fn spill(dirs: &LocalDirs, compression: Compression, blocks: &[(u32, Vec<Row>)]) -> SpillFile {
    let mut spill = SpillWriter::new(dirs, compression);
    for (partition, rows) in blocks {
        spill.start(*partition);
        let mut out = spill.rows();
        out.extend(rows).unwrap();
        out.finish().unwrap();
    }
    spill.finish().unwrap()
}

/// Some rows that tell where they are from.
pub(super) fn rows(from: &str, count: u64) -> Vec<Row> {
    (0..count).map(|number| (format!("{from} {number}"), number)).collect()
}

/// The rows of a block, or what is wrong with it.
pub(super) fn read(range: &FileRange) -> Result<Vec<Row>, ShuffleFileError> {
    range.rows().collect::<Result<_, _>>().map_err(|error| range.diagnose(error))
}

pub(super) fn read_block(file: &MapOutputFile, reduce: u32) -> Vec<Row> {
    file.block(PartitionId(reduce)).map_or_else(Vec::new, |block| read(&block).unwrap())
}

/// Changes a file as a broken disk would.
pub(super) fn damage(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}
