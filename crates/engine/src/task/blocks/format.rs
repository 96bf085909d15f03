//! Stored rows as bytes: [`Format`].

use std::io::{self, Write};

use firesteel_storage::{
    block::Save,
    codec::{CodecError, Compression, FrameWriter, RowsWriter},
};

use crate::{data::Data, task::TaskContext};

/// How the rows of a partition are serialized.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    compression: Compression,
    frame_bytes: usize,
}

impl Format {
    /// Frames of a size that suits the memory of the task.
    pub(super) fn new(compression: Compression, task: &TaskContext) -> Self {
        Self { compression, frame_bytes: task.frame_bytes() }
    }

    /// A writer of frames to `out`.
    pub(super) fn frames<W: Write>(self, out: W) -> Result<FrameWriter<W>, CodecError> {
        FrameWriter::new(out, self.compression)
    }

    /// How many bytes of rows make a frame.
    pub(super) fn frame_bytes(self) -> usize {
        self.frame_bytes
    }

    /// Writes rows as they come.
    pub(super) fn write<T: Data>(
        self,
        mut rows: impl Iterator<Item = T>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let write = || {
            let mut writer = RowsWriter::with_frame_bytes(self.frames(out)?, self.frame_bytes);
            rows.try_for_each(|row| writer.push(&row))?;
            writer.finish().map(drop)
        };
        write().map_err(into_io)
    }

    /// How rows that are kept as a `Vec<T>` are serialized when they have to leave memory.
    pub(super) fn save<T: Data>(self) -> Save {
        Save::serialize(move |value, out| {
            let rows = value.downcast_ref::<Vec<T>>().expect("the rows of an RDD have one type");
            let write = || {
                let mut writer = RowsWriter::with_frame_bytes(self.frames(out)?, self.frame_bytes);
                writer.extend(rows)?;
                writer.finish().map(drop)
            };
            write().map_err(into_io)
        })
    }
}

/// The disk's own error as it is, so that the folder can be blamed for it.
fn into_io(error: CodecError) -> io::Error {
    match error {
        CodecError::Io { source } => source,
        error => io::Error::other(error),
    }
}
