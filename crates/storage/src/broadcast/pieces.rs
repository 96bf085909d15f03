//! Cutting a value's bytes into pieces ([`Cutter`]) and putting them together again ([`Manifest`]).

use std::{fmt, io, io::Write, mem, ops::Range};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::BroadcastError;
use crate::block::BroadcastId;

/// How values are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceOptions {
    /// How many bytes of the value a piece has, the last one excepted.
    pub size: u32,
    /// Whether pieces are compressed (lz4).
    pub compress: bool,
}

impl Default for PieceOptions {
    fn default() -> Self {
        Self { size: 4 * 1024 * 1024, compress: true }
    }
}

/// All that is needed to fetch a value and put it together: it travels with the closures that use the value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The value.
    pub id: BroadcastId,
    len: u64,
    piece_size: u32,
    is_compressed: bool,
    /// Of each piece as it is stored.
    checksums: Vec<u64>,
}

impl Manifest {
    /// How many bytes the value has.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the value has no bytes, and so no pieces.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many pieces there are.
    pub fn pieces(&self) -> u32 {
        self.checksums.len() as u32
    }

    /// Which bytes of the value a piece holds.
    fn range(&self, piece: u32) -> Range<usize> {
        let (start, size) = (u64::from(piece) * u64::from(self.piece_size), u64::from(self.piece_size));
        start as usize..(start + size).min(self.len) as usize
    }

    /// A value without content, to be filled by [`place`](Self::place).
    pub fn blank(&self) -> Vec<u8> {
        vec![0; self.len as usize]
    }

    /// Checks a piece and puts its bytes in their place of `value`, which is a [`blank`](Self::blank) one.
    pub fn place(&self, piece: u32, stored: &[u8], value: &mut [u8]) -> Result<(), BroadcastError> {
        let id = self.id;
        self.check(piece, stored)?;
        let range = self.range(piece);
        let malformed = BroadcastError::Malformed { id, piece, expected: range.len() };
        let Some(target) = value.get_mut(range) else { return Err(malformed) };
        if self.is_compressed {
            match lz4_flex::block::decompress_into(stored, target) {
                Ok(len) if len == target.len() => Ok(()),
                Ok(_) | Err(_) => Err(malformed),
            }
        } else if stored.len() == target.len() {
            target.copy_from_slice(stored);
            Ok(())
        } else {
            Err(malformed)
        }
    }

    /// Fails if a piece is not what was published.
    pub fn check(&self, piece: u32, stored: &[u8]) -> Result<(), BroadcastError> {
        let id = self.id;
        let expected = *self.checksums.get(piece as usize).ok_or(BroadcastError::Lost { id, piece })?;
        let actual = xxh3_64(stored);
        if actual == expected { Ok(()) } else { Err(BroadcastError::Corrupt { id, piece, expected, actual }) }
    }
}

/// Cuts what is written to it, and hands on each piece as soon as it is full.
///
/// ```
/// use std::io::Write;
/// use firesteel_storage::{block::BroadcastId, broadcast::{Cutter, PieceOptions}};
///
/// let mut pieces = Vec::new();
/// let options = PieceOptions { size: 4, compress: false };
/// let mut cutter = Cutter::new(BroadcastId(0), options, |_, piece| Ok(pieces.push(piece)));
/// cutter.write_all(b"a value")?;
/// let manifest = cutter.finish()?;
///
/// assert_eq!(pieces, ["a va", "lue"]);
/// assert_eq!(manifest.len(), 7);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Cutter<F> {
    manifest: Manifest,
    full: F,
    current: Vec<u8>,
}

impl<F> fmt::Debug for Cutter<F> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = out.debug_struct("Cutter");
        fields.field("manifest", &self.manifest).finish_non_exhaustive()
    }
}

impl<F: FnMut(u32, Bytes) -> io::Result<()>> Cutter<F> {
    /// Begins a value; each piece goes to `full` with its number.
    pub fn new(id: BroadcastId, options: PieceOptions, full: F) -> Self {
        let PieceOptions { size, compress } = options;
        let manifest = Manifest {
            id,
            len: 0,
            // A piece without bytes would never be full.
            piece_size: size.max(1),
            is_compressed: compress,
            checksums: Vec::new(),
        };
        Self { manifest, full, current: Vec::new() }
    }

