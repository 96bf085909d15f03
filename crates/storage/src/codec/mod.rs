//! Rows to bytes and back, compression, frames and checksums.
