//! One output file for each partition, committed.

use firesteel_scheduler::Partitions;
use firesteel_types::RddId;

use crate::{
    Result,
    action::{Call, JobFunction, JobHandle, Next, Steps},
    data::Data,
    driver::Submission,
    executor::{Abort, TaskContext, abort_task},
    io::{Compression, IoError, Location, ObjectWriter, OutputFile, OutputFolder, OutputOptions, part_name},
    rdd::Rdd,
    ship::Ship,
    source::or_abort,
};

/// How rows become the content of a file.
pub(crate) trait Writer<T>: Ship + Send + Sync + 'static {
    /// How the file is opened.
    fn options(&self) -> OutputOptions;

    /// Writes all rows; gives what commits the file.
    fn write(
        &self,
        file: OutputFile,
        rows: impl Iterator<Item = T>,
    ) -> Result<impl FnOnce() -> Result<(), IoError>, IoError>;
}

/// The function of a job that saves.
pub(crate) struct Save<W> {
    pub(crate) folder: OutputFolder,
    pub(crate) rdd: RddId,
    pub(crate) writer: W,
}

crate::ship!(impl[W: Ship] Save<W> { writer; values folder, rdd });

impl<T, W: Writer<T>> JobFunction<T> for Save<W> {
    type Output = ();

    fn run(&self, rows: impl Iterator<Item = T>, task: &TaskContext) {
        let part = part_name(task.partition().index());
        let file = OutputFile::create(&self.folder, &part, task.attempt_id().0, self.writer.options());
        let commit = file.and_then(|file| self.writer.write(file, rows));
        let commit = or_abort(commit, self.rdd);
        // Of several attempts at one partition the driver lets one commit.
        if !task.environment().driver.may_commit(task) {
            abort_task(Abort::CommitDenied);
        }
        or_abort(commit(), self.rdd);
    }
}

/// Saves every partition of `rdd` in a new folder. An existing folder is an error before any task runs; a job that fails
/// leaves nothing behind.
pub(super) fn save<R: Rdd, W: Writer<R::Item>>(call: Call, rdd: &R, path: &str, writer: W) -> JobHandle<()> {
    let folder = Location::parse(path).and_then(|location| OutputFolder::create(&location));
    match folder {
        Ok(folder) => save_in(call, rdd, folder, writer),
        Err(error) => JobHandle::failed(call, error.into()),
    }
}

fn save_in<R: Rdd, W: Writer<R::Item>>(
    call: Call,
    rdd: &R,
    folder: OutputFolder,
    writer: W,
) -> JobHandle<()> {
    let function = Save { folder: folder.clone(), rdd: rdd.handle().id(), writer };
    let (submission, _) = call.submission(rdd, Partitions::All, function);
    call.start(
        rdd,
        SaveSteps {
            submission: Some(submission),
            output: Some(Output { folder: Some(folder), is_complete: false }),
        },
    )
}

/// One job that writes all parts, then the mark of success.
struct SaveSteps {
    submission: Option<Box<Submission>>,
    output: Option<Output>,
}

impl Steps<()> for SaveSteps {
    fn next(&mut self) -> Result<Next<()>> {
        if let Some(submission) = self.submission.take() {
            return Ok(Next::Job(submission));
        }
        let mut output = self.output.take().expect("an action is asked once after its last job");
        output.is_complete = true;
        Ok(Next::value(move || Ok(output.end()?)))
    }
}

/// A folder that is being written: finished or removed, but not left half done.
struct Output {
    /// There until it is finished or removed.
    folder: Option<OutputFolder>,
    is_complete: bool,
}

impl Output {
    fn end(&mut self) -> Result<(), IoError> {
        match self.folder.take() {
            Some(folder) if self.is_complete => folder.finish(),
            Some(folder) => folder.abort(),
            None => Ok(()),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::warn!(%error, "an output could not be brought to its end");
        }
    }
}

/// Saves the rows in serialized form.
pub(crate) fn save_objects<R: Rdd>(call: Call, rdd: &R, path: &str) -> JobHandle<()> {
    save(call, rdd, path, Objects(Compression::default()))
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
    ) -> Result<impl FnOnce() -> Result<(), IoError>, IoError> {
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
        Ok(move || file.commit().map(drop))
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
    ) -> Result<impl FnOnce() -> Result<(), IoError>, IoError> {
        let mut writer = ObjectWriter::new(file, self.0)?;
        rows.try_for_each(|row| writer.push(&row))?;
        Ok(move || writer.commit().map(drop))
    }
}
