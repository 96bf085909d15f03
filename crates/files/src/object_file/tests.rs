//! Rows through object files, and every kind of damage to them.

use std::fs;

use proptest::prelude::*;
use serde::{Deserialize, Serialize, Serializer};

use super::format::{BlockHead, Header};
use super::*;
use crate::error::IoError;
use crate::location::Location;
use crate::output::{OutputFile, OutputFolder, OutputOptions};
use crate::source::ReadOptions;
use firesteel_storage::memory::BatchLimit;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    name: String,
    values: Vec<u64>,
    next: Option<Box<Row>>,
}

fn row(number: u64) -> Row {
    let next = (number.is_multiple_of(3)).then(|| Box::new(row(number + 1)));
    Row { name: format!("row {number}"), values: vec![number; (number % 5) as usize], next }
}

fn new_file(folder: &tempfile::TempDir) -> (OutputFolder, OutputFile) {
    let location = Location::parse(folder.path().to_str().unwrap()).unwrap().join("out");
    let folder = OutputFolder::create(&location).unwrap();
    let file = OutputFile::create(&folder, "part-00000", 0, OutputOptions::default()).unwrap();
    (folder, file)
}

fn write<T: Serialize + serde::de::DeserializeOwned + 'static>(
    folder: &tempfile::TempDir,
    rows: &[T],
    compression: Compression,
) -> Location {
    let (output, file) = new_file(folder);
    let location = file.location().clone();
    let mut writer = ObjectWriter::new(file, compression).unwrap();
    for row in rows {
        writer.push(row).unwrap();
    }
    output.publish(&[writer.close().unwrap()], &[]).unwrap();
    location
}

fn read<T: serde::de::DeserializeOwned>(location: &Location) -> Result<Vec<T>, IoError> {
    let mut rows = Vec::new();
    let mut reader = ObjectReader::open(location, ReadOptions::default())?;
    while reader.next_batch(&mut rows)? {}
    Ok(rows)
}

/// Behaviours: RDD-026.
#[test]
fn rows_come_back() {
    for compression in Compression::ALL {
        for count in [0, 1, 50_000] {
            let folder = tempfile::tempdir().unwrap();
            let rows: Vec<Row> = (0..count).map(row).collect();

            let location = write(&folder, &rows, compression);

            assert!(read::<Row>(&location).unwrap() == rows, "{count} rows, {compression:?}");
        }
    }
}

#[test]
fn rows_of_no_bytes_come_back() {
    let folder = tempfile::tempdir().unwrap();

    let location = write(&folder, &[(); 1000], Compression::Lz4);

    assert_eq!(read::<()>(&location).unwrap().len(), 1000);
}

#[test]
fn a_row_may_be_larger_than_a_block() {
    let folder = tempfile::tempdir().unwrap();
    let rows = ["x".repeat(20 << 20), "y".to_owned()];

    let location = write(&folder, &rows, Compression::None);

    assert!(read::<String>(&location).unwrap() == rows);
}

#[test]
fn a_batch_is_at_most_a_block_so_that_a_task_can_stop_between_them() {
    let folder = tempfile::tempdir().unwrap();
    let location = write(&folder, &vec!["x".repeat(1000); 1000], Compression::Lz4);
    let mut reader = ObjectReader::<String>::open(&location, ReadOptions::default()).unwrap();
    let mut rows = Vec::new();

    assert!(reader.next_batch(&mut rows).unwrap());

    assert!((1..500).contains(&rows.len()), "{}", rows.len());
}

/// A row of one byte in the file and 264 in memory.
#[test]
fn rows_that_are_larger_in_memory_than_in_the_file_come_a_few_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let written: Vec<Option<[u64; 32]>> = vec![None; 100_000];
    let location = write(&folder, &written, Compression::None);
    let mut reader = ObjectReader::<Option<[u64; 32]>>::open(&location, ReadOptions::default()).unwrap();
    let (mut rows, mut batch, mut most) = (0, Vec::new(), 0);

    while reader.next_batch(&mut batch).unwrap() {
        most = most.max(batch.len());
        rows += batch.drain(..).filter(Option::is_none).count();
    }

    assert_eq!(rows, written.len());
    assert_eq!(most, BatchLimit::BYTES / size_of::<Option<[u64; 32]>>());
}

