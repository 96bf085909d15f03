//! Writes the output of a map task: [`MapOutputWriter`].

use std::io::Write;

use firesteel_types::{AttemptId, PartitionId, ShuffleId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::ShuffleFileError;
use super::index::{Index, Origin};
use super::map_output_file::{MapOutputFile, data_name, index_name};
use super::partitioned::PartitionedFile;
use super::range::FileRange;
use super::summary::Summary;
use crate::codec::{Compression, ContentSum, FrameSink, Layout, RowsWriter};
use crate::disk::{LocalDirs, TempFile};

/// Writes the blocks of one map task, reduce partition by reduce partition, and [commits](Self::commit) them at once.
///
/// Until then there is nothing for others to see, and nothing is left if it is dropped. Several attempts of one task may
/// write at the same time; the first of a [generation](Self::of_generation) to commit wins.
///
/// ```
/// use firesteel_storage::codec::Compression;
/// use firesteel_storage::disk::LocalDirs;
/// use firesteel_storage::shuffle::files::{MapOutputFile, MapOutputWriter};
/// use firesteel_types::{AttemptId, PartitionId, ShuffleId};
///
/// # let parent = std::env::temp_dir().join(format!("doc-map-output-{}", std::process::id()));
/// # let dirs = LocalDirs::create(&[parent.clone()], "doc")?;
/// let (shuffle, map) = (ShuffleId(0), PartitionId(5));
/// let mut output = MapOutputWriter::new(&dirs, shuffle, map, 3, Compression::Lz4, AttemptId(17));
/// output.start(PartitionId(1));
/// let mut rows = output.rows();
/// rows.extend(&[(1_u64, 2_u64), (3, 4)])?;
/// rows.finish()?;
/// let committed = output.commit()?;
/// let lengths = committed.file.lengths();
/// assert_eq!((lengths[0], lengths[2]), (0, 0));
///
/// let file = MapOutputFile::open(&dirs, shuffle, map)?;
/// let block = file.block(PartitionId(1)).expect("it has rows");
/// assert_eq!(block.len(), lengths[1]);
/// assert_eq!(block.rows::<(u64, u64)>().count(), 2);
/// # drop((block, file, committed, dirs));
/// # std::fs::remove_dir(parent)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MapOutputWriter {
    dirs: LocalDirs,
    shuffle: ShuffleId,
    map: PartitionId,
    partitions: u32,
    origin: Origin,
    out: PartitionedFile,
}

/// What a map task left.
#[derive(Debug)]
pub struct Committed {
    /// The output that counts, as [`MapOutputFile::open`] finds it.
    pub file: MapOutputFile,
    /// Whether it is ours. If not, another attempt was faster, and its output is the one that counts.
    pub is_ours: bool,
}

impl MapOutputWriter {
    /// A writer for map task `map`, whose rows go to so many reduce partitions.
    pub fn new(
        dirs: &LocalDirs,
        shuffle: ShuffleId,
        map: PartitionId,
        partitions: u32,
        compression: Compression,
        attempt: AttemptId,
    ) -> Self {
        // Not `shuffle_…`: removing the shuffle must not take what is being written from under its writer.
        let prefix = format!("map_{}_{}_{}", shuffle.0, map.0, attempt.0);
        let out = PartitionedFile::new(dirs, prefix, compression);
        Self { dirs: dirs.clone(), shuffle, map, partitions, origin: Origin::default(), out }
    }

    /// Sets which run of the task this is; 0 by default.
    ///
    /// Attempts of one generation have the same input, so the first is as good as any other. A later generation may have
    /// had other input, and what is computed from it must not be mixed with what came before: it takes the place of an
    /// earlier one, and never the other way round.
    #[must_use]
    pub fn of_generation(mut self, generation: u64) -> Self {
        self.origin.generation = generation;
        self
    }

    /// Notes the sum of all rows, for those who compare two runs.
    pub fn set_content_sum(&mut self, sum: ContentSum) {
        self.origin.content = Some(sum);
    }

    /// Begins the block of a reduce partition, which must come after all that were begun before.
    pub fn start(&mut self, reduce: PartitionId) {
        assert!(reduce.0 < self.partitions, "{reduce} of {} partitions", self.partitions);
        self.out.start(reduce.0);
    }

    /// A writer of rows to the block. It must be finished before the next block begins.
    pub fn rows<T: Serialize + DeserializeOwned + 'static>(&mut self) -> RowsWriter<T, &mut Self> {
        RowsWriter::new(self)
    }

    /// Adds the bytes of a spilled block to the block, as they are: neither decoded nor compressed again.
    pub fn append(&mut self, range: &FileRange) -> Result<(), ShuffleFileError> {
        self.out.append(range)
    }

    /// The bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.out.bytes()
    }

    /// Makes the output visible, unless another attempt's of this or a later generation is already.
    ///
    /// A pair of files that do not belong together, or half a pair, or one whose bytes changed, is replaced: a task that
    /// runs again may do so because its output is damaged. Output without a row has no data file.
    pub fn commit(self) -> Result<Committed, ShuffleFileError> {
        let Self { dirs, shuffle, map, partitions, origin, out } = self;
        let (data, blocks) = out.finish()?;
        let (data_name, index_name) = (data_name(shuffle, map), index_name(shuffle, map));
        let _held = dirs.hold(&index_name);
        if let Ok(existing) = MapOutputFile::open(&dirs, shuffle, map)
            && existing.partitions() == partitions
            && existing.generation() >= origin.generation
            && existing.verify().is_ok()
        {
            return Ok(Committed { file: existing, is_ours: false });
        }
        let mut summaries = vec![Summary::default(); partitions as usize];
        for block in blocks {
            summaries[block.partition as usize] = block.summary;
        }
        let index = Index::new(&summaries, origin);
        let index_file = write_index(&dirs, &index)?;
        // A reader that finds an index trusts it, so an old one goes before the data changes, and ours comes after.
        dirs.remove(&index_name)?;
        let data = match data {
            Some(data) => Some((data.file().clone(), data.persist_as(&data_name)?.into())),
            None => {
                dirs.remove(&data_name)?;
                None
            }
        };
        index_file.persist_as(&index_name)?;
        Ok(Committed { file: MapOutputFile::new(index, data), is_ours: true })
    }
}

fn write_index(dirs: &LocalDirs, index: &Index) -> Result<TempFile, ShuffleFileError> {
    let mut file = dirs.create_temp("index")?;
    let written = file.write_all(&index.encode());
    written.map_err(|error| file.failed(error))?;
    Ok(file)
}

impl FrameSink for MapOutputWriter {
    type Error = ShuffleFileError;

    fn compression(&self) -> Compression {
        self.out.compression()
    }

    fn write_frame(&mut self, rows: u32, layout: Layout, raw: &[u8]) -> Result<(), ShuffleFileError> {
        self.out.write_frame(rows, layout, raw)
    }
}
