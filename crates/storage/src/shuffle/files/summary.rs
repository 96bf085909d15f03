//! What is known of a block without reading it: [`Summary`].

use crate::codec::Checksum;

/// What a block must be, and what reading it gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Of the bytes in the file, with their number.
    pub checksum: Checksum,
    /// How many rows there are.
    pub rows: u64,
    /// How many bytes the rows are when they are not compressed.
    pub raw_bytes: u64,
}

impl Summary {
    /// Adds what comes right after.
    pub(super) fn append(&mut self, next: Self) {
        self.checksum.append(next.checksum);
        self.rows += next.rows;
        self.raw_bytes += next.raw_bytes;
    }
}