    /// Ends the value, with a last piece that may be shorter.
    pub fn finish(mut self) -> io::Result<Manifest> {
        if !self.current.is_empty() {
            self.seal()?;
        }
        Ok(self.manifest)
    }

    fn seal(&mut self) -> io::Result<()> {
        let bytes = mem::take(&mut self.current);
        let stored = if self.manifest.is_compressed { lz4_flex::block::compress(&bytes) } else { bytes };
        let number = self.manifest.pieces();
        self.manifest.checksums.push(xxh3_64(&stored));
        (self.full)(number, stored.into())
    }
}

impl<F: FnMut(u32, Bytes) -> io::Result<()>> Write for Cutter<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.manifest.piece_size as usize - self.current.len();
        let taken = bytes.len().min(room);
        self.current.extend_from_slice(&bytes[..taken]);
        self.manifest.len += taken as u64;
        if taken == room {
            self.seal()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(bytes: &[u8], options: PieceOptions) -> (Manifest, Vec<Bytes>) {
        let mut pieces = Vec::new();
        let mut cutter = Cutter::new(BroadcastId(3), options, |number, piece| {
            assert_eq!(number as usize, pieces.len());
            pieces.push(piece);
            Ok(())
        });
        cutter.write_all(bytes).unwrap();
        let manifest = cutter.finish().unwrap();
        (manifest, pieces)
    }

    fn join(manifest: &Manifest, pieces: &[Bytes]) -> Result<Vec<u8>, BroadcastError> {
        let mut value = manifest.blank();
        for (number, piece) in pieces.iter().enumerate().rev() {
            manifest.place(number as u32, piece, &mut value)?;
        }
        Ok(value)
    }

    /// Behaviours: BC-001.
    #[test]
    fn pieces_have_four_mebibytes_and_the_last_is_shorter() {
        let mib = 1024 * 1024;
        let value = vec![7; 9 * mib];
        let plain = PieceOptions { compress: false, ..PieceOptions::default() };

        let (manifest, pieces) = cut(&value, plain);
        let sizes: Vec<_> = pieces.iter().map(Bytes::len).collect();
        assert_eq!(sizes, [4 * mib, 4 * mib, mib]);
        assert_eq!((manifest.pieces(), manifest.len()), (3, 9 * mib as u64));

        let (manifest, pieces) = cut(&value, PieceOptions::default());
        assert_eq!(manifest.pieces(), 3);
        assert!(pieces.iter().all(|piece| piece.len() < mib / 10), "compressed unless told otherwise");
        assert!(join(&manifest, &pieces).unwrap() == value);
    }

    /// Behaviours: BC-001.
    #[test]
    fn a_changed_piece_is_found_by_its_checksum() {
        for compress in [false, true] {
            let (manifest, mut pieces) = cut(&[1; 100], PieceOptions { size: 30, compress });
            let mut changed = pieces[2].to_vec();
            changed[3] ^= 1;
            pieces[2] = changed.into();

            let error = join(&manifest, &pieces).unwrap_err();

            assert!(matches!(error, BroadcastError::Corrupt { piece: 2, .. }), "{error}");
        }
    }

    #[test]
    fn a_piece_of_another_length_is_an_error_even_with_its_checksum() {
        for compress in [false, true] {
            let (manifest, pieces) = cut(&[1; 100], PieceOptions { size: 30, compress });
            let (other, _) = cut(&[1; 95], PieceOptions { size: 30, compress });
            let claims = Manifest { checksums: manifest.checksums.clone(), ..other };

            let error = join(&claims, &pieces).unwrap_err();

            assert!(matches!(error, BroadcastError::Malformed { piece: 3, expected: 5, .. }), "{error}");
        }
    }

    #[test]
    fn a_value_without_bytes_has_no_pieces() {
        let (manifest, pieces) = cut(&[], PieceOptions::default());

        assert!(pieces.is_empty() && manifest.is_empty());
        assert_eq!(join(&manifest, &pieces).unwrap(), []);
    }

    proptest! {
        /// Behaviours: BC-001.
        #[test]
        fn joined_pieces_are_the_value(
            value in prop::collection::vec(0..4_u8, 0..500),
            size in 1..200_u32,
            compress: bool,
        ) {
            let (manifest, pieces) = cut(&value, PieceOptions { size, compress });

            prop_assert_eq!(pieces.len(), value.len().div_ceil(size as usize));
            prop_assert_eq!(join(&manifest, &pieces).unwrap(), value);
        }
    }
}
