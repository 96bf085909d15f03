//! A file of blocks, one for each partition in ascending order: what spills and map outputs have in common.

use std::io::{BufWriter, Write};
use std::mem::take;
use std::os::unix::fs::FileExt;

use super::error::ShuffleFileError;
use super::range::FileRange;
use super::summary::Summary;
use crate::codec::{ChecksumWriter, CodecError, Compression, FrameSink, FrameWriter, Layout};
use crate::disk::{LocalDirs, TempFile};

/// Small frames are written together.
const BUFFER_BYTES: usize = 64 * 1024;

/// From this length on, bytes are copied by the kernel: below, a call costs more than the copy.
const KERNEL_COPY_MIN: u64 = 256 * 1024;

/// A file that is being written. There is none as long as nothing was written.
#[derive(Debug)]
pub(super) struct PartitionedFile {
    dirs: LocalDirs,
    prefix: String,
    compression: Compression,
    buffer_bytes: usize,
    frames: Option<FrameWriter<Sink>>,
    current: Option<u32>,
    blocks: Vec<Block>,
    bytes: u64,
    /// Rows of the current partition, and their bytes before compression.
    rows: u64,
    raw_bytes: u64,
    /// For copies; kept from one to the next.
    buffer: Vec<u8>,
}

type Sink = ChecksumWriter<BufWriter<TempFile>>;

/// The bytes of one partition; never none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) partition: u32,
    pub(super) offset: u64,
    pub(super) summary: Summary,
}

impl PartitionedFile {
    pub(super) fn new(dirs: &LocalDirs, prefix: String, compression: Compression) -> Self {
        let dirs = dirs.clone();
        Self {
            dirs,
            prefix,
            compression,
            buffer_bytes: BUFFER_BYTES,
            frames: None,
            current: None,
            blocks: Vec::new(),
            bytes: 0,
            rows: 0,
            raw_bytes: 0,
            buffer: Vec::new(),
        }
    }

    /// Collects fewer bytes before it writes them.
    pub(super) fn with_buffer(self, buffer_bytes: usize) -> Self {
        Self { buffer_bytes, ..self }
    }

    /// What follows belongs to `partition`.
    pub(super) fn start(&mut self, partition: u32) {
        self.end();
        let ascending = self.current.is_none_or(|current| current < partition);
        assert!(ascending, "partition {partition} after {:?}", self.current);
        self.current = Some(partition);
    }

    fn end(&mut self) {
        let (Some(partition), Some(frames)) = (self.current, &mut self.frames) else { return };
        let checksum = frames.get_mut().take();
        if checksum.bytes() > 0 {
            let summary =
                Summary { checksum, rows: take(&mut self.rows), raw_bytes: take(&mut self.raw_bytes) };
            self.blocks.push(Block { partition, offset: self.bytes, summary });
            self.bytes += checksum.bytes();
        }
    }

    /// The bytes of all partitions up to now.
    pub(super) fn bytes(&self) -> u64 {
        let current = self.frames.as_ref().map_or(0, |frames| frames.get_ref().checksum().bytes());
        self.bytes + current
    }

    pub(super) fn compression(&self) -> Compression {
        self.compression
    }

    pub(super) fn write_frame(
        &mut self,
        rows: u32,
        layout: Layout,
        raw: &[u8],
    ) -> Result<(), ShuffleFileError> {
        self.rows += u64::from(rows);
        self.raw_bytes += raw.len() as u64;
        let frames = self.frames()?;
        frames.write_frame(rows, layout, raw).map_err(|error| match error {
            CodecError::Io { source } => file_of(frames).failed(source).into(),
            error => error.into(),
        })
    }

