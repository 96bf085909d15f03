//! One file of an output, written by one attempt of a task: [`OutputFile`].

use std::fmt;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::folder::OutputFolder;
use super::local::LocalSink;
use super::staged::StagedFile;
use crate::cloud::RemoteSink;
use crate::codec::{Codec, Encoder};
use crate::error::IoError;
use crate::location::Location;

/// How much is collected before the codec or the system sees it.
const BUFFER_BYTES: usize = 128 << 10;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct OutputOptions {
    /// Compresses the content; the file's name gets the suffix.
    pub codec: Option<Codec>,
    /// Has the disk confirm the content before the file is reported, so that not even a crash of the machine loses it.
    pub sync: bool,
}

impl OutputOptions {
    /// Refuses to write `location` if this program was built without the codec.
    pub fn require(self, location: &Location) -> Result<(), IoError> {
        self.codec.map_or(Ok(()), |codec| codec.require(location))
    }
}

/// A file that one attempt writes under a name of its own, for the driver to publish.
///
/// Dropped before it is closed, it leaves nothing behind.
pub struct OutputFile {
    location: Location,
    encoder: Encoder<Sink>,
    buffer: Vec<u8>,
    has_failed: bool,
}

impl OutputFile {
    /// Begins the file `part` (to which the codec's suffix is added) for one attempt.
    ///
    /// No two attempts that write the same part may have the same number.
    pub fn create(
        folder: &OutputFolder,
        part: &str,
        attempt: u64,
        options: OutputOptions,
    ) -> Result<Self, IoError> {
        let name = format!("{part}{}", options.codec.map_or("", Codec::suffix));
        let location = folder.location().join(&name);
        options.codec.map_or(Ok(()), |codec| codec.require(&location))?;
        let sink = match &location {
            Location::Local(_) => Sink::Local(LocalSink::create(folder, &location, attempt, options.sync)?),
            Location::Remote { .. } => Sink::Remote(RemoteSink::new(&location)?),
        };
        let encoder = Encoder::new(options.codec, sink).map_err(|error| IoError::write(&location, error))?;
        Ok(Self { location, encoder, buffer: Vec::with_capacity(BUFFER_BYTES), has_failed: false })
    }

    /// The name that it will have.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Adds bytes.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<(), IoError> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.write_buffer()?;
        }
        if bytes.len() >= BUFFER_BYTES {
            return self.write_through(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Adds a line and its end.
    pub fn write_line(&mut self, line: &str) -> Result<(), IoError> {
        self.write_all(line.as_bytes())?;
        self.write_all(b"\n")
    }

    /// Writes what is left; the file is ready to be published then, and still hidden.
    pub fn close(mut self) -> Result<StagedFile, IoError> {
        if self.has_failed {
            return Err(IoError::CommitAfterFailure { location: self.location.to_string() });
        }
        self.write_buffer()?;
        let sink = self.encoder.finish().map_err(|error| write_error(&self.location, error))?;
        let content = match sink {
            Sink::Local(sink) => sink.close()?,
            Sink::Remote(sink) => sink.close()?,
        };
        Ok(StagedFile { name: self.location.name().to_owned(), content })
    }

    fn write_buffer(&mut self) -> Result<(), IoError> {
        let buffer = std::mem::take(&mut self.buffer);
        let result = self.write_through(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
        result
    }

    fn write_through(&mut self, bytes: &[u8]) -> Result<(), IoError> {
        self.encoder.write_all(bytes).map_err(|error| {
            self.has_failed = true;
            write_error(&self.location, error)
        })
    }
}

impl fmt::Debug for OutputFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("OutputFile").field("location", &self.location).finish_non_exhaustive()
    }
}

/// The name of the part that a partition writes, as Hadoop gives it: `part-00000`.
pub fn part_name(partition: usize) -> String {
    format!("part-{partition:05}")
}

/// Where the bytes go.
enum Sink {
    Local(LocalSink),
    Remote(RemoteSink),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Local(sink) => sink.write(bytes),
            Self::Remote(sink) => sink.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_error(location: &Location, error: io::Error) -> IoError {
    match IoError::from_inside(error) {
        Ok(error) => error,
        Err(error) => IoError::write(location, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file_and_forbids_to_publish_it() {
        let location = Location::Local("/out/part-00000".to_owned());
        for codec in [None, Some(Codec::Gzip), Some(Codec::Zstd), Some(Codec::Bzip2), Some(Codec::Lz4)] {
            let file = || {
                let encoder = Encoder::new(codec, Sink::Local(LocalSink::on_full_disk(&location))).unwrap();
                OutputFile { location: location.clone(), encoder, buffer: Vec::new(), has_failed: false }
            };

            let mut small = file();
            small.write_line("fits in the buffer").unwrap();
            let at_close = small.close().unwrap_err();
            let mut large = file();
            // What does not compress fills the buffers of any codec.
            let noise = (0_u64..).map(|n| xxhash_rust::xxh3::xxh3_64(&n.to_le_bytes()).to_le_bytes());
            let at_write = noise.map(|bytes| large.write_all(&bytes)).find_map(Result::err).unwrap();

            for error in [at_close, at_write] {
                assert_eq!(error.to_string(), "cannot write /out/part-00000", "{codec:?}");
                let source = std::error::Error::source(&error).unwrap().to_string();
                assert!(source.contains("No space left"), "{codec:?}: {source}");
            }
            assert!(matches!(large.close(), Err(IoError::CommitAfterFailure { .. })), "{codec:?}");
        }
    }
}
