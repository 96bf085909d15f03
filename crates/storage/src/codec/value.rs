//! Single values to bytes and back: what is no row of a block, but the user's all the same.

use std::any::type_name;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::CodecError;
use super::format::{Decoder, Encoder, RowError};
use super::symmetry::{Verdict, compare_value, verdict};

/// Appends one value to `out`, which is as long as before after an error. Refuses a type that does not read what it writes.
///
/// ```
/// use firesteel_storage::codec::{append_value, read_value};
///
/// let mut bytes = Vec::new();
/// append_value(&("a".to_owned(), 1_u64), &mut bytes)?;
/// assert_eq!(read_value::<(String, u64)>(&bytes)?, ("a".to_owned(), 1));
/// # Ok::<(), firesteel_storage::codec::CodecError>(())
/// ```
pub fn append_value<T>(value: &T, out: &mut Vec<u8>) -> Result<(), CodecError>
where
    T: Serialize + DeserializeOwned + 'static,
{
    let before = out.len();
    symmetric(value).and_then(|()| Encoder::new(out).append_value(value)).map_err(|source| {
        out.truncate(before);
        CodecError::Encode { type_name: type_name::<T>(), source }
    })
}

/// Makes sure that what the value writes is what its type reads.
fn symmetric<T: Serialize + DeserializeOwned + 'static>(value: &T) -> Result<(), RowError> {
    match verdict::<T>() {
        Verdict::Sound => Ok(()),
        Verdict::Unproven => compare_value(value),
        Verdict::Refused(mismatch) => Err(RowError::Asymmetric { mismatch: Box::new(mismatch.clone()) }),
    }
}

/// Reads the value that `bytes` hold, all of them and no more.
///
/// ```
/// use firesteel_storage::codec::read_value;
///
/// assert!(read_value::<u8>(&[1]).is_ok());
/// assert!(read_value::<u8>(&[1, 2]).is_err());
/// ```
pub fn read_value<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    let mut decoder = Decoder::new(bytes);
    let read = decoder.take_value().and_then(|value| decoder.finish().map(|()| value));
    read.map_err(|source| CodecError::Decode { type_name: type_name::<T>(), source })
}
