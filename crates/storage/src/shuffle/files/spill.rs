//! What a task puts aside when memory is short: [`SpillWriter`] and [`SpillFile`].

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::ShuffleFileError;
use super::partitioned::{Block, PartitionedFile};
use super::range::FileRange;
use crate::codec::{Compression, FrameSink, Layout, RowsWriter};
use crate::disk::{LocalDirs, TempFile};

/// Writes one spill: rows of partitions in ascending order. A sorted run is a spill of one partition.
///
/// The file is made when the first row is written, and is gone if the writer is dropped.
///
/// ```
/// use firesteel_storage::codec::Compression;
/// use firesteel_storage::disk::LocalDirs;
/// use firesteel_storage::shuffle::files::SpillWriter;
///
/// # let parent = std::env::temp_dir().join(format!("doc-spill-{}", std::process::id()));
/// # let dirs = LocalDirs::create(&[parent.clone()], "doc")?;
/// let mut spill = SpillWriter::new(&dirs, Compression::Lz4);
/// spill.start(3);
/// let mut rows = spill.rows();
/// rows.extend(&[("a".to_owned(), 1_u64), ("b".to_owned(), 2)])?;
/// rows.finish()?;
/// let file = spill.finish()?;
///
/// let block = file.block(3).expect("it has rows");
/// let rows: Result<Vec<(String, u64)>, _> = block.rows().collect();
/// assert_eq!(rows?[1], ("b".to_owned(), 2));
/// assert!(file.block(4).is_none());
/// # drop((file, dirs));
/// # std::fs::remove_dir(parent)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SpillWriter {
    out: PartitionedFile,
}

impl SpillWriter {
    /// A spill in the local folders.
    pub fn new(dirs: &LocalDirs, compression: Compression) -> Self {
        Self { out: PartitionedFile::new(dirs, "spill".to_owned(), compression) }
    }

    /// The same with a smaller buffer, where many spills are written at once.
    #[must_use]
    pub fn with_buffer(self, buffer_bytes: usize) -> Self {
        Self { out: self.out.with_buffer(buffer_bytes) }
    }

    /// Begins a partition, which must come after all that were begun before.
    pub fn start(&mut self, partition: u32) {
        self.out.start(partition);
    }

    /// A writer of rows to the partition. It must be finished before the next partition begins.
    pub fn rows<T: Serialize + DeserializeOwned + 'static>(&mut self) -> RowsWriter<T, &mut Self> {
        RowsWriter::new(self)
    }

    /// The bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.out.bytes()
    }

    /// The spill, ready to be read.
    pub fn finish(self) -> Result<SpillFile, ShuffleFileError> {
        let (file, blocks) = self.out.finish()?;
        let file = file.map(|file| (Arc::from(file.path()), file));
        Ok(SpillFile { file, blocks })
    }
}

impl FrameSink for SpillWriter {
    type Error = ShuffleFileError;

    fn compression(&self) -> Compression {
        self.out.compression()
    }

    fn write_frame(&mut self, rows: u32, layout: Layout, raw: &[u8]) -> Result<(), ShuffleFileError> {
        self.out.write_frame(rows, layout, raw)
    }
}

/// A spill. Its file is removed when this is dropped; ranges that are being read stay readable.
#[derive(Debug)]
pub struct SpillFile {
    file: Option<(Arc<Path>, TempFile)>,
    /// In ascending order of partitions.
    blocks: Vec<Block>,
}

impl SpillFile {
    /// The rows of a partition; `None` if it has none.
    pub fn block(&self, partition: u32) -> Option<FileRange> {
        let at = self.blocks.binary_search_by_key(&partition, |block| block.partition).ok()?;
        let (path, file) = self.file.as_ref()?;
        let Block { offset, summary, .. } = self.blocks[at];
        Some(FileRange::new(Arc::clone(file.file()), Arc::clone(path), offset, summary))
    }

    /// The partitions that have rows, in ascending order.
    pub fn partitions(&self) -> impl Iterator<Item = u32> {
        self.blocks.iter().map(|block| block.partition)
    }

    /// The bytes of all partitions.
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.summary.checksum.bytes()).sum()
    }
}
