//! What to run, and how.

use std::{
    fmt, io,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use serde::{Deserialize, Serialize};

/// An external program with its arguments, environment and working directory, for
/// [`pipe_with`](crate::Transform::pipe_with).
///
/// ```
/// use firesteel::{PipeCommand, prelude::*};
///
/// let ctx = Context::local(2)?;
/// let greet = PipeCommand::new(["sed", "s/^/hello /"]).env("LC_ALL", "C").working_dir("/");
/// let names = ctx.parallelize(vec!["ada".to_owned(), "alan".to_owned()]);
/// assert_eq!(names.pipe_with(greet).collect()?, ["hello ada", "hello alan"]);
/// # Ok::<(), firesteel::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
pub struct PipeCommand {
    words: Vec<String>,
    env: Vec<(String, String)>,
    dir: Option<PathBuf>,
}

impl PipeCommand {
    /// The program and its arguments. They reach the program as they are: nothing is split or expanded.
    ///
    /// ```
    /// # use firesteel::{PipeCommand, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let lines = ctx.parallelize(vec!["a b".to_owned(), "b".to_owned()]);
    /// assert_eq!(lines.pipe_with(PipeCommand::new(["sed", "s/a b/c/"])).collect()?, ["c", "b"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn new(words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { words: words.into_iter().map(Into::into).collect(), env: Vec::new(), dir: None }
    }

    /// Sets a variable of the program's environment, which has those of the executor besides.
    ///
    /// ```
    /// # use firesteel::{PipeCommand, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let greet = PipeCommand::new(["sh", "-c", "sed \"s/^/$GREETING /\""]).env("GREETING", "hello");
    /// assert_eq!(ctx.parallelize(vec!["ada".to_owned()]).pipe_with(greet).collect()?, ["hello ada"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Starts the program in `dir`, which must exist on every executor.
    ///
    /// ```
    /// # use firesteel::{PipeCommand, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let place = PipeCommand::new(["sh", "-c", "cat > /dev/null; pwd"]).working_dir("/");
    /// assert_eq!(ctx.parallelize_into(vec!["row".to_owned()], 1).pipe_with(place).collect()?, ["/"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn working_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Whether there is nothing to run.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Starts the program with pipes to all three of its streams, in a process group of its own.
    pub(super) fn spawn(&self) -> io::Result<Child> {
        let (program, arguments) =
            self.words.split_first().expect("a pipe without a program is never computed");
        let mut command = Command::new(program);
        command.args(arguments).envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    }
}

impl fmt::Display for PipeCommand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}`", self.words.join(" "))
    }
}
