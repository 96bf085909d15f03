//! Files read as wholes: [`read_bytes`] and [`read_text`].
//!
//! The content must fit in memory.

use super::error::IoError;
use super::location::Location;
use super::source::{ReadOptions, Source};

/// Reads a file as it is, compressed or not, as Spark's `binaryFiles` does.
///
/// `None` when it is missing and the options say to pass over such files.
pub fn read_bytes(location: &Location, options: ReadOptions) -> Result<Option<Vec<u8>>, IoError> {
    read(options, || Source::open_raw(location, 0, u64::MAX))
}

/// Reads a file as text, decompressed as its suffix tells, as Spark's `wholeTextFiles` does.
///
/// Bytes that are not UTF-8 become replacement characters. `None` when the file is missing or corrupt and the options
/// say to pass over such files.
pub fn read_text(location: &Location, options: ReadOptions) -> Result<Option<String>, IoError> {
    let bytes = read(options, || Source::open_decoded(location))?;
    let text = |bytes| match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    Ok(bytes.map(text))
}

fn read(
    options: ReadOptions,
    open: impl FnOnce() -> Result<Source, IoError>,
) -> Result<Option<Vec<u8>>, IoError> {
    let mut content = Vec::new();
    match open().and_then(|mut source| source.read_to_end(&mut content)) {
        Ok(()) => Ok(Some(content)),
        // A caller that asked for a whole file must not get half of it.
        Err(error) if options.forgives(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const STRICT: ReadOptions = ReadOptions { ignore_corrupt_files: false, ignore_missing_files: false };
    const LENIENT: ReadOptions = ReadOptions { ignore_corrupt_files: true, ignore_missing_files: true };

    fn place(folder: &tempfile::TempDir, name: &str) -> Location {
        Location::parse(folder.path().to_str().unwrap()).unwrap().join(name)
    }

    #[test]
    fn a_file_is_read_as_bytes_and_as_text() {
        let folder = tempfile::tempdir().unwrap();
        let location = place(&folder, "a");
        fs::write(location.to_string(), b"a\r\nb\xff").unwrap();

        assert_eq!(read_bytes(&location, STRICT).unwrap().unwrap(), b"a\r\nb\xff");
        assert_eq!(read_text(&location, STRICT).unwrap().unwrap(), "a\r\nb\u{fffd}");
    }

    #[test]
    fn text_is_decompressed_and_bytes_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let location = place(&folder, "a.zst");
        let stored = zstd::encode_all(&b"text"[..], 1).unwrap();
        fs::write(location.to_string(), &stored).unwrap();

        assert_eq!(read_bytes(&location, STRICT).unwrap().unwrap(), stored);
        assert_eq!(read_text(&location, STRICT).unwrap().unwrap(), "text");
    }

    /// Behaviours: RDD-026.
    #[test]
    fn bad_files_are_errors_unless_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let gone = place(&folder, "gone");
        let corrupt = place(&folder, "a.gz");
        fs::write(corrupt.to_string(), b"no gzip").unwrap();

        assert!(read_bytes(&gone, STRICT).unwrap_err().is_missing());
        assert!(read_text(&corrupt, STRICT).unwrap_err().is_corrupt());
        assert_eq!(read_bytes(&gone, LENIENT).unwrap(), None);
        assert_eq!(read_text(&corrupt, LENIENT).unwrap(), None);
    }
}
