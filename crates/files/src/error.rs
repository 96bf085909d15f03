//! What can go wrong with files: [`IoError`].
//!
//! Every message names the file; the cause stands in the error's source. It does not decide what happens next: that
//! is up to the caller, with [`IoError::is_missing`] and [`IoError::is_corrupt`] to tell the two cases that the
//! options to skip bad input are about.

use std::error::Error;
use std::io;

use firesteel_types::settings;

use super::codec::Codec;
use super::location::{KNOWN_SCHEMES, Location};

/// Why a file or folder could not be found, read or written.
///
/// The text names the file or pattern; [`Error::source`] says what the system or the remote store answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum IoError {
    /// The scheme in front of `://` is none that is known.
    #[error("unknown scheme `{scheme}` in {location}; known are a plain path, {KNOWN_SCHEMES}")]
    UnknownScheme { location: String, scheme: String },

    /// The place or the compression is known, but this program was built without the code for it.
    #[error(
        "{location}: this program was built without {what}; build firesteel with the feature \"{feature}\""
    )]
    NotBuilt { location: String, what: &'static str, feature: &'static str },

    /// The text is not a path or address.
    #[error("cannot use `{location}` as a path: {reason}")]
    BadLocation { location: String, reason: String },

    /// The pattern breaks the rules of globs.
    #[error("cannot use `{pattern}` as a pattern: {reason}")]
    BadPattern { pattern: String, reason: String },

    /// The pattern is fine and no file has such a name.
    #[error("no file matches {pattern}")]
    NoMatch { pattern: String },

    /// There is no such file or folder.
    #[error("{location} does not exist")]
    Missing { location: String },

    /// There is something, but no file that could be read.
    #[error("{location} is not a regular file")]
    NotAFile { location: String },

    /// A folder in a folder, and only the files of the outer one were asked for.
    #[error(
        "{folder} holds the folder `{nested}`, and folders in folders are not read; \
         name the files by a pattern, or set `{}` to read all files below", settings::FILES_RECURSIVE.key()
    )]
    NestedFolder { folder: String, nested: String },

    /// The remote store sent something else than what was asked for.
    #[error("cannot use what the server sent for {location}: {reason}")]
    BadAnswer { location: String, reason: String },

    /// Folders and patterns need a store that lists what it holds.
    #[error("cannot list {location}: http gives single files only, so name each of them")]
    CannotList { location: String },

    /// The system or the remote store refused to read.
    #[error("cannot read {location} at byte {offset}")]
    Read {
        location: String,
        offset: u64,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },

    /// The file ends before a place that existed when its partitions were planned.
    #[error("{location} ends at byte {length}, but had at least {expected} bytes when the job was planned")]
    Truncated { location: String, length: u64, expected: u64 },

    /// The bytes are not what their suffix says, or end too early.
    #[error("corrupt {codec} data in {location}, after {offset} decompressed bytes")]
    CorruptCompression {
        location: String,
        codec: Codec,
        offset: u64,
        #[source]
        source: io::Error,
    },

    /// The file's size is not a multiple of the length of its records.
    #[error("{location} has {size} bytes, which is not a multiple of the record length {record_length}")]
    PartialRecord { location: String, size: u64, record_length: u64 },

    /// A record length of zero bytes makes no records.
    #[error("the record length of binary records must be at least 1 byte")]
    NoRecordLength,

    /// The bytes are no object file, or are damaged.
    #[error("cannot use {location} as an object file: {reason} (byte {offset})")]
    CorruptObjectFile { location: String, offset: u64, reason: String },

    /// An object file holds rows that look otherwise than those that were asked for.
    #[error("{location} holds rows of {holds}, not {asked}; read it with the type that it was written with")]
    OtherRows { location: String, holds: String, asked: String },

    /// Rows of this type could be written but never read again.
    #[error("cannot keep rows in {location} that cannot be read again")]
    Unreadable {
        location: String,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },

    /// The rows in an object file are intact but not of the type that was asked for.
    #[error("cannot decode row {row} of {location}; was it written with another type?")]
    Decode {
        location: String,
        row: u64,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },

    /// A row could not be written as text.
    #[error(
        "cannot save row {row} of partition {partition} to {location}: the `Display` of `{type_name}` failed"
    )]
    Display { location: String, partition: u32, row: u64, type_name: &'static str },

    /// A row could not be serialized.
    #[error("cannot serialize row {row} for {location}")]
    Encode {
        location: String,
        row: u64,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },

    /// The output folder is there already, and what it holds is never overwritten.
    #[error("output directory {location} already exists; remove it or choose another")]
    OutputExists { location: String },

    /// The store can be read only.
    #[error("cannot write to {location}: http is for reading only")]
    ReadOnly { location: String },

    /// The system or the remote store refused to write.
    #[error("cannot write {location}")]
    Write {
        location: String,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },

    /// A file or folder of an output is not where another process of the application has put it.
    #[error(
        "cannot write {location}: {missing} is not there; an output must lie where the driver and all executors see the \
         same files, and must not be removed while it is written"
    )]
    NotShared { location: String, missing: String },

    /// A write to this file failed before, so its content must not be published.
    #[error("cannot commit {location}: an earlier write to it failed")]
    CommitAfterFailure { location: String },

    /// The threads that talk to remote stores could not be started, or died.
    #[error("cannot talk to remote stores: {reason}")]
    Runtime { reason: String },
}

impl IoError {
    /// Whether the file is gone, so that the option to ignore missing files applies.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }

    /// Whether the file's content is damaged, so that the option to ignore corrupt files applies.
    ///
    /// A store that does not answer or denies access is not a corrupt file.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        matches!(
            self,
            Self::Truncated { .. }
                | Self::CorruptCompression { .. }
                | Self::PartialRecord { .. }
                | Self::CorruptObjectFile { .. }
                | Self::Decode { .. }
        )
    }

    /// An answer of the operating system or a store to a read.
    pub(crate) fn read(
        location: &Location,
        offset: u64,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::Read { location: location.to_string(), offset, source: source.into() }
    }

    /// An answer of the operating system or a store to a write.
    pub(crate) fn write(location: &Location, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Write { location: location.to_string(), source: source.into() }
    }

    /// Something of the output at `location` is missing that another process has made.
    pub(crate) fn not_shared(location: &Location, missing: &Location) -> Self {
        Self::NotShared { location: location.to_string(), missing: missing.to_string() }
    }

    pub(crate) fn missing(location: &Location) -> Self {
        Self::Missing { location: location.to_string() }
    }

    /// Gives back the error that travelled through `io::Read` or `io::Write` inside an [`io::Error`].
    pub(crate) fn from_inside(error: io::Error) -> Result<Self, io::Error> {
        error.downcast::<Self>()
    }
}

impl From<IoError> for io::Error {
    fn from(error: IoError) -> Self {
        Self::other(error)
    }
}
