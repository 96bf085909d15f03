//! Rows of one type in a temporary file: [`RowFileWriter`] and [`RowFile`].

use std::{marker::PhantomData, sync::Arc};

use firesteel_storage::{
    codec::RowsWriter,
    shuffle::files::{SpillFile, SpillWriter},
};

use crate::{
    data::Data,
    task::{Abort, Environment, TaskContext, abort_storage, abort_task},
};

/// Rows on their way to a file, which is made when the first ones are written.
pub(crate) struct RowFileWriter<T> {
    environment: Arc<Environment>,
    writer: Option<RowsWriter<T, SpillWriter>>,
    frame_bytes: usize,
    rows: u64,
}

/// Rows in a file that is removed with its last reader.
pub(crate) struct RowFile<T> {
    file: SpillFile,
    rows: u64,
    row: PhantomData<fn() -> T>,
}

/// Frames that are smaller are written together.
const BUFFER_BYTES: usize = 8 << 10;

/// A row file has one partition.
const PARTITION: u32 = 0;

impl<T: Data> RowFileWriter<T> {
    pub(crate) fn new(task: &TaskContext) -> Self {
        let environment = task.environment().clone();
        Self { environment, writer: None, frame_bytes: task.frame_bytes(), rows: 0 }
    }

    /// Appends a row.
    pub(crate) fn push(&mut self, row: &T) {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            empty => empty.insert(open(&self.environment, self.frame_bytes)),
        };
        self.rows += 1;
        if let Err(error) = writer.push(row) {
            abort_storage(&error);
        }
    }

    /// The file; none if no row came.
    pub(crate) fn finish(self) -> Option<RowFile<T>> {
        match self.writer?.finish().and_then(SpillWriter::finish) {
            Ok(file) => Some(RowFile { file, rows: self.rows, row: PhantomData }),
            Err(error) => abort_storage(&error),
        }
    }
}

fn open<T: Data>(environment: &Environment, frame_bytes: usize) -> RowsWriter<T, SpillWriter> {
    match environment.disk.dirs() {
        Ok(dirs) => {
            let spill = SpillWriter::new(&dirs, environment.spill_compression);
            let mut spill = spill.with_buffer(frame_bytes.min(BUFFER_BYTES));
            spill.start(PARTITION);
            RowsWriter::with_frame_bytes(spill, frame_bytes)
        }
        Err(error) => abort_storage(&error),
    }
}

impl<T: Data> RowFile<T> {
    /// How many rows it has.
    pub(crate) fn len(&self) -> u64 {
        self.rows
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// The rows, in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = T> + Send + use<T> {
        let range = self.file.block(PARTITION);
        range.into_iter().flat_map(|range| {
            let rows = range.rows::<T>();
            rows.map(move |row| row.unwrap_or_else(|error| unreadable(&range.diagnose(error))))
        })
    }
}

/// Ends the task; a group may also be read after its task, by the user.
fn unreadable(error: &dyn std::error::Error) -> ! {
    let message = format!("spilled rows cannot be read back: {error}");
    if TaskContext::is_set() {
        abort_task(Abort::Failed { message, operator: None })
    }
    #[expect(clippy::panic, reason = "there is no task that could fail")]
    {
        panic!("{message}")
    }
}
