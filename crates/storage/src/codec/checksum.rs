//! The checksum of a block, and streams that compute it as bytes pass: [`Checksum`].
//!
//! CRC-32C, because two of them make that of both blocks together: spilled runs are put into a map output by the
//! kernel, without passing through this process, and consecutive blocks have one checksum. Processors compute it as
//! fast as xxh3. Each frame has a check of another kind (xxh3) besides, so what slips through one is held by the other.

use std::fmt;
use std::io::{self, Read, Write};

/// The checksum of some bytes, and how many they are.
///
/// ```
/// use firesteel_storage::codec::Checksum;
///
/// let whole = Checksum::of(b"spark and steel");
/// let mut parts = Checksum::of(b"spark ");
/// parts.append(Checksum::of(b"and steel"));
/// assert_eq!(parts, whole);
/// assert_ne!(whole, Checksum::of(b"spark and steal"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksum {
    value: u32,
    bytes: u64,
}

impl Checksum {
    /// The checksum of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        let mut checksum = Self::default();
        checksum.update(bytes);
        checksum
    }

    /// A checksum whose parts were stored.
    pub fn from_parts(value: u32, bytes: u64) -> Self {
        Self { value, bytes }
    }

    /// Takes the bytes that follow.
    pub fn update(&mut self, bytes: &[u8]) {
        self.value = crc32c::crc32c_append(self.value, bytes);
        self.bytes += bytes.len() as u64;
    }

    /// Takes the bytes that follow, of which only the checksum is known.
    pub fn append(&mut self, next: Self) {
        // A checksum is linear: that of the whole is the first one, moved up by the bytes behind it, and the second.
        self.value = multiply(power_of_bytes(next.bytes), self.value) ^ next.value;
        self.bytes += next.bytes;
    }

    /// The number itself.
    pub fn value(self) -> u32 {
        self.value
    }

    /// Of how many bytes.
    pub fn bytes(self) -> u64 {
        self.bytes
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:08x} over {} bytes", self.value, self.bytes)
    }
}

/// The polynomial of CRC-32C. As in the checksum itself, the highest bit belongs to the lowest power.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// The polynomial `x` to the power of 0.
const ONE: u32 = 1 << 31;

/// What moving up by 1, 2, 4, 8 … bytes multiplies by.
const POWERS: [u32; 64] = {
    let mut powers = [0; 64];
    // x to the power of 8: one byte.
    powers[0] = ONE >> 8;
    let mut at = 1;
    while at < powers.len() {
        powers[at] = multiply(powers[at - 1], powers[at - 1]);
        at += 1;
    }
    powers
};

/// The product of two polynomials, modulo that of CRC-32C.
const fn multiply(a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    let mut bit = ONE;
    while bit != 0 {
        if a & bit != 0 {
            product ^= b;
        }
        b = if b & 1 == 0 { b >> 1 } else { (b >> 1) ^ POLYNOMIAL };
        bit >>= 1;
    }
    product
}

/// What moving up by so many bytes multiplies by.
fn power_of_bytes(bytes: u64) -> u32 {
    let set = POWERS.iter().enumerate().filter(|(bit, _)| bytes >> bit & 1 == 1);
    set.fold(ONE, |power, (_, step)| multiply(power, *step))
}

/// Bytes are not those that were written. Inside an [`io::Error`] of kind [`InvalidData`](io::ErrorKind::InvalidData).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the checksum is {actual:08x}, not {expected:08x}")]
#[expect(missing_docs, reason = "the field names say it")]
pub struct ChecksumMismatch {
    pub expected: u32,
    pub actual: u32,
}

