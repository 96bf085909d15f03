//! Cutting files into the pieces that tasks read: [`FileSplit`] and [`plan_splits`].
//!
//! The sizes follow Hadoop's `FileInputFormat`, so that a Spark user finds the partitions they know. What a piece means
//! (where a line that crosses its end belongs) is up to its reader.

use serde::{Deserialize, Serialize};

use super::codec::Codec;
use super::error::IoError;
use super::expand::InputFile;
use super::location::Location;

/// The size of a block where nothing else is said: that of a local file in Hadoop.
pub(crate) const DEFAULT_BLOCK_BYTES: u64 = 32 << 20;

/// A piece of a file for one task, or one of several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSplit {
    /// The file.
    pub location: Location,
    /// The first byte of the piece.
    pub start: u64,
    /// How many bytes it has; for a compressed file, before decompression.
    pub length: u64,
    /// Whether it is the whole of a file that can only be read from its beginning to its end, wherever that is.
    pub whole: bool,
}

impl FileSplit {
    /// The whole of a file as one piece.
    pub fn whole(file: &InputFile) -> Self {
        Self { location: file.location.clone(), start: 0, length: file.size, whole: true }
    }

    /// How many bytes its reader finds, unless the file changed; not known of a compressed one.
    pub fn content_bytes(&self) -> Option<u64> {
        (!self.whole || Codec::of(&self.location).is_none()).then_some(self.length)
    }

    /// Whether nothing is in it, as in the one piece of an empty file.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn piece(file: &InputFile, start: u64, length: u64) -> Self {
        Self { location: file.location.clone(), start, length, whole: false }
    }
}

/// Cuts files into pieces of about the same size, at least `min_partitions` of them where the files allow.
///
/// A piece has the size of the goal (all bytes over `min_partitions`), but no more than a block of `max_split_bytes`;
/// the last piece of a file may be a tenth larger. A compressed file is one piece. So is an empty file, as in
/// `FileInputFormat`; Spark drops those by default since 3.2, which [`FileSplit::is_empty`] lets a caller do.
pub fn plan_splits(
    files: &[InputFile],
    min_partitions: usize,
    max_split_bytes: Option<u64>,
) -> Vec<FileSplit> {
    let split_bytes = split_bytes(files, min_partitions, max_split_bytes);
    let mut splits = Vec::new();
    for file in files {
        if file.has_ranges && Codec::of(&file.location).is_none() {
            cut(file, split_bytes, &mut splits);
        } else {
            splits.push(FileSplit::whole(file));
        }
    }
    splits
}

/// Cuts files of records of a fixed length, so that no record lies in two pieces.
///
/// A file that is not compressed and whose size is not a multiple of `record_length` is an error. An empty file gives
/// no piece.
pub fn plan_record_splits(
    files: &[InputFile],
    record_length: u64,
    min_partitions: usize,
    max_split_bytes: Option<u64>,
) -> Result<Vec<FileSplit>, IoError> {
    if record_length == 0 {
        return Err(IoError::NoRecordLength);
    }
    let split_bytes = split_bytes(files, min_partitions, max_split_bytes);
    let aligned_bytes = (split_bytes / record_length).max(1).saturating_mul(record_length);
    let mut splits = Vec::new();
    for file in files.iter().filter(|file| file.size > 0) {
        if Codec::of(&file.location).is_some() {
            splits.push(FileSplit::whole(file));
            continue;
        }
        if !file.size.is_multiple_of(record_length) {
            let (location, size) = (file.location.to_string(), file.size);
            return Err(IoError::PartialRecord { location, size, record_length });
        }
        if file.has_ranges {
            cut(file, aligned_bytes, &mut splits);
        } else {
            splits.push(FileSplit::whole(file));
        }
    }
    Ok(splits)
}

/// Groups files that are read as wholes, neighbours together, so that groups have about the same size.
///
/// There are at least `min_partitions` groups where the files allow, as for Spark's `wholeTextFiles`: a group ends
/// before the file that would lift it above all bytes over `min_partitions`.
pub fn group_files(files: &[InputFile], min_partitions: usize) -> Vec<Vec<FileSplit>> {
    let total = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.size));
    let group_bytes = total.div_ceil(min_partitions.max(1) as u64);
    let mut groups: Vec<Vec<FileSplit>> = Vec::new();
    let mut room = 0;
    for file in files {
        match groups.last_mut() {
            Some(group) if file.size <= room => {
                room -= file.size;
                group.push(FileSplit::whole(file));
            }
            _ => {
                groups.push(vec![FileSplit::whole(file)]);
                room = group_bytes.saturating_sub(file.size);
            }
        }
    }
    groups
}

fn split_bytes(files: &[InputFile], min_partitions: usize, max_split_bytes: Option<u64>) -> u64 {
    let total = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.size));
    let goal = total / min_partitions.max(1) as u64;
    goal.min(max_split_bytes.unwrap_or(DEFAULT_BLOCK_BYTES)).max(1)
}

