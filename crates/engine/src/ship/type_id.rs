//! Types told apart by bytes.

use std::{any::TypeId, mem};

/// The id of a type as bytes: the same in every process that runs the same executable.
pub(super) fn id_bytes<T: 'static>() -> [u8; 16] {
    // SAFETY: an id has 16 bytes without padding, else this does not compile, and any bytes are good for an array.
    unsafe { mem::transmute::<TypeId, [u8; 16]>(TypeId::of::<T>()) }
}