impl ChecksumMismatch {
    /// The mismatch behind `error`, if it is one.
    pub fn behind(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

/// A writer that takes the checksum of what passes.
#[derive(Debug)]
pub struct ChecksumWriter<W> {
    inner: W,
    checksum: Checksum,
}

impl<W> ChecksumWriter<W> {
    /// A writer in front of `inner`.
    pub fn new(inner: W) -> Self {
        Self { inner, checksum: Checksum::default() }
    }

    /// The checksum since the beginning or the last call, and a new beginning.
    pub fn take(&mut self) -> Checksum {
        std::mem::take(&mut self.checksum)
    }

    /// Takes bytes into account that were written to the writer behind directly.
    pub fn append(&mut self, next: Checksum) {
        self.checksum.append(next);
    }

    /// The checksum since the beginning or the last [`take`](Self::take).
    pub fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// The writer behind. Bytes written to it directly are in the checksum only if they are [appended](Self::append).
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// The writer behind.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// Gives the writer behind back.
    pub fn into_inner(self) -> W {
        self.inner
    }
}

impl<W: Write> Write for ChecksumWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.checksum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A reader that knows how many bytes must come and what their checksum must be.
///
/// A reader that reaches the end has verified all: the end is an error if the bytes were others, and it is an error if
/// there are fewer. It never gives more bytes than it should. Bytes before the end are given out unverified.
#[derive(Debug)]
pub struct VerifyingReader<R> {
    inner: R,
    seen: Checksum,
    expected: Checksum,
}

impl<R> VerifyingReader<R> {
    /// A reader of `inner`, whose bytes should have the checksum `expected`.
    pub fn new(inner: R, expected: Checksum) -> Self {
        Self { inner, seen: Checksum::default(), expected }
    }

    fn end(&self) -> io::Result<usize> {
        let (expected, actual) = (self.expected.value, self.seen.value);
        if expected == actual {
            return Ok(0);
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, ChecksumMismatch { expected, actual }))
    }
}

impl<R: Read> Read for VerifyingReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.expected.bytes - self.seen.bytes;
        if left == 0 {
            return self.end();
        }
        if out.is_empty() {
            return Ok(0);
        }
        let room = out.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.inner.read(&mut out[..room])?;
        if read == 0 {
            let message = format!("the data ends {left} bytes early");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        self.seen.update(&out[..read]);
        // The last bytes are held back until they are known to be sound.
        if self.seen.bytes == self.expected.bytes {
            self.end()?;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(Checksum::of(b"123456789").value(), 0xE306_9283);
    }

    #[test]
    fn long_parts_are_put_together_by_their_checksums() {
        let zeroes = vec![0; 3_000_001];
        let mut parts = Checksum::of(b"head");
        parts.append(Checksum::of(&zeroes));

        assert_eq!(parts, Checksum::of(&[&b"head"[..], &zeroes].concat()));
    }

    #[test]
    fn a_reader_fails_at_the_end_of_other_bytes() {
        let expected = Checksum::of(b"abcdef");

        let mut sound = VerifyingReader::new(&b"abcdef-and-more"[..], expected);
        let mut text = String::new();
        sound.read_to_string(&mut text).unwrap();
        assert_eq!(text, "abcdef");

        let error = VerifyingReader::new(&b"abcdeg"[..], expected).read_to_end(&mut Vec::new()).unwrap_err();
        let mismatch = ChecksumMismatch::behind(&error).unwrap();
        assert_eq!(mismatch.expected, expected.value());
        assert_eq!(mismatch.actual, Checksum::of(b"abcdeg").value());
    }

    #[test]
    fn a_reader_fails_where_bytes_are_missing() {
        let mut reader = VerifyingReader::new(&b"abc"[..], Checksum::of(b"abcdef"));

        let error = reader.read_to_end(&mut Vec::new()).unwrap_err();

        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert!(error.to_string().contains("3 bytes early"), "{error}");
    }

    #[test]
    fn a_writer_counts_what_was_really_written() {
        struct OneByte(Vec<u8>);
        impl Write for OneByte {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.extend(bytes.first());
                Ok(bytes.len().min(1))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut writer = ChecksumWriter::new(OneByte(Vec::new()));

        writer.write_all(b"abc").unwrap();
        assert_eq!(writer.take(), Checksum::of(b"abc"));
        writer.write_all(b"de").unwrap();

        assert_eq!(writer.take(), Checksum::of(b"de"));
        assert_eq!(writer.into_inner().0, b"abcde");
    }

    proptest! {
        #[test]
        fn checksums_of_parts_make_that_of_the_whole(parts in prop::collection::vec(any::<Vec<u8>>(), 0..6)) {
            let mut combined = Checksum::default();
            let mut streamed = Checksum::default();
            for part in &parts {
                combined.append(Checksum::of(part));
                streamed.update(part);
            }

            prop_assert_eq!(combined, Checksum::of(&parts.concat()));
            prop_assert_eq!(streamed, combined);
        }
    }
}
