//! The logs of a worker's processes, for people who look at them from elsewhere.
//!
//! What a reader asks for comes from a page and is not trusted: it names an executor or driver, never a file, and
//! nothing outside of the folder of that process is read.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use firesteel_types::{DriverId, ExecutorKey};
use rustix::fs::OFlags;

use super::rolling::{Piece, pieces};

/// The most that is read at once.
const MAX_BYTES: u64 = 16 << 20;

/// Whose log it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogOwner {
    /// An executor's.
    Executor(ExecutorKey),
    /// A driver's.
    Driver(DriverId),
}

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogStream {
    /// What the process writes to its standard output.
    Stdout,
    /// What it writes to its standard error.
    Stderr,
}

impl LogStream {
    /// The name of its file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// A part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRequest {
    /// Whose.
    pub owner: LogOwner,
    /// Which.
    pub stream: LogStream,
    /// Where the part begins; none for the end of the log.
    pub offset: Option<u64>,
    /// How long it is at most.
    pub length: u64,
}

/// What was found of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSlice {
    /// Where it begins: later than asked for when the beginning of the log is gone.
    pub start: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where the oldest byte is that is still there.
    pub first: u64,
    /// Where the log ends for now.
    pub end: u64,
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum LogError {
    /// The name leads out of the work folder.
    #[error("`{name}` is not the name of an application or driver")]
    BadName { name: String },
    /// No such process ran here, or its folder was removed.
    #[error("there is no {stream} of {owner} here")]
    Missing { owner: String, stream: &'static str },
    /// The file system returned an error.
    #[error("cannot read {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Reads a part of a log below `work_dir`.
pub(super) fn read(work_dir: &Path, request: &LogRequest) -> Result<LogSlice, LogError> {
    let (name, inner) = match &request.owner {
        LogOwner::Executor(key) => (key.app.as_str(), Some(key.executor.0.to_string())),
        LogOwner::Driver(driver) => (driver.as_str(), None),
    };
    if !firesteel_types::is_plain_name(name) || name.starts_with('.') {
        return Err(LogError::BadName { name: name.to_owned() });
    }
    let stream = request.stream.name();
    let missing = || {
        let owner = match &request.owner {
            LogOwner::Executor(key) => key.to_string(),
            LogOwner::Driver(driver) => driver.to_string(),
        };
        LogError::Missing { owner, stream }
    };
    let mut folder = work_dir.join(name);
    let mut is_there = is_real_folder(&folder);
    if let Some(inner) = inner {
        folder.push(inner);
        is_there = is_there && is_real_folder(&folder);
    }
    if !is_there {
        return Err(missing());
    }
    let failed = |path: &Path, source| LogError::Io { path: path.to_owned(), source };
    let pieces = pieces(&folder, stream).map_err(|source| failed(&folder, source))?;
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return Err(missing()) };

    let (first, end) = (first.start, last.start + last.len);
    let length = request.length.min(MAX_BYTES);
    let start = request.offset.unwrap_or_else(|| end.saturating_sub(length)).clamp(first, end);
    let until = start.saturating_add(length).min(end);
    let mut bytes = Vec::new();
    for piece in &pieces {
        // A piece that was removed meanwhile leaves a gap, and bytes after a gap would be at the wrong place.
        match read_piece(piece, start, until) {
            Ok(part) => bytes.extend(part),
            Err(error) if error.kind() == io::ErrorKind::NotFound && bytes.is_empty() => {}
            Err(source) => return Err(failed(&piece.path, source)),
        }
    }
    let start = until - bytes.len() as u64;
    Ok(LogSlice { start, bytes, first, end })
}

/// The bytes of a piece between two places of the log.
fn read_piece(piece: &Piece, start: u64, until: u64) -> io::Result<Vec<u8>> {
    let (from, to) = (start.max(piece.start), until.min(piece.start + piece.len));
    if from >= to {
        return Ok(Vec::new());
    }
    let mut bytes = vec![0; usize::try_from(to - from).map_err(io::Error::other)?];
    open(&piece.path)?.read_exact_at(&mut bytes, from - piece.start)?;
    Ok(bytes)
}

/// A process may put a link where its log was; what it points to is not ours to show.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)
}

fn is_real_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(app: &str, offset: Option<u64>, length: u64) -> LogRequest {
        let owner = LogOwner::Executor(ExecutorKey::new(app, 0));
        LogRequest { owner, stream: LogStream::Stdout, offset, length }
    }

    /// An executor whose log lost its first four bytes: `4567`, `89ab` and `cd` are left.
    fn work_dir() -> tempfile::TempDir {
        let work = tempfile::tempdir().unwrap();
        let folder = work.path().join("app-1/0");
        fs::create_dir_all(&folder).unwrap();
        for (name, content) in
            [("stdout.000000000000000004", "4567"), ("stdout.000000000000000008", "89ab"), ("stdout", "cd")]
        {
            fs::write(folder.join(name), content).unwrap();
        }
        work
    }

    fn text(work: &Path, offset: Option<u64>, length: u64) -> (u64, String) {
        let slice = read(work, &request("app-1", offset, length)).unwrap();
        assert_eq!((slice.first, slice.end), (4, 14));
        (slice.start, String::from_utf8(slice.bytes).unwrap())
    }

    #[test]
    fn a_part_of_a_log_may_span_files_and_begins_where_the_log_still_is() {
        let work = work_dir();

        assert_eq!(text(work.path(), Some(6), 4), (6, "6789".to_owned()));
        assert_eq!(text(work.path(), Some(0), 6), (4, "456789".to_owned()));
        assert_eq!(text(work.path(), None, 3), (11, "bcd".to_owned()));
        assert_eq!(text(work.path(), None, u64::MAX), (4, "456789abcd".to_owned()));
        assert_eq!(text(work.path(), Some(99), 3), (14, String::new()));
    }

    #[test]
    fn nothing_outside_of_the_folder_of_a_process_is_read() {
        let work = work_dir();
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir(outside.path().join("0")).unwrap();
        fs::write(outside.path().join("0/stdout"), "secret").unwrap();
        std::os::unix::fs::symlink(outside.path(), work.path().join("app-2")).unwrap();
        let linked = work.path().join("app-1/0/stdout");
        fs::remove_file(&linked).unwrap();
        std::os::unix::fs::symlink(outside.path().join("0/stdout"), &linked).unwrap();

        let up = format!("../{}", outside.path().file_name().unwrap().to_str().unwrap());
        for bad in [up.as_str(), "..", "", ".firesteel", "app-1/0/..", outside.path().to_str().unwrap()] {
            let error = read(work.path(), &request(bad, None, 99)).unwrap_err();
            assert!(matches!(error, LogError::BadName { .. }), "{bad}: {error}");
        }
        let linked_folder = read(work.path(), &request("app-2", None, 99)).unwrap_err();
        assert!(matches!(linked_folder, LogError::Missing { .. }), "{linked_folder}");
        let rest = read(work.path(), &request("app-1", None, 99)).unwrap();
        assert_eq!(rest.bytes, b"456789ab", "a link is no log");
    }

    #[test]
    fn a_process_that_never_ran_has_no_log() {
        let error = read(work_dir().path(), &request("app-9", None, 1)).unwrap_err();
        assert_eq!(error.to_string(), "there is no stdout of app-9/0 here");
    }
}
