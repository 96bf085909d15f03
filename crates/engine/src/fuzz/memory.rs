//! How much memory decoding takes: [`measured`].

use firesteel_storage::memory::{TaskMeter, is_counting, meter};

/// What a decoder may take beside a multiple of what it reads: a few lists of the size that serde reserves at most.
const RESERVED: u64 = 4 << 20;

/// Decodes `bytes`, and makes sure that this took no memory for promises.
pub(super) fn measured<T, E>(bytes: &[u8], decode: impl FnOnce(&[u8]) -> Result<T, E>) -> Option<T> {
    let meter = TaskMeter::start();
    let decoded = decode(bytes).ok();
    let (peak, allowed) = (meter::peak(), RESERVED + 512 * bytes.len() as u64);
    drop(meter);
    assert!(peak <= allowed, "{peak} bytes of memory for {} bytes", bytes.len());
    decoded
}

#[test]
fn the_allocator_counts() {
    assert!(is_counting());
}
