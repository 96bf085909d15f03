//! An object as the bytes of a file: JSON, which people can read and later versions can understand, compressed or not.

use std::io;

use firesteel_scheduler::master::StoredObject;

/// Whether the files of a store are compressed. Either kind is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Plain JSON.
    #[default]
    None,
    /// JSON compressed by zstd.
    Zstd,
}

/// What every zstd file begins with; JSON never does.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// An object of ours is a few kilobytes. A file that claims to be much larger is damaged.
const MAX_BYTES: usize = 64 << 20;

const LEVEL: i32 = 3;

pub(crate) fn encode(object: &StoredObject, compression: Compression) -> io::Result<Vec<u8>> {
    let json = serde_json::to_vec(object)?;
    match compression {
        Compression::None => Ok(json),
        Compression::Zstd => zstd::bulk::compress(&json, LEVEL),
    }
}

pub(crate) fn decode(bytes: &[u8]) -> io::Result<StoredObject> {
    if bytes.starts_with(&ZSTD_MAGIC) {
        Ok(serde_json::from_slice(&zstd::bulk::decompress(bytes, MAX_BYTES)?)?)
    } else {
        Ok(serde_json::from_slice(bytes)?)
    }
}
