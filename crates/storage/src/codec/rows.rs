//! Batches of rows to bytes and back: [`Rows`].

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::bulk::Bulk;
use super::format::{Decoder, Encoder, RowError};
use super::frame::FRAME_ROWS_MAX;
use super::plain::Plain;
use super::symmetry::{Mismatch, Verdict, compare_value, verdict};

/// Room for at most so many bytes of rows is made before a single one of them was read.
const RESERVE_BYTES_MAX: usize = 1 << 20;

/// How rows of type `T` become bytes and come back.
///
/// Any serde type that does not ask what comes next (`untagged`, `tag`, `flatten`) has the [compact](Rows::compact)
/// form. Numbers and pairs of numbers have a [fixed](Rows::fixed) one too, which is larger and nearly as fast as memory
/// is copied; it is the better one if no compressor follows. Bytes do not tell which of the two they are.
///
/// ```
/// use firesteel_storage::codec::Rows;
///
/// let codec = Rows::compact();
/// let mut bytes = Vec::new();
/// codec.encode(&[("a".to_owned(), 1_u64), ("b".to_owned(), 2)], &mut bytes)?;
///
/// let mut rows = Vec::new();
/// codec.decode(&bytes, 2, &mut rows)?;
/// assert_eq!(rows[1], ("b".to_owned(), 2));
/// assert!(codec.decode(&bytes[1..], 2, &mut rows).is_err());
/// # Ok::<(), firesteel_storage::codec::format::RowError>(())
/// ```
#[derive(Debug)]
pub struct Rows<T> {
    encoding: Encoding,
    rows: PhantomData<fn(T) -> T>,
}

/// How the bytes are made.
#[derive(Clone, Copy, Debug)]
enum Encoding {
    Serde,
    /// The same bytes as through serde.
    Bulk(Bulk),
    /// The fixed form.
    Plain(Plain),
    /// Through serde, if the first row of a frame is read as it is written: made-up ones could not show it.
    Unproven,
    /// The type does not read what it writes.
    Refused(&'static Mismatch),
}

impl<T> Clone for Rows<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Rows<T> {}

impl<T: 'static> Rows<T> {
    /// The form that every type has. Looks into a table: keep what you get for as long as rows come.
    ///
    /// A type that does not read what it writes is refused when rows come.
    pub fn compact() -> Self
    where
        T: Serialize + DeserializeOwned,
    {
        let encoding = match Bulk::of::<T>() {
            Some(bulk) => Encoding::Bulk(bulk),
            None => match verdict::<T>() {
                Verdict::Sound => Encoding::Serde,
                Verdict::Unproven => Encoding::Unproven,
                Verdict::Refused(mismatch) => Encoding::Refused(mismatch),
            },
        };
        Self { encoding, rows: PhantomData }
    }

    /// The form of rows that all have the same width: integers, floating-point numbers, and pairs of them.
    ///
    /// ```
    /// use firesteel_storage::codec::Rows;
    ///
    /// let mut bytes = Vec::new();
    /// let codec = Rows::fixed().expect("a pair of integers has a fixed form");
    /// codec.encode(&[(1_u16, 2_u32), (3, 4)], &mut bytes)?;
    /// assert_eq!(bytes, [1, 0, 2, 0, 0, 0, 3, 0, 4, 0, 0, 0]);
    ///
    /// assert!(Rows::<String>::fixed().is_none());
    /// # Ok::<(), firesteel_storage::codec::format::RowError>(())
    /// ```
    pub fn fixed() -> Option<Self> {
        Plain::of::<T>().map(|plain| Self { encoding: Encoding::Plain(plain), rows: PhantomData })
    }

    /// Whether this is the fixed form.
    pub fn is_fixed(&self) -> bool {
        matches!(self.encoding, Encoding::Plain(_))
    }

    /// Appends `rows` to `out`. After an error, a part of them may stand there.
    pub fn encode(&self, rows: &[T], out: &mut Vec<u8>) -> Result<(), RowError>
    where
        T: Serialize + DeserializeOwned,
    {
        self.encode_up_to(rows, usize::MAX, out).map(|_| ())
    }

