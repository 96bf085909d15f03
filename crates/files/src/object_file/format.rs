//! The bytes of object files: [`Header`], the shape of rows, [`BlockHead`], and the compression of blocks.
//!
//! Pure conversions from and to bytes; reasons for refusal are texts that the reader completes with file and place.

use firesteel_storage::codec::Shape;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: [u8; 8] = *b"FSTLOBJ\0";
/// 1 had rows in another form and no shape.
const VERSION: u8 = 2;
const END_MARK: u64 = u64::from_le_bytes(*b"FSTL END");

/// A level at which zstd costs little more than lz4 and stores clearly less.
const ZSTD_LEVEL: i32 = 1;

/// How the blocks of an object file are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Compression {
    /// Not at all.
    None,
    /// Fast, and enough for most data.
    #[default]
    Lz4,
    /// Slower and smaller.
    Zstd,
}

impl Compression {
    /// All of them, each at the place of its code.
    pub const ALL: [Self; 3] = [Self::None, Self::Lz4, Self::Zstd];

    /// Compresses the content of a block.
    pub(super) fn compress(self, plain: &[u8]) -> std::io::Result<Vec<u8>> {
        match self {
            Self::None => Ok(plain.to_vec()),
            Self::Lz4 => Ok(lz4_flex::block::compress(plain)),
            Self::Zstd => zstd::bulk::compress(plain, ZSTD_LEVEL),
        }
    }

    /// Gives the content of a block back, which must have `plain_length` bytes.
    pub(super) fn decompress(self, stored: Vec<u8>, plain_length: u64) -> Result<Vec<u8>, String> {
        let length = usize::try_from(plain_length).map_err(|_| "a block is larger than memory".to_owned())?;
        let plain = match self {
            Self::None => stored,
            Self::Lz4 => lz4_flex::block::decompress(&stored, length).map_err(|error| error.to_string())?,
            Self::Zstd => zstd::bulk::decompress(&stored, length).map_err(|error| error.to_string())?,
        };
        if plain.len() == length {
            Ok(plain)
        } else {
            Err(format!("a block has {} bytes, not {length}", plain.len()))
        }
    }
}

/// The beginning of an object file, of a fixed length. The shape of the rows follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) compression: Compression,
    /// The bytes of the shape's text.
    pub(super) shape_length: u16,
}

impl Header {
    pub(super) const BYTES: usize = 16;

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8] = VERSION;
        bytes[9] = self.compression as u8;
        bytes[10..12].copy_from_slice(&self.shape_length.to_le_bytes());
        let check = xxh3_64(&bytes[..12]) as u32;
        bytes[12..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, String> {
        if bytes[..8] != MAGIC {
            return Err("it does not begin like one".to_owned());
        }
        if bytes[8] != VERSION {
            return Err(format!("it has version {}, this build reads version {VERSION}", bytes[8]));
        }
        if bytes[12..] != (xxh3_64(&bytes[..12]) as u32).to_le_bytes() {
            return Err("its header is damaged".to_owned());
        }
        let shape_length = u16::from_le_bytes([bytes[10], bytes[11]]);
        match Compression::ALL.get(usize::from(bytes[9])) {
            Some(&compression) => Ok(Self { compression, shape_length }),
            None => Err(format!("its compression {} is unknown", bytes[9])),
        }
    }
}

/// The shape of the rows as it stands behind the header: its text and a check of that.
pub(super) fn shape_bytes(shape: &Shape) -> (u16, Vec<u8>) {
    let text = shape.as_str().as_bytes();
    let length = u16::try_from(text.len()).expect("the text of a shape is bounded");
    (length, [text, &content_check(text).to_le_bytes()].concat())
}

/// Reads what [`shape_bytes`] wrote; `None` when its check fails.
pub(super) fn shape_from_bytes(bytes: &[u8]) -> Option<Shape> {
    let (text, check) = bytes.split_last_chunk()?;
    if content_check(text) != u64::from_le_bytes(*check) {
        return None;
    }
    String::from_utf8(text.to_vec()).ok().map(Shape::from_text)
}

/// What stands in front of a block's content, or at the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockHead {
    Block { stored_length: u64, plain_length: u64, rows: u64, content_check: u64 },
    End { total_rows: u64 },
}

impl BlockHead {
    pub(super) const BYTES: usize = 40;

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let fields = match self {
            Self::Block { stored_length, plain_length, rows, content_check } => {
                [stored_length, plain_length, rows, content_check]
            }
            Self::End { total_rows } => [0, 0, total_rows, END_MARK],
        };
        let mut bytes = [0; Self::BYTES];
        for (place, field) in bytes.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        let check = xxh3_64(&bytes[..32]);
        bytes[32..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// Reads a head; `None` when its check fails.
    pub(super) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let mut fields = [0; 5];
        for (field, place) in fields.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *field = u64::from_le_bytes(*place);
        }
        let [stored_length, plain_length, rows, content_check, check] = fields;
        if check != xxh3_64(&bytes[..32]) {
            return None;
        }
        Some(match (stored_length, plain_length, content_check) {
            (0, 0, END_MARK) => Self::End { total_rows: rows },
            _ => Self::Block { stored_length, plain_length, rows, content_check },
        })
    }
}

/// The check of a block's content.
pub(super) fn content_check(stored: &[u8]) -> u64 {
    xxh3_64(stored)
}
