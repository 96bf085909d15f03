//! The sixteen bytes in front of a frame.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::super::compression::Stored;
use super::super::error::CodecError;

/// A frame is written when its rows take at least so many bytes.
///
/// Fits in the cache of a core, and is long enough that neither headers nor calls count.
pub const FRAME_TARGET: usize = 256 * 1024;

/// More bytes than this a frame cannot have before compression, and so neither can a row: the most that lz4 takes.
pub const FRAME_MAX: usize = 0x7E00_0000;

/// More rows than this a frame cannot have: a bound for rows that take no bytes.
pub const FRAME_ROWS_MAX: u32 = 1 << 20;

/// How the rows of a frame became bytes; see [`Rows`](crate::codec::Rows).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// [`Rows::compact`](crate::codec::Rows::compact).
    Compact,
    /// [`Rows::fixed`](crate::codec::Rows::fixed).
    Fixed,
}

pub(super) const HEADER_BYTES: usize = 16;
const ROWS_BITS: u32 = 24;
const LAYOUT_BIT: u32 = 1 << ROWS_BITS;
const FORM_SHIFT: u32 = ROWS_BITS + 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) raw_bytes: u32,
    pub(super) stored_bytes: u32,
    pub(super) rows: u32,
    pub(super) layout: Layout,
    pub(super) form: Stored,
}

impl Header {
    /// The header's bytes in front of `payload`.
    pub(super) fn encode(self, payload: &[u8]) -> [u8; HEADER_BYTES] {
        let fields = self.fields();
        let mut bytes = [0; HEADER_BYTES];
        bytes[..12].copy_from_slice(&fields);
        bytes[12..].copy_from_slice(&check(&fields, payload).to_le_bytes());
        bytes
    }

    fn fields(self) -> [u8; 12] {
        let layout = match self.layout {
            Layout::Compact => 0,
            Layout::Fixed => LAYOUT_BIT,
        };
        let form = match self.form {
            Stored::Plain => 0,
            Stored::Lz4 => 1,
            Stored::Zstd => 2,
        };
        let mut fields = [0; 12];
        fields[..4].copy_from_slice(&self.raw_bytes.to_le_bytes());
        fields[4..8].copy_from_slice(&self.stored_bytes.to_le_bytes());
        fields[8..].copy_from_slice(&(self.rows | layout | form << FORM_SHIFT).to_le_bytes());
        fields
    }

    /// Reads a header and the check that follows it. Nothing is believed that no writer would write.
    pub(super) fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<(Self, u32), CodecError> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let damaged = |reason| CodecError::Header { reason };
        let flags = word(8);
        let header = Self {
            raw_bytes: word(0),
            stored_bytes: word(4),
            rows: flags & (LAYOUT_BIT - 1),
            layout: if flags & LAYOUT_BIT == 0 { Layout::Compact } else { Layout::Fixed },
            form: match flags >> FORM_SHIFT {
                0 => Stored::Plain,
                1 => Stored::Lz4,
                2 => Stored::Zstd,
                _ => return Err(damaged("it names no compression")),
            },
        };
        if header.raw_bytes as usize > FRAME_MAX {
            return Err(damaged("it is longer than a frame can be"));
        }
        if header.rows == 0 || header.rows > FRAME_ROWS_MAX {
            return Err(damaged("it has no rows, or more than a frame can have"));
        }
        let fits = match header.form {
            Stored::Plain => header.stored_bytes == header.raw_bytes,
            Stored::Lz4 | Stored::Zstd => header.stored_bytes < header.raw_bytes,
        };
        if !fits {
            return Err(damaged("its two lengths do not fit each other"));
        }
        Ok((header, word(12)))
    }

    /// Compares the check with the payload's.
    pub(super) fn verify(self, expected: u32, payload: &[u8]) -> Result<(), CodecError> {
        let actual = check(&self.fields(), payload);
        if actual == expected { Ok(()) } else { Err(CodecError::Check { expected, actual }) }
    }
}

fn check(fields: &[u8; 12], payload: &[u8]) -> u32 {
    xxh3_64_with_seed(payload, xxh3_64(fields)) as u32
}