#[test]
fn a_row_that_cannot_be_serialized_is_named_and_the_others_are_kept() {
    use serde::ser::SerializeTuple;

    #[derive(Deserialize)]
    #[serde(from = "u8")]
    struct Picky(bool);
    impl From<u8> for Picky {
        fn from(_: u8) -> Self {
            Self(true)
        }
    }
    impl Serialize for Picky {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            if self.0 {
                serializer.serialize_u8(7)
            } else {
                let mut pair = serializer.serialize_tuple(2)?;
                pair.serialize_element(&1_u8)?;
                Err(serde::ser::Error::custom("no second element"))
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let (output, file) = new_file(&folder);
    let location = file.location().clone();
    let mut writer = ObjectWriter::new(file, Compression::None).unwrap();

    writer.push(&Picky(true)).unwrap();
    let error = writer.push(&Picky(false)).unwrap_err();
    writer.push(&Picky(true)).unwrap();
    output.publish(&[writer.close().unwrap()], &[]).unwrap();

    assert_eq!(error.to_string(), format!("cannot serialize row 1 for {location}"));
    assert_eq!(read::<u8>(&location).unwrap(), [7, 7]);
}

#[test]
fn rows_of_another_shape_are_refused_with_both_named() {
    #[derive(Serialize, Deserialize)]
    struct Swapped {
        values: Vec<u64>,
        name: String,
        next: Option<Box<Row>>,
    }
    #[track_caller]
    fn refused<T: serde::de::DeserializeOwned>(location: &Location, holds: &str, asked: &str) {
        let error = read::<T>(location).map(|_| ()).unwrap_err();
        let message = format!(
            "{location} holds rows of {holds}, not {asked}; read it with the type that it was written with"
        );
        assert_eq!(error.to_string(), message);
        assert!(!error.is_corrupt(), "the file is sound, so that it is not to be skipped as a bad one");
    }
    let folder = || tempfile::tempdir().unwrap();
    let (first, second, third, empty) = (folder(), folder(), folder(), folder());

    let numbers = write(&first, &[0_u64, 1, 2, 3], Compression::Lz4);
    refused::<i64>(&numbers, "u64", "i64");
    refused::<String>(&numbers, "u64", "String");
    let tuples = write(&second, &[(1_u32, "a".to_owned(), Some(-1_i64))], Compression::None);
    refused::<(i32, String, Option<u64>)>(
        &tuples,
        "(u32, String, Option<i64>)",
        "(i32, String, Option<u64>)",
    );
    let structs = write(&third, &[row(1)], Compression::Zstd);
    let of_row = "{name: String, values: [u64], next: Option<^1>}";
    refused::<Swapped>(&structs, of_row, &format!("{{values: [u64], name: String, next: Option<{of_row}>}}"));
    let none = write::<u64>(&empty, &[], Compression::None);
    refused::<i64>(&none, "u64", "i64");
}

#[test]
fn rows_that_cannot_be_read_again_are_not_written() {
    #[derive(Serialize, Deserialize)]
    struct Skips {
        a: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        b: Option<u32>,
        c: u32,
    }
    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(u32),
    }
    let folder = tempfile::tempdir().unwrap();

    let mut writer = ObjectWriter::new(new_file(&folder).1, Compression::None).unwrap();
    writer.push(&Skips { a: 7, b: Some(0), c: 3 }).unwrap();
    let skips = writer.push(&Skips { a: 1, b: None, c: 0 }).unwrap_err();
    let folder = tempfile::tempdir().unwrap();
    let untagged = ObjectWriter::<Untagged>::new(new_file(&folder).1, Compression::None).unwrap_err();

    let skips = with_causes(&skips);
    assert!(skips.contains("the field `b`") && skips.contains("skip_serializing_if"), "{skips}");
    let untagged = with_causes(&untagged);
    assert!(untagged.contains("Untagged") && untagged.contains("`untagged`"), "{untagged}");
}

#[test]
fn files_of_other_kinds_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let location = write(&folder, &[1_u32], Compression::None);
    let refuse = |bytes: &[u8]| {
        fs::write(location.to_string(), bytes).unwrap();
        let message = read::<u32>(&location).unwrap_err().to_string();
        message.strip_prefix(&format!("cannot use {location} as an object file: ")).unwrap().to_owned()
    };
    let mut older = Header { compression: Compression::None, shape_length: 0 }.to_bytes();
    older[8] = 1;

    assert_eq!(refuse(b""), "it ends too early (byte 0)");
    assert_eq!(refuse(b"some text in a file\n"), "it does not begin like one (byte 0)");
    assert_eq!(refuse(&older), "it has version 1, this build reads version 2 (byte 0)");
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    for compression in Compression::ALL {
        let folder = tempfile::tempdir().unwrap();
        let location = write(&folder, &(0..100).map(row).collect::<Vec<_>>(), compression);
        let whole = fs::read(location.to_string()).unwrap();
        for length in 0..whole.len() {
            fs::write(location.to_string(), &whole[..length]).unwrap();
            let error = read::<Row>(&location).unwrap_err();
            assert!(error.is_corrupt(), "{compression:?} cut at {length}: {error}");
        }
    }
}

