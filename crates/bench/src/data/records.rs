//! Records in the manner of `TeraSort`: 100 bytes, of which the first ten are the key.

use crate::checksum::{self, mix};

/// Bytes of a record.
pub const RECORD: usize = 100;
/// Bytes of its key.
pub const KEY: usize = 10;

/// What records are sorted by.
pub type Key = [u8; KEY];

/// The key of record `index`.
#[inline]
pub fn key(index: u64) -> Key {
    let mut key = [0; KEY];
    key[..8].copy_from_slice(&mix(index.wrapping_mul(2)).to_be_bytes());
    key[8..].copy_from_slice(&mix(index.wrapping_mul(2) + 1).to_be_bytes()[..2]);
    key
}

/// Writes what record `index` has behind its key.
#[inline]
pub fn fill_payload(index: u64, payload: &mut [u8]) {
    for (place, chunk) in payload.chunks_mut(8).enumerate() {
        let word = mix(index.wrapping_mul(16) + place as u64).to_be_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
}

/// What record `index` has behind its key, as bytes of their own.
#[inline]
pub fn payload(index: u64) -> Vec<u8> {
    let mut payload = vec![0; RECORD - KEY];
    fill_payload(index, &mut payload);
    payload
}

/// The number of a record, for a digest.
pub fn row(key: &[u8], payload: &[u8]) -> u64 {
    checksum::row(checksum::bytes(key), checksum::bytes(payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_made_from_its_index_alone() {
        assert_eq!((key(7), payload(7)), (key(7), payload(7)));
        assert_ne!(key(7), key(8));
        assert_eq!(payload(7).len() + key(7).len(), RECORD);
        assert_ne!(payload(7)[..45], payload(7)[45..]);
    }
}
