//! Buffers that serve one frame after the other: [`free_if_large`].

use super::frame::FRAME_TARGET;

/// What a buffer may keep for the next frame. The usual frame takes half of it.
const KEPT_BYTES_MAX: usize = 2 * FRAME_TARGET;

/// Frees a buffer that a large row made grow. Many writers and readers are open at once, and each would keep the memory of
/// the largest row that it ever met.
pub(super) fn free_if_large(buffer: &mut Vec<u8>) {
    if buffer.capacity() > KEPT_BYTES_MAX {
        *buffer = Vec::new();
    }
}
