//! Compressed files: [`Codec`], known by the suffix of the file's name; [`decoder`] and [`Encoder`].
//!
//! A file may hold several compressed streams one after the other, as `cat a.gz b.gz` makes them. An empty file is
//! empty, whatever its suffix. Data that ends too early is an error of kind `UnexpectedEof`, other damage one of
//! another kind without an error number; the reader above names the file.
//!
//! The codecs bzip2 and lz4 are features. Without them their files are known by the suffix as ever, and refused:
//! [`Codec::require`].

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use serde::{Deserialize, Serialize};

use super::error::IoError;
use super::location::Location;
#[cfg(feature = "lz4")]
use super::lz4::Lz4Decoder;

/// How much compressed data is read at a time.
const INPUT_BYTES: usize = 256 << 10;

/// A way to compress a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Codec {
    /// gzip, `.gz`.
    Gzip,
    /// Zstandard, `.zst`.
    Zstd,
    /// bzip2, `.bz2`; needs the feature `bzip2`.
    Bzip2,
    /// The frame format of LZ4, `.lz4`; needs the feature `lz4`.
    Lz4,
}

impl Codec {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Gzip, Self::Zstd, Self::Bzip2, Self::Lz4];

    /// The end of the name of a file compressed so.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
            Self::Bzip2 => ".bz2",
            Self::Lz4 => ".lz4",
        }
    }

    /// Refuses to read or write `location` if this program was built without the codec.
    pub(crate) fn require(self, location: &Location) -> Result<(), IoError> {
        let feature = match self {
            Self::Gzip | Self::Zstd => return Ok(()),
            Self::Bzip2 if cfg!(feature = "bzip2") => return Ok(()),
            Self::Lz4 if cfg!(feature = "lz4") => return Ok(()),
            Self::Bzip2 => "bzip2",
            Self::Lz4 => "lz4",
        };
        Err(IoError::NotBuilt { location: location.to_string(), what: feature, feature })
    }

    /// The codec that the name of a file tells, if any, in letters of either case.
    pub(crate) fn of(location: &Location) -> Option<Self> {
        Self::of_name(location.name())
    }

    /// The codec of a file with this name or path.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let name = name.as_bytes();
        let ends_with = |suffix: &str| {
            name.len() >= suffix.len()
                && name[name.len() - suffix.len()..].eq_ignore_ascii_case(suffix.as_bytes())
        };
        Self::ALL.into_iter().find(|codec| ends_with(codec.suffix()))
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Lz4 => "lz4",
        })
    }
}

/// Decompresses what `source` gives.
pub(crate) fn decoder(codec: Codec, source: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut input = BufReader::with_capacity(INPUT_BYTES, source);
    if input.fill_buf()?.is_empty() {
        return Ok(Box::new(io::empty()));
    }
    Ok(match codec {
        Codec::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
        Codec::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(input)?),
        #[cfg(feature = "bzip2")]
        Codec::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        #[cfg(feature = "lz4")]
        Codec::Lz4 => Box::new(Lz4Decoder::new(input)),
        #[cfg(not(feature = "bzip2"))]
        Codec::Bzip2 => return Err(not_built()),
        #[cfg(not(feature = "lz4"))]
        Codec::Lz4 => return Err(not_built()),
    })
}

/// The error of a codec that is not in this program. Callers ask [`Codec::require`] first.
#[cfg(not(all(feature = "bzip2", feature = "lz4")))]
fn not_built() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "this program was built without the codec")
}

/// Compresses what is written, or passes it on as it is.
pub(crate) enum Encoder<W: Write> {
    Plain(W),
    Gzip(flate2::write::GzEncoder<W>),
    Zstd(zstd::stream::write::Encoder<'static, W>),
    #[cfg(feature = "bzip2")]
    Bzip2(bzip2::write::BzEncoder<W>),
    #[cfg(feature = "lz4")]
    Lz4(Box<lz4_flex::frame::FrameEncoder<W>>),
}

impl<W: Write> Encoder<W> {
    pub(crate) fn new(codec: Option<Codec>, sink: W) -> io::Result<Self> {
        Ok(match codec {
            None => Self::Plain(sink),
            Some(Codec::Gzip) => {
                Self::Gzip(flate2::write::GzEncoder::new(sink, flate2::Compression::default()))
            }
            Some(Codec::Zstd) => {
                let mut encoder = zstd::stream::write::Encoder::new(sink, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                Self::Zstd(encoder)
            }
            #[cfg(feature = "bzip2")]
            Some(Codec::Bzip2) => {
                Self::Bzip2(bzip2::write::BzEncoder::new(sink, bzip2::Compression::default()))
            }
            #[cfg(feature = "lz4")]
            Some(Codec::Lz4) => {
                let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
                Self::Lz4(Box::new(lz4_flex::frame::FrameEncoder::with_frame_info(info, sink)))
            }
            #[cfg(not(feature = "bzip2"))]
            Some(Codec::Bzip2) => return Err(not_built()),
            #[cfg(not(feature = "lz4"))]
            Some(Codec::Lz4) => return Err(not_built()),
        })
    }

    /// Writes what is held back and the end of the stream.
    pub(crate) fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(sink) => Ok(sink),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(encoder) => encoder.finish(),
            #[cfg(feature = "bzip2")]
            Self::Bzip2(encoder) => encoder.finish(),
            #[cfg(feature = "lz4")]
            Self::Lz4(encoder) => encoder.finish().map_err(io::Error::from),
        }
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(sink) => sink.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
            #[cfg(feature = "bzip2")]
            Self::Bzip2(encoder) => encoder.write(bytes),
            #[cfg(feature = "lz4")]
            Self::Lz4(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(sink) => sink.flush(),
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.flush(),
            #[cfg(feature = "bzip2")]
            Self::Bzip2(encoder) => encoder.flush(),
            #[cfg(feature = "lz4")]
            Self::Lz4(encoder) => encoder.flush(),
        }
    }
}

#[cfg(test)]
mod tests;