fn cut(file: &InputFile, split_bytes: u64, splits: &mut Vec<FileSplit>) {
    let mut start = 0;
    // The rest may be a tenth larger than a piece: a tiny last one is not worth a task.
    while (file.size - start) as f64 / split_bytes as f64 > 1.1 {
        splits.push(FileSplit::piece(file, start, split_bytes));
        start += split_bytes;
    }
    if start < file.size || file.size == 0 {
        splits.push(FileSplit::piece(file, start, file.size - start));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(name: &str, size: u64) -> InputFile {
        InputFile { location: Location::Local(format!("/{name}")), size, has_ranges: true }
    }

    fn lengths(sizes: &[u64], min_partitions: usize, max_split_bytes: Option<u64>) -> Vec<u64> {
        let files: Vec<InputFile> = sizes.iter().map(|&size| file("a", size)).collect();
        let splits = plan_splits(&files, min_partitions, max_split_bytes);
        splits.iter().map(|split| split.length).collect()
    }

    #[test]
    fn pieces_have_the_size_of_the_goal() {
        assert_eq!(lengths(&[100], 2, None), [50, 50]);
        assert_eq!(lengths(&[100, 50], 3, None), [50, 50, 50]);
        assert_eq!(lengths(&[100], 3, None), [33, 33, 34]);
        assert_eq!(lengths(&[100], 0, None), [100]);
    }

    #[test]
    fn pieces_are_no_larger_than_a_block_and_a_tenth() {
        assert_eq!(lengths(&[110], 1, Some(100)), [110]);
        assert_eq!(lengths(&[111], 1, Some(100)), [100, 11]);
        let block = DEFAULT_BLOCK_BYTES;
        assert_eq!(lengths(&[3 * block], 1, None), [block, block, block]);
    }

    #[test]
    fn more_partitions_than_bytes_give_pieces_of_one_byte() {
        assert_eq!(lengths(&[3], 10, None), [1, 1, 1]);
        assert_eq!(lengths(&[3], 2, Some(0)), [1, 1, 1]);
    }

    #[test]
    fn an_empty_file_is_one_empty_piece() {
        assert_eq!(lengths(&[0, 10], 1, None), [0, 10]);
        assert_eq!(lengths(&[0], 2, None), [0]);
        assert!(plan_splits(&[file("a", 0)], 1, None)[0].is_empty());
        assert_eq!(lengths(&[], 2, None), [0_u64; 0]);
    }

    #[test]
    fn what_cannot_be_entered_in_the_middle_is_one_piece() {
        let whole_only = InputFile { has_ranges: false, ..file("b", 100) };
        let files = [file("a.gz", 100), whole_only, file("c", 100)];

        let splits = plan_splits(&files, 6, None);

        let shape: Vec<(u64, bool)> = splits.iter().map(|split| (split.length, split.whole)).collect();
        assert_eq!(shape, [(100, true), (100, true), (50, false), (50, false)]);
    }

    #[test]
    fn records_are_not_cut() {
        let splits = plan_record_splits(&[file("a", 100), file("b", 0)], 10, 3, None).unwrap();
        let pieces: Vec<(u64, u64)> = splits.iter().map(|split| (split.start, split.length)).collect();

        assert_eq!(pieces, [(0, 30), (30, 30), (60, 30), (90, 10)]);
        assert_eq!(plan_record_splits(&[file("a", 100)], 50, 10, None).unwrap().len(), 2);
    }

    #[test]
    fn a_file_with_part_of_a_record_is_refused() {
        let error = plan_record_splits(&[file("a", 30), file("b", 25)], 10, 1, None).unwrap_err();

        assert_eq!(error.to_string(), "/b has 25 bytes, which is not a multiple of the record length 10");
        assert!(matches!(plan_record_splits(&[], 0, 1, None), Err(IoError::NoRecordLength)));
    }

    #[test]
    fn whole_files_are_grouped_with_their_neighbours() {
        let files = [5, 5, 0, 20, 1, 1].map(|size| file("a", size));

        let sizes = |min| -> Vec<usize> { group_files(&files, min).iter().map(Vec::len).collect() };

        assert_eq!(sizes(1), [6]);
        assert_eq!(sizes(2), [3, 1, 2]);
        assert_eq!(sizes(100), [1, 2, 1, 1, 1], "an empty file adds nothing to a group");
    }

    proptest! {
        #[test]
        fn pieces_cover_each_file_once(
            sizes in prop::collection::vec(0_u64..5000, 0..8),
            min_partitions in 0_usize..20,
            block in 1_u64..3000,
        ) {
            let files: Vec<InputFile> =
                sizes.iter().enumerate().map(|(at, &size)| file(&at.to_string(), size)).collect();

            let splits = plan_splits(&files, min_partitions, Some(block));

            for file in &files {
                let mut next = 0;
                for split in splits.iter().filter(|split| split.location == file.location) {
                    prop_assert_eq!(split.start, next);
                    prop_assert!(split.length as f64 <= block as f64 * 1.1);
                    next += split.length;
                }
                prop_assert_eq!(next, file.size);
            }
            let filled = splits.iter().filter(|split| !split.is_empty()).count();
            let bytes: u64 = sizes.iter().sum();
            // The last piece of each file may be a tenth larger than the goal.
            prop_assert!(filled as f64 * 1.1 >= (min_partitions as f64).min(bytes as f64).floor());
        }
    }
}
