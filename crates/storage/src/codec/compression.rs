//! How bytes are made fewer: [`Compression`].

use std::fmt;
use std::str::FromStr;

use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};
use serde::{Deserialize, Serialize};

use super::buffer::free_if_large;
use super::error::CodecError;

/// What is done to bytes before they are written or sent.
///
/// As text: `none`, `lz4`, `zstd` (level 1), or `zstd:6`.
///
/// ```
/// use firesteel_storage::codec::Compression;
///
/// assert_eq!("zstd:6".parse(), Ok(Compression::Zstd { level: 6 }));
/// assert_eq!(Compression::default().to_string(), "lz4");
/// assert!("zip".parse::<Compression>().unwrap_err().to_string().contains("lz4"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Compression {
    /// Nothing: for rows that are random anyway, or where the disk is as fast as memory.
    None,
    /// Fast in both directions.
    #[default]
    Lz4,
    /// Smaller, and some times slower.
    Zstd {
        /// From 1 (fast) to 22 (small); below 1 it is faster still.
        level: i32,
    },
}

/// The fastest and the smallest that zstd has.
const ZSTD_LEVELS: std::ops::RangeInclusive<i32> = -7..=22;

/// What Spark takes for shuffles.
const ZSTD_DEFAULT: i32 = 1;

/// A text is not a [`Compression`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no compression; write `none`, `lz4`, `zstd` or `zstd:LEVEL` with a level from -7 to 22")]
pub struct UnknownCompression {
    text: String,
}

impl FromStr for Compression {
    type Err = UnknownCompression;

    fn from_str(text: &str) -> Result<Self, UnknownCompression> {
        let unknown = || UnknownCompression { text: text.to_owned() };
        match text.trim().to_ascii_lowercase().as_str() {
            "none" => Ok(Self::None),
            "lz4" => Ok(Self::Lz4),
            "zstd" => Ok(Self::Zstd { level: ZSTD_DEFAULT }),
            other => {
                let level = other.strip_prefix("zstd:").and_then(|level| level.parse().ok());
                let level = level.filter(|level| ZSTD_LEVELS.contains(level)).ok_or_else(unknown)?;
                Ok(Self::Zstd { level })
            }
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => out.write_str("none"),
            Self::Lz4 => out.write_str("lz4"),
            Self::Zstd { level: ZSTD_DEFAULT } => out.write_str("zstd"),
            Self::Zstd { level } => write!(out, "zstd:{level}"),
        }
    }
}

/// How the bytes of one frame are stored: what a reader has to undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    Plain,
    Lz4,
    Zstd,
}

/// A compressor and what it can use again: tables, a context, the room for its output.
pub(super) struct Compressor {
    engine: Engine,
    out: Vec<u8>,
}

enum Engine {
    None,
    Lz4(CompressTable),
    Zstd(zstd::bulk::Compressor<'static>),
}

impl Compressor {
    pub(super) fn new(compression: Compression) -> Result<Self, CodecError> {
        let engine = match compression {
            Compression::None => Engine::None,
            Compression::Lz4 => Engine::Lz4(CompressTable::default()),
            Compression::Zstd { level } => {
                let level = level.clamp(*ZSTD_LEVELS.start(), *ZSTD_LEVELS.end());
                Engine::Zstd(zstd::bulk::Compressor::new(level).map_err(CodecError::compressor)?)
            }
        };
        Ok(Self { engine, out: Vec::new() })
    }

    /// The bytes to store for `raw`, and what they are. Bytes that hardly shrink stay as they are.
    pub(super) fn compress<'a>(&'a mut self, raw: &'a [u8]) -> Result<(Stored, &'a [u8]), CodecError> {
        // Less than this is not worth undoing.
        let worth_it = raw.len() - raw.len() / 16;
        let (stored, length) = match &mut self.engine {
            Engine::None => return Ok((Stored::Plain, raw)),
            Engine::Lz4(table) => {
                self.out.resize(get_maximum_output_size(raw.len()), 0);
                let length = compress_into_with_table(raw, &mut self.out, table)
                    .map_err(|error| CodecError::compressor(std::io::Error::other(error)))?;
                (Stored::Lz4, length)
            }
            Engine::Zstd(context) => {
                self.out.resize(zstd::zstd_safe::compress_bound(raw.len()), 0);
                let length =
                    context.compress_to_buffer(raw, &mut self.out[..]).map_err(CodecError::compressor)?;
                (Stored::Zstd, length)
            }
        };
        if length < worth_it { Ok((stored, &self.out[..length])) } else { Ok((Stored::Plain, raw)) }
    }

    /// Frees the room for its output if a large frame took it.
    pub(super) fn free_if_large(&mut self) {
        free_if_large(&mut self.out);
    }
}

/// Undoes what a [`Compressor`] did.
#[derive(Default)]
pub(super) struct Decompressor {
    /// Made when the first frame needs it.
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl Decompressor {
    /// Fills `raw`, which is as long as the bytes were, from `stored`.
    pub(super) fn decompress(
        &mut self,
        form: Stored,
        stored: &[u8],
        raw: &mut [u8],
    ) -> Result<(), CodecError> {
        let expected = raw.len();
        let length = match form {
            Stored::Plain => {
                raw.copy_from_slice(stored);
                expected
            }
            Stored::Lz4 => lz4_flex::block::decompress_into(stored, raw)
                .map_err(|error| CodecError::Decompress { reason: error.to_string() })?,
            Stored::Zstd => {
                let context = match &mut self.zstd {
                    Some(context) => context,
                    none => none.insert(zstd::bulk::Decompressor::new().map_err(CodecError::compressor)?),
                };
                context
                    .decompress_to_buffer(stored, raw)
                    .map_err(|error| CodecError::Decompress { reason: error.to_string() })?
            }
        };
        if length == expected {
            return Ok(());
        }
        Err(CodecError::Decompress { reason: format!("{length} bytes came out, not {expected}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_reads_as_it_is_written() {
        for text in ["none", "lz4", "zstd", "zstd:-3", "zstd:22"] {
            assert_eq!(text.parse::<Compression>().unwrap().to_string(), text);
        }
        assert_eq!(" LZ4 ".parse(), Ok(Compression::Lz4));
    }

    #[test]
    fn what_is_no_compression_is_refused() {
        for text in ["", "gzip", "zstd:", "zstd:23", "zstd:x", "lz4:3"] {
            let error = text.parse::<Compression>().unwrap_err();

            assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
        }
    }
}