    /// Copies a block's frames as they are; its checksum tells a reader if they changed on the way.
    pub(super) fn append(&mut self, range: &FileRange) -> Result<(), ShuffleFileError> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let frames = self.frames()?;
        let sink = frames.get_mut();
        if range.len() < KERNEL_COPY_MIN {
            buffer.resize(range.len() as usize, 0);
            range.file().read_exact_at(&mut buffer, range.offset()).map_err(|error| range.broken(error))?;
            sink.get_mut().write_all(&buffer).map_err(|error| file_of(frames).failed(error))?;
        } else {
            sink.get_mut().flush().map_err(|error| file_of(frames).failed(error))?;
            copy(range, file_of(frames))?;
        }
        let Summary { checksum, rows, raw_bytes } = range.summary();
        frames.get_mut().append(checksum);
        self.rows += rows;
        self.raw_bytes += raw_bytes;
        self.buffer = buffer;
        Ok(())
    }

    /// The file is made when it is first needed.
    fn frames(&mut self) -> Result<&mut FrameWriter<Sink>, ShuffleFileError> {
        assert!(self.current.is_some(), "bytes before the first partition");
        if self.frames.is_none() {
            let file = self.dirs.create_temp(&self.prefix)?;
            let sink = ChecksumWriter::new(BufWriter::with_capacity(self.buffer_bytes, file));
            self.frames = Some(FrameWriter::new(sink, self.compression)?);
        }
        Ok(self.frames.as_mut().expect("made above"))
    }

    /// The whole file, if there is one, and where the partitions are in it.
    pub(super) fn finish(mut self) -> Result<(Option<TempFile>, Vec<Block>), ShuffleFileError> {
        self.end();
        let Some(frames) = self.frames else { return Ok((None, self.blocks)) };
        match frames.into_inner().into_inner().into_inner() {
            Ok(file) => Ok((Some(file), self.blocks)),
            Err(error) => {
                let (error, buffer) = error.into_parts();
                Err(buffer.get_ref().failed(error).into())
            }
        }
    }
}

fn file_of(frames: &FrameWriter<Sink>) -> &TempFile {
    frames.get_ref().get_ref().get_ref()
}

/// Copies a range to the end of `file` without its bytes passing through this process, where the system can.
fn copy(range: &FileRange, file: &TempFile) -> Result<(), ShuffleFileError> {
    let mut from = range.offset();
    let mut left = range.len();
    let mut buffer = Vec::new();
    while left > 0 {
        let copied = match kernel_copy(range, from, left, file) {
            Some(copied) => copied.map_err(|error| file.failed(error))?,
            None => copy_some(range, from, left, file, &mut buffer)?,
        };
        if copied == 0 {
            return Err(range.broken(std::io::ErrorKind::UnexpectedEof.into()));
        }
        from += copied;
        left -= copied;
    }
    Ok(())
}

/// `None` if these two files cannot be copied so: on two old file systems, or on a system without the call.
#[cfg(target_os = "linux")]
fn kernel_copy(
    range: &FileRange,
    mut from: u64,
    bytes: u64,
    file: &TempFile,
) -> Option<std::io::Result<u64>> {
    use rustix::io::Errno;

    let length = usize::try_from(bytes).unwrap_or(usize::MAX);
    match rustix::fs::copy_file_range(range.file(), Some(&mut from), file.file(), None, length) {
        Ok(copied) => Some(Ok(copied as u64)),
        Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => None,
        Err(Errno::INTR) => kernel_copy(range, from, bytes, file),
        Err(error) => Some(Err(error.into())),
    }
}

#[cfg(not(target_os = "linux"))]
fn kernel_copy(_: &FileRange, _: u64, _: u64, _: &TempFile) -> Option<std::io::Result<u64>> {
    None
}

fn copy_some(
    range: &FileRange,
    from: u64,
    bytes: u64,
    file: &TempFile,
    buffer: &mut Vec<u8>,
) -> Result<u64, ShuffleFileError> {
    buffer.resize(bytes.min(1 << 20) as usize, 0);
    let read = range.file().read_at(buffer, from).map_err(|error| range.broken(error))?;
    (&**file.file()).write_all(&buffer[..read]).map_err(|error| file.failed(error))?;
    Ok(read as u64)
}
