//! The bytes of a block, in memory or in a file: [`Payload`].

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
    sync::Arc,
};

use bytes::{Buf, Bytes};

/// Bytes to be sent or read, where they are.
///
/// ```
/// use std::io::Read;
///
/// use firesteel_storage::transfer::Payload;
///
/// let parts = Payload::Many(vec![Payload::from("a block "), Payload::from("in two parts")]);
/// let mut text = String::new();
/// parts.reader().read_to_string(&mut text)?;
/// assert_eq!(text, "a block in two parts");
/// assert_eq!(parts.len(), 20);
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub enum Payload {
    /// Bytes in memory.
    Bytes(Bytes),
    /// A range of an open file. Sent by the kernel where the connection allows it.
    File {
        /// The file.
        file: Arc<File>,
        /// Where the range begins.
        offset: u64,
        /// How long it is.
        len: u64,
    },
    /// One after the other.
    Many(Vec<Payload>),
}

impl Payload {
    /// The number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { len, .. } => *len,
            Self::Many(parts) => parts.iter().map(Self::len).sum(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A reader over all of it, which leaves the files' own positions alone.
    pub fn reader(&self) -> PayloadReader {
        let mut parts = Vec::new();
        self.flatten(&mut parts);
        parts.reverse();
        PayloadReader { parts }
    }

    /// An error when a file is shorter than the range says, so that this is known before a length is promised.
    pub(super) fn check_files(&self) -> io::Result<()> {
        match self {
            Self::Bytes(_) => Ok(()),
            Self::File { file, offset, len } => {
                let (end, size) = (offset.saturating_add(*len), file.metadata()?.len());
                if size < end {
                    return Err(io::Error::other(format!("its file ends at byte {size}, before {end}")));
                }
                Ok(())
            }
            Self::Many(parts) => parts.iter().try_for_each(Self::check_files),
        }
    }

    fn flatten(&self, out: &mut Vec<Self>) {
        match self {
            Self::Bytes(_) | Self::File { .. } => out.push(self.clone()),
            Self::Many(parts) => parts.iter().for_each(|part| part.flatten(out)),
        }
    }
}

impl<T: Into<Bytes>> From<T> for Payload {
    fn from(bytes: T) -> Self {
        Self::Bytes(bytes.into())
    }
}

/// Reads a [`Payload`] from its first byte to its last.
///
/// A file that ends too early is an error, never a short read that looks like the end.
#[derive(Debug)]
pub struct PayloadReader {
    /// The parts still to be read, the next one last.
    parts: Vec<Payload>,
}

impl Read for PayloadReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        while let Some(part) = self.parts.last_mut() {
            let read = match part {
                Payload::Bytes(bytes) => {
                    let read = bytes.len().min(buf.len());
                    bytes.copy_to_slice(&mut buf[..read]);
                    read
                }
                // Parts of parts do not occur here: `reader` flattened them.
                Payload::File { len: 0, .. } | Payload::Many(_) => 0,
                Payload::File { file, offset, len } => {
                    let most = usize::try_from(*len).map_or(buf.len(), |len| len.min(buf.len()));
                    let read = file.read_at(&mut buf[..most], *offset)?;
                    if read == 0 {
                        return Err(io::Error::new(
                            io::ErrorKind::UnexpectedEof,
                            format!("the file ends at byte {offset}, {len} bytes too early"),
                        ));
                    }
                    *offset += read as u64;
                    *len -= read as u64;
                    read
                }
            };
            if read > 0 {
                return Ok(read);
            }
            self.parts.pop();
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(content: &[u8]) -> Arc<File> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        Arc::new(file)
    }

    #[test]
    fn nested_parts_are_read_in_order() {
        let file = file(b"0123456789");
        let payload = Payload::Many(vec![
            Payload::File { file: file.clone(), offset: 2, len: 3 },
            Payload::Many(vec![Payload::from(""), Payload::from("ab")]),
            Payload::File { file, offset: 9, len: 1 },
        ]);

        let mut read = Vec::new();
        payload.reader().read_to_end(&mut read).unwrap();

        assert_eq!(read, b"234ab9");
        assert_eq!(payload.len(), 6);
        payload.check_files().unwrap();
    }

    #[test]
    fn a_file_that_is_too_short_is_an_error() {
        let payload = Payload::Many(vec![Payload::File { file: file(b"abc"), offset: 1, len: 3 }]);

        assert!(payload.check_files().unwrap_err().to_string().contains("ends at byte 3, before 4"));
        let error = payload.reader().read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
