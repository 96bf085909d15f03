//! What a program prints, while its input is written from another thread.

use std::{
    collections::VecDeque,
    fmt::Display,
    io::{self, BufWriter, ErrorKind, Read, Write},
    process::{ChildStderr, ChildStdin, ChildStdout},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use firesteel_types::{PartitionId, RddId};

use super::{PipeCommand, output::Output, process::Process};
use crate::{
    rdd::Rdd,
    ship::Blame,
    task::{Abort, TaskContext, abort_task, spawn_helper},
};

/// How much of a program's standard error is kept, from the end.
const ERRORS_KEPT_BYTES: usize = 8 << 10;

/// How long to wait for the errors of a program that has failed: something it started may hold the pipe open.
const ERRORS_WAIT: Duration = Duration::from_secs(1);

/// The lines that a program prints. Dropping it ends the program and the thread that feeds it.
pub(super) struct Lines<'a> {
    command: &'a PipeCommand,
    operator: RddId,
    task: &'a TaskContext,
    process: Arc<Process>,
    output: Output<ChildStdout>,
    errors: mpsc::Receiver<String>,
    feeder: Option<JoinHandle<Result<io::Result<()>, Abort>>>,
    is_over: Arc<AtomicBool>,
}

impl<'a> Lines<'a> {
    /// Starts the program and feeds it the rows of one partition of `parent`.
    pub(super) fn start<R: Rdd<Item: Display>>(
        command: &'a PipeCommand,
        operator: RddId,
        parent: &R,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> Self {
        let fail = |error: io::Error| -> ! {
            abort_task(Abort::failed(operator, format!("cannot start {command}: {error}")))
        };
        let mut child = command.spawn().unwrap_or_else(|error| fail(error));
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Arc::new(Process::new(child));
        let (Some(input), Some(output), Some(errors)) = pipes else {
            unreachable!("all three streams are piped")
        };
        // A task that waits for the program cannot check; this ends the wait.
        let killed = process.clone();
        task.on_kill(move || killed.kill());
        let (sender, receiver) = mpsc::channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let mut lines = Self {
            command,
            operator,
            task,
            output: Output::new(output),
            errors: receiver,
            feeder: None,
            is_over: is_over.clone(),
            process: process.clone(),
        };
        let read = thread::Builder::new().name("pipe errors".to_owned());
        if let Err(error) = read.spawn(move || sender.send(read_errors(errors))) {
            fail(error);
        }
        let parent = parent.clone();
        let feed = move |task: &TaskContext| {
            let mut on_unwind = KillOnDrop(Some(&process));
            let fed = feed(parent.compute(partition, task), operator, input, &is_over);
            // A program that lacks a part of its input must not end as if all were well.
            if fed.is_ok() {
                on_unwind.0 = None;
            }
            fed
        };
        lines.feeder = Some(spawn_helper("pipe feeder", task, feed).unwrap_or_else(|error| fail(error)));
        lines
    }

    /// The program prints no more: sees how it and its feeder ended.
    fn finish(&mut self, feeder: JoinHandle<Result<io::Result<()>, Abort>>) {
        let status = self.process.wait(|| self.task.check());
        self.is_over.store(true, Ordering::Relaxed);
        let fed = feeder.join().expect("a helper thread catches everything");
        self.task.check();
        match fed {
            Ok(Ok(())) => (),
            Ok(Err(error)) => self.fail(&format!("cannot write to {}: {error}", self.command)),
            Err(abort) => abort_task(abort),
        }
        match status {
            Ok(status) if status.success() => (),
            Ok(status) => {
                let errors = self.errors.recv_timeout(ERRORS_WAIT).unwrap_or_default();
                let errors = if errors.is_empty() { "it says nothing about errors".into() } else { errors };
                self.fail(&format!("{} ended with {status}: {errors}", self.command));
            }
            Err(error) => self.fail(&format!("cannot wait for {}: {error}", self.command)),
        }
    }

    fn fail(&self, message: &str) -> ! {
        abort_task(Abort::failed(self.operator, message))
    }
}

impl Iterator for Lines<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.task.check();
        match self.output.next_line() {
            Ok(None) => {
                if let Some(feeder) = self.feeder.take() {
                    self.finish(feeder);
                }
                None
            }
            Ok(Some(line)) => Some(
                String::from_utf8(line)
                    .unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned()),
            ),
            Err(error) => self.fail(&format!("cannot read from {}: {error}", self.command)),
        }
    }
}

impl Drop for Lines<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.process.kill();
        if let Some(feeder) = self.feeder.take() {
            // The reader that drops the lines does not need the rows' errors.
            let _ = feeder.join();
        }
        if let Err(error) = self.process.wait(|| ()) {
            tracing::warn!(command = %self.command, %error, "cannot wait for an external program");
        }
    }
}

/// Ends a program whose input ends early.
struct KillOnDrop<'a>(Option<&'a Process>);

impl Drop for KillOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(process) = self.0 {
            process.kill();
        }
    }
}

/// Writes rows as lines until there are none left or the program reads no more.
fn feed<T: Display>(
    mut rows: impl Iterator<Item = T>,
    operator: RddId,
    input: ChildStdin,
    is_over: &AtomicBool,
) -> io::Result<()> {
    let mut input = BufWriter::new(input);
    let written = rows.try_for_each(|row| {
        if is_over.load(Ordering::Relaxed) {
            return Err(ErrorKind::BrokenPipe.into());
        }
        Blame::new(operator).on(|| writeln!(input, "{row}"))
    });
    match written.and_then(|()| input.flush()) {
        // The program may stop reading whenever it likes; its exit status tells whether all is well.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// The end of the program's standard error.
fn read_errors(errors: ChildStderr) -> String {
    let (mut errors, mut kept, mut chunk) = (errors, VecDeque::new(), [0; 1024]);
    while let Ok(read @ 1..) = errors.read(&mut chunk) {
        kept.extend(&chunk[..read]);
        kept.drain(..kept.len().saturating_sub(ERRORS_KEPT_BYTES));
    }
    String::from_utf8_lossy(kept.make_contiguous()).trim_end().to_owned()
}