    /// Appends rows until `out` is at least `target` bytes long or none is left; returns how many they were.
    ///
    /// At least one row is taken if there is one, so a loop over the rest ends.
    pub fn encode_up_to(&self, rows: &[T], target: usize, out: &mut Vec<u8>) -> Result<usize, RowError>
    where
        T: Serialize + DeserializeOwned,
    {
        match self.encoding {
            Encoding::Serde | Encoding::Bulk(_) => (),
            Encoding::Plain(plain) => {
                let room = target.saturating_sub(out.len()).div_ceil(plain.width).max(1);
                let taken = &rows[..rows.len().min(room)];
                plain.encode(taken, out);
                return Ok(taken.len());
            }
            Encoding::Unproven => compare_first(rows, out)?,
            Encoding::Refused(mismatch) => return Err(refused(mismatch)),
        }
        let mut encoder = Encoder::new(out);
        for (index, row) in rows.iter().enumerate() {
            match self.encoding {
                Encoding::Bulk(bulk) => bulk.encode(row, &mut encoder),
                Encoding::Serde | Encoding::Plain(_) | Encoding::Unproven | Encoding::Refused(_) => {
                    encoder.append(row)?
                }
            }
            if encoder.written() >= target {
                return Ok(index + 1);
            }
        }
        Ok(rows.len())
    }

    /// Appends the `rows` rows that `bytes` hold to `out`.
    ///
    /// The bytes need not be sound: unless they are exactly so many rows this is an error, and `out` is as long as
    /// before. Memory is reserved for as much as the bytes can really hold.
    pub fn decode(&self, bytes: &[u8], rows: usize, out: &mut Vec<T>) -> Result<(), RowError>
    where
        T: DeserializeOwned,
    {
        if let Encoding::Plain(plain) = self.encoding {
            let expected = rows.checked_mul(plain.width);
            if expected != Some(bytes.len()) {
                return Err(wrong_length(bytes.len(), expected));
            }
            plain.decode(bytes, out);
            return Ok(());
        }
        if let Encoding::Refused(mismatch) = self.encoding {
            return Err(refused(mismatch));
        }
        // Rows that take no bytes are bounded as they are in a frame.
        if rows.saturating_sub(bytes.len()) > FRAME_ROWS_MAX as usize {
            return Err(RowError::Ends);
        }
        let before = out.len();
        out.reserve(rows.min(RESERVE_BYTES_MAX / size_of::<T>().max(1)));
        let decoded = match self.encoding {
            Encoding::Bulk(bulk) => bulk.decode(bytes, rows, out),
            Encoding::Serde | Encoding::Plain(_) | Encoding::Unproven | Encoding::Refused(_) => {
                decode_each(bytes, rows, out)
            }
        };
        if decoded.is_err() {
            out.truncate(before);
        }
        decoded
    }
}

/// Compares the first row of a frame, whose bytes are `out`, with what would be read.
#[cold]
fn compare_first<T: Serialize + DeserializeOwned>(rows: &[T], out: &[u8]) -> Result<(), RowError> {
    match rows.first() {
        Some(row) if out.is_empty() => compare_value(row),
        Some(_) | None => Ok(()),
    }
}

#[cold]
fn refused(mismatch: &Mismatch) -> RowError {
    RowError::Asymmetric { mismatch: Box::new(mismatch.clone()) }
}

fn decode_each<T: DeserializeOwned>(bytes: &[u8], rows: usize, out: &mut Vec<T>) -> Result<(), RowError> {
    let mut decoder = Decoder::new(bytes);
    for _ in 0..rows {
        out.push(decoder.take()?);
    }
    decoder.finish()
}

fn wrong_length(bytes: usize, expected: Option<usize>) -> RowError {
    match expected {
        Some(expected) if expected < bytes => RowError::Left { bytes: bytes - expected },
        _ => RowError::Ends,
    }
}
