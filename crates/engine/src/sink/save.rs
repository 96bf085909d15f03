//! One output file for each partition, written by tasks and published by the driver.

use std::sync::Arc;

use firesteel_scheduler::Partitions;
use firesteel_types::RddId;

use crate::{
    Result,
    data::Data,
    driver::Collected,
    job::{Call, JobFunction, JobHandle, Next, Steps, submission},
    rdd::Rdd,
    ship::Ship,
    source::or_abort,
    task::{Abort, TaskContext, abort_task},
};
use firesteel_files::{
    Compression, IoError, Location, Note, ObjectWriter, OutputFile, OutputFolder, OutputOptions, StagedFile,
    part_name,
};

/// How rows become the content of a file.
pub(crate) trait Writer<T>: Ship + Send + Sync + 'static {
    /// How the file is opened.
    fn options(&self) -> OutputOptions;

    /// Writes all rows; gives what closes the file.
    fn write(
        &self,
        file: OutputFile,
        rows: impl Iterator<Item = T>,
    ) -> Result<impl FnOnce() -> Result<StagedFile, IoError>, IoError>;
}

/// The function of a job that saves.
pub(crate) struct Save<W> {
    pub(crate) folder: OutputFolder,
    pub(crate) rdd: RddId,
    pub(crate) writer: W,
}

crate::ship!(impl[W: Ship] Save<W> { writer; values folder, rdd });

impl<T, W: Writer<T>> JobFunction<T> for Save<W> {
    type Output = StagedFile;

    /// Writes the partition to a file of this attempt, and reports which one it is. The driver publishes it.
    fn run(&self, rows: impl Iterator<Item = T>, task: &TaskContext) -> StagedFile {
        let part = part_name(task.partition().index());
        let file = OutputFile::create(&self.folder, &part, task.attempt_id().0, self.writer.options());
        let close = file.and_then(|file| self.writer.write(file, rows));
        let close = or_abort(close, self.rdd);
        // Of several attempts at one partition the driver lets one commit.
        if !task.environment().driver.may_commit(task) {
            abort_task(Abort::CommitDenied);
        }
        or_abort(close(), self.rdd)
    }
}

/// Saves every partition of `rdd` in a new folder, with `notes` beside them. An existing folder is an error before any
/// task runs; a job that fails leaves nothing behind.
pub(super) fn save<R: Rdd, W: Writer<R::Item>>(
    call: Call,
    rdd: &R,
    path: &str,
    writer: W,
    notes: Vec<Note>,
) -> JobHandle<()> {
    let folder = match create_folder(path, writer.options()) {
        Ok(folder) => folder,
        Err(error) => return JobHandle::failed(call, error.into()),
    };
    let function = Save { folder: folder.clone(), rdd: rdd.handle().id(), writer };
    let (job, files) = submission(rdd, Partitions::All, function);
    let output = Output { folder: Some(folder), files, notes, is_complete: false };
    call.start_with(rdd, job, Publish(Some(output)))
}

fn create_folder(path: &str, options: OutputOptions) -> Result<OutputFolder, IoError> {
    let location = Location::parse(path)?;
    options.require(&location)?;
    OutputFolder::create(&location)
}

/// What follows the job that writes all parts: they are published.
struct Publish(Option<Output>);

impl Steps<()> for Publish {
    fn next(&mut self) -> Result<Next<()>> {
        let mut output = self.0.take().expect("an action is asked once after its last job");
        output.is_complete = true;
        Ok(Next::value(move || Ok(output.end()?)))
    }
}

/// A folder that is being written: published or removed, but not left half done.
struct Output {
    /// There until it is published or removed.
    folder: Option<OutputFolder>,
    /// What the tasks whose success counts have written.
    files: Arc<Collected<StagedFile>>,
    notes: Vec<Note>,
    /// Whether every partition has its file.
    is_complete: bool,
}

impl Output {
    fn end(&mut self) -> Result<(), IoError> {
        let Some(folder) = self.folder.take() else { return Ok(()) };
        let files: Vec<_> = self.files.take_present().into_iter().map(|(_, file)| file).collect();
        if !self.is_complete {
            return folder.abort(&files);
        }
        let published = folder.publish(&files, &self.notes);
        if published.is_err()
            && let Err(error) = folder.abort(&files)
        {
            tracing::warn!(%error, "an output that could not be published could not be removed either");
        }
        published
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::warn!(%error, "an output could not be brought to its end");
        }
    }
}

/// Saves the rows in serialized form, with `notes` beside them.
pub(crate) fn save_objects<R: Rdd>(call: Call, rdd: &R, path: &str, notes: Vec<Note>) -> JobHandle<()> {
    save(call, rdd, path, Objects(Compression::default()), notes)
}

/// Rows as lines of text.
pub(crate) struct Lines(pub(crate) OutputOptions);

impl Ship for Lines {
    fn freeze(&self, out: &mut crate::ship::Frozen) -> Result<(), crate::ship::ShipError> {
        out.value(&self.0)
    }

    fn thaw(input: &mut crate::ship::Thawing<'_>) -> Result<Self, crate::ship::ShipError> {
        Ok(Self(input.value()?))
    }
}

impl<T: std::fmt::Display> Writer<T> for Lines {
    fn options(&self) -> OutputOptions {
        self.0
    }

    fn write(
        &self,
        mut file: OutputFile,
        mut rows: impl Iterator<Item = T>,
    ) -> Result<impl FnOnce() -> Result<StagedFile, IoError>, IoError> {
        use std::fmt::Write;
        let mut line = String::new();
        let mut written = 0;
        rows.try_for_each(|row| {
            line.clear();
            // Writing to a string cannot fail, so it was the `Display`, and the line is cut.
            if write!(line, "{row}").is_err() {
                return Err(IoError::Display {
                    location: file.location().to_string(),
                    partition: TaskContext::current().map_or(0, |task| task.partition().0),
                    row: written,
                    type_name: std::any::type_name::<T>(),
                });
            }
            written += 1;
            file.write_line(&line)
        })?;
        Ok(move || file.close())
    }
}

/// Rows in serialized form.
pub(crate) struct Objects(pub(crate) Compression);

impl Ship for Objects {
    fn freeze(&self, out: &mut crate::ship::Frozen) -> Result<(), crate::ship::ShipError> {
        out.value(&self.0)
    }

    fn thaw(input: &mut crate::ship::Thawing<'_>) -> Result<Self, crate::ship::ShipError> {
        Ok(Self(input.value()?))
    }
}

impl<T: Data> Writer<T> for Objects {
    fn options(&self) -> OutputOptions {
        OutputOptions::default()
    }

    fn write(
        &self,
        file: OutputFile,
        mut rows: impl Iterator<Item = T>,
    ) -> Result<impl FnOnce() -> Result<StagedFile, IoError>, IoError> {
        let mut writer = ObjectWriter::new(file, self.0)?;
        rows.try_for_each(|row| writer.push(&row))?;
        Ok(move || writer.close())
    }
}