#[test]
fn a_lost_block_and_a_longer_file_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let location = write(&folder, &vec![7_u8; 300_000], Compression::None);
    let whole = fs::read(location.to_string()).unwrap();
    let refuse = |bytes: &[u8]| {
        fs::write(location.to_string(), bytes).unwrap();
        read::<u8>(&location).unwrap_err().to_string()
    };
    let first_block = Header::BYTES + "u8".len() + 8;
    let stored = u64::from_le_bytes(whole[first_block..][..8].try_into().unwrap()) as usize;
    let second_block = first_block + BlockHead::BYTES + stored;

    let lost = refuse(&[&whole[..first_block], &whole[second_block..]].concat());
    let longer = refuse(&[&whole[..], b"x"].concat());

    assert!(lost.contains("it has 37856 rows and says 300000"), "{lost}");
    assert!(longer.contains("something follows its end"), "{longer}");
}

#[test]
fn what_was_read_before_the_damage_counts_if_corrupt_files_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<u64> = (1 << 40..).take(200_000).collect();
    let location = write(&folder, &rows, Compression::None);
    let mut bytes = fs::read(location.to_string()).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    fs::write(location.to_string(), bytes).unwrap();

    let options = ReadOptions { ignore_corrupt_files: true, ..ReadOptions::default() };
    let mut reader = ObjectReader::<u64>::open(&location, options).unwrap();
    let mut read = Vec::new();
    while reader.next_batch(&mut read).unwrap() {}

    assert!(!read.is_empty() && read.len() < rows.len());
    assert_eq!(read, rows[..read.len()]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_damaged_byte_is_found(at in any::<prop::sample::Index>(), mask in 1_u8..=255) {
        for compression in Compression::ALL {
            let folder = tempfile::tempdir().unwrap();
            let location = write(&folder, &(0..30).map(row).collect::<Vec<_>>(), compression);
            let mut bytes = fs::read(location.to_string()).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= mask;
            fs::write(location.to_string(), bytes).unwrap();

            let error = read::<Row>(&location).unwrap_err();
            prop_assert!(matches!(error, IoError::CorruptObjectFile { .. }), "{}", error);
        }
    }
}

/// An error with its causes in one line.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
