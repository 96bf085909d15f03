//! The index of a map output: where each block begins, its checksum, and what it holds.
//!
//! Four bytes `FSIX`, a version (2 bytes), flags (2), the number of partitions *n* (4), the generation of the output (8),
//! the sum of its content (8; 0 unless a flag marks that there is one), then, unless a flag marks that all partitions
//! are empty, *n* + 1 offsets (8 each), *n* checksums (4 each), *n* numbers of rows and *n* numbers of
//! bytes before compression (8 each), and at the end the xxh3 of all that (8).

use xxhash_rust::xxh3::xxh3_64;

use super::summary::Summary;
use crate::codec::{Checksum, ContentSum};

const MAGIC: [u8; 4] = *b"FSIX";
const VERSION: u16 = 2;
const ALL_EMPTY: u16 = 1;
const HAS_CONTENT: u16 = 2;
const HEADER_BYTES: usize = 12;
const ORIGIN_BYTES: usize = 16;
const CHECK_BYTES: usize = 8;

/// Which run made a map output, and what is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) generation: u64,
    pub(super) content: Option<ContentSum>,
}

/// Where the blocks of a map output are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Index {
    partitions: u32,
    origin: Origin,
    /// One more than partitions, from 0 up to the length of the data; none if all blocks are empty.
    offsets: Vec<u64>,
    checksums: Vec<u32>,
    rows: Vec<u64>,
    raw_bytes: Vec<u64>,
}

impl Index {
    /// The index of these blocks.
    pub(super) fn new(blocks: &[Summary], origin: Origin) -> Self {
        let partitions = u32::try_from(blocks.len()).expect("partitions are numbered by 32 bits");
        if blocks.iter().all(|block| block.checksum.bytes() == 0) {
            return Self::all_empty(partitions, origin);
        }
        let mut end = 0;
        let ends = blocks.iter().map(|block| {
            end += block.checksum.bytes();
            end
        });
        let offsets = std::iter::once(0).chain(ends).collect();
        Self {
            partitions,
            origin,
            offsets,
            checksums: blocks.iter().map(|block| block.checksum.value()).collect(),
            rows: blocks.iter().map(|block| block.rows).collect(),
            raw_bytes: blocks.iter().map(|block| block.raw_bytes).collect(),
        }
    }

    fn all_empty(partitions: u32, origin: Origin) -> Self {
        let (offsets, checksums, rows, raw_bytes) = Default::default();
        Self { partitions, origin, offsets, checksums, rows, raw_bytes }
    }

    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    pub(super) fn partitions(&self) -> u32 {
        self.partitions
    }

    /// Where the block of `partition` begins, and what is known of it.
    pub(super) fn block(&self, partition: u32) -> (u64, Summary) {
        let at = partition as usize;
        let (Some(start), Some(end)) = (self.offsets.get(at), self.offsets.get(at + 1)) else {
            return (0, Summary::default());
        };
        let checksum = Checksum::from_parts(self.checksums[at], end - start);
        (*start, Summary { checksum, rows: self.rows[at], raw_bytes: self.raw_bytes[at] })
    }

    /// The length of the data file; 0 if there is none.
    pub(super) fn data_bytes(&self) -> u64 {
        self.offsets.last().copied().unwrap_or(0)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_BYTES + ORIGIN_BYTES + 28 * self.offsets.len() + CHECK_BYTES);
        let Origin { generation, content } = self.origin;
        let mut flags = if self.offsets.is_empty() { ALL_EMPTY } else { 0 };
        flags |= if content.is_some() { HAS_CONTENT } else { 0 };
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&flags.to_le_bytes());
        out.extend_from_slice(&self.partitions.to_le_bytes());
        out.extend_from_slice(&generation.to_le_bytes());
        out.extend_from_slice(&content.unwrap_or_default().value().to_le_bytes());
        out.extend(self.offsets.iter().flat_map(|offset| offset.to_le_bytes()));
        out.extend(self.checksums.iter().flat_map(|checksum| checksum.to_le_bytes()));
        out.extend(self.rows.iter().flat_map(|rows| rows.to_le_bytes()));
        out.extend(self.raw_bytes.iter().flat_map(|bytes| bytes.to_le_bytes()));
        out.extend_from_slice(&xxh3_64(&out).to_le_bytes());
        out
    }

    /// Reads an index; the error is what is wrong with it.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        let (rest, check) = bytes.split_last_chunk::<CHECK_BYTES>().ok_or("it is too short")?;
        let (header, body) = rest.split_first_chunk::<HEADER_BYTES>().ok_or("it is too short")?;
        let [m0, m1, m2, m3, v0, v1, f0, f1, p0, p1, p2, p3] = *header;
        if [m0, m1, m2, m3] != MAGIC {
            return Err("it does not begin like one");
        }
        if u64::from_le_bytes(*check) != xxh3_64(rest) {
            return Err("its checksum is wrong");
        }
        if u16::from_le_bytes([v0, v1]) != VERSION {
            return Err("another version of Firesteel wrote it");
        }
        let partitions = u32::from_le_bytes([p0, p1, p2, p3]);
        let flags = u16::from_le_bytes([f0, f1]);
        let (generation, body) = body.split_first_chunk().ok_or("it is too short")?;
        let (content, body) = body.split_first_chunk().ok_or("it is too short")?;
        let content = ContentSum::from_value(u64::from_le_bytes(*content));
        let origin = Origin {
            generation: u64::from_le_bytes(*generation),
            content: (flags & HAS_CONTENT != 0).then_some(content),
        };
        let index = match flags & !HAS_CONTENT {
            0 => Self::decode_blocks(partitions, origin, body).ok_or("its length is wrong")?,
            ALL_EMPTY if body.is_empty() => Self::all_empty(partitions, origin),
            ALL_EMPTY => return Err("its length is wrong"),
            _ => return Err("another version of Firesteel wrote it"),
        };
        let ascending = index.offsets.first().is_none_or(|first| *first == 0) && index.offsets.is_sorted();
        if ascending { Ok(index) } else { Err("its offsets do not ascend from 0") }
    }

    fn decode_blocks(partitions: u32, origin: Origin, body: &[u8]) -> Option<Self> {
        let count = partitions as usize;
        let (offsets, body) = body.split_at_checked(count.checked_add(1)?.checked_mul(8)?)?;
        let (checksums, body) = body.split_at_checked(count.checked_mul(4)?)?;
        let (rows, raw_bytes) = body.split_at_checked(count.checked_mul(8)?)?;
        if raw_bytes.len() != rows.len() {
            return None;
        }
        let words =
            |bytes: &[u8]| bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        Some(Self {
            partitions,
            origin,
            offsets: words(offsets),
            checksums: checksums.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect(),
            rows: words(rows),
            raw_bytes: words(raw_bytes),
        })
    }
}
