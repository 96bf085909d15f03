//! The bytes of a block, in memory or in a file: [`Payload`].

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
    sync::Arc,
};

use bytes::{Buf, Bytes};
use rustix::{buffer::spare_capacity, io::Errno};

/// A range of a file up to this length is read rather than sent by the kernel.
const READ_BYTES_MAX: u64 = 256 << 10;

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

    /// Makes a payload ready to be sent: short ranges of files are read, of long ones the end is looked for.
    ///
    /// So a file that is too short is an error before a length is promised to the peer. A short range costs less read
    /// and sent together with its header than handed to the kernel by a call of its own.
    pub(super) fn prepare(&self) -> io::Result<Self> {
        self.prepared(self.len() <= READ_BYTES_MAX)
    }

    /// Parts are read or not all alike: many short ranges may be more than memory should hold.
    fn prepared(&self, read: bool) -> io::Result<Self> {
        match self {
            Self::Bytes(bytes) => Ok(Self::Bytes(bytes.clone())),
            Self::File { file, offset, len } if read => {
                read_range(file, *offset, *len as usize).map(Self::from)
            }
            Self::File { file, offset, len } => match file.metadata()?.len() {
                size if size < offset.saturating_add(*len) => Err(too_short(size, *offset, *len)),
                _ => Ok(self.clone()),
            },
            Self::Many(parts) => {
                parts.iter().map(|part| part.prepared(read)).collect::<Result<_, _>>().map(Self::Many)
            }
        }
    }

    fn flatten(&self, out: &mut Vec<Self>) {
        match self {
            Self::Bytes(_) | Self::File { .. } => out.push(self.clone()),
            Self::Many(parts) => parts.iter().for_each(|part| part.flatten(out)),
        }
    }
}

fn read_range(file: &File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len {
        let at = offset + bytes.len() as u64;
        match rustix::io::pread(file, spare_capacity(&mut bytes), at) {
            Ok(0) => return Err(too_short(at, offset, len as u64)),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // The memory may have been larger than was asked for, and the file longer than the range.
    bytes.truncate(len);
    Ok(bytes)
}

fn too_short(size: u64, offset: u64, len: u64) -> io::Error {
    let end = offset.saturating_add(len);
    io::Error::other(format!("its file ends at byte {size}, before {end}"))
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
    fn short_ranges_are_read_and_long_ones_stay_where_they_are() {
        let long = file(&vec![7; READ_BYTES_MAX as usize + 2]);
        let range = |offset, len| Payload::File { file: long.clone(), offset, len };

        let short = range(1, READ_BYTES_MAX).prepare().unwrap();
        assert!(matches!(short, Payload::Bytes(bytes) if bytes.len() as u64 == READ_BYTES_MAX));
        assert!(matches!(range(1, READ_BYTES_MAX + 1).prepare().unwrap(), Payload::File { .. }));
        let many = Payload::Many(vec![range(0, 1000); 1000]).prepare().unwrap();
        assert!(matches!(many, Payload::Many(parts) if matches!(parts[0], Payload::File { .. })));
        let error = range(2, READ_BYTES_MAX + 1).prepare().unwrap_err().to_string();
        assert!(error.contains("ends at byte 262146, before 262147"), "{error}");
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
    }

    #[test]
    fn a_file_that_is_too_short_is_an_error() {
        let payload = Payload::Many(vec![Payload::File { file: file(b"abc"), offset: 1, len: 3 }]);

        assert!(payload.prepare().unwrap_err().to_string().contains("ends at byte 3, before 4"));
        let error = payload.reader().read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
