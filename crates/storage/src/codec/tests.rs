//! Rows through all of it: every kind of row, every compression, frames by size and by count.

use std::fmt::Debug;

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;

const ALL: [Compression; 3] = [Compression::None, Compression::Lz4, Compression::Zstd { level: 1 }];

fn write<T: Serialize + DeserializeOwned + 'static>(compression: Compression, rows: &[T]) -> Vec<u8> {
    let mut writer = RowsWriter::new(FrameWriter::new(Vec::new(), compression).unwrap());
    writer.extend(rows).unwrap();
    writer.finish().unwrap().into_inner()
}

fn read<T: Serialize + DeserializeOwned + 'static>(bytes: &[u8]) -> Result<Vec<T>, CodecError> {
    RowsReader::new(bytes).collect()
}

#[track_caller]
fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug + 'static>(rows: &[T]) {
    for compression in ALL {
        assert_eq!(read::<T>(&write(compression, rows)).unwrap(), rows, "{compression}");
    }
}

/// Both forms of a plain type, at lengths around the chunk that goes through one call.
#[track_caller]
fn both_forms_come_back<T: Serialize + DeserializeOwned + PartialEq + Debug + Copy + 'static>(
    width: usize,
    row: T,
) {
    for length in [0, 1, 127, 128, 129, 700] {
        let rows = vec![row; length];
        let fixed = Rows::<T>::fixed().expect("a plain type");
        let mut bytes = Vec::new();
        fixed.encode(&rows, &mut bytes).unwrap();
        assert_eq!(bytes.len(), width * length);
        let mut back = Vec::new();
        fixed.decode(&bytes, length, &mut back).unwrap();
        assert_eq!(back, rows);
        comes_back(&rows);
    }
}

#[test]
fn numbers_and_pairs_have_a_fixed_form() {
    both_forms_come_back(1, -3_i8);
    both_forms_come_back(16, u128::MAX - 5);
    both_forms_come_back(8, usize::MAX);
    both_forms_come_back(8, -1.5_f64);
    both_forms_come_back(16, (u64::MAX, 1_u64));
    both_forms_come_back(12, (i32::MIN, f64::MAX));
    both_forms_come_back(9, (7_u8, isize::MIN));
    both_forms_come_back(4, (f32::MIN_POSITIVE, ()).0);
}

/// Rows that are moved without serde have the bytes that serde would give them.
#[track_caller]
fn same_bytes_as_through_serde<T: Serialize + DeserializeOwned + PartialEq + Debug + 'static>(rows: &[T]) {
    let mut through_serde = Vec::new();
    let mut encoder = format::Encoder::new(&mut through_serde);
    for row in rows {
        encoder.append(row).unwrap();
    }
    let mut moved = Vec::new();
    Rows::compact().encode(rows, &mut moved).unwrap();
    assert_eq!(moved, through_serde);
    comes_back(rows);
    for cut in 0..moved.len() {
        let mut none = Vec::new();
        assert!(Rows::<T>::compact().decode(&moved[..cut], rows.len(), &mut none).is_err());
        assert!(none.is_empty(), "rows before an error are taken back");
    }
}

#[test]
fn lists_are_moved_whole() {
    same_bytes_as_through_serde(&[vec![1_u8, 2, 0xFF], Vec::new(), vec![7; 300]]);
    same_bytes_as_through_serde(&[vec![1.5_f64, f64::MIN], Vec::new(), vec![-0.0; 40]]);
    same_bytes_as_through_serde(&[(vec![9_u8; 10], vec![1_u8; 90])]);
    same_bytes_as_through_serde(&[("key".to_owned(), vec![0.25_f64; 3])]);
    same_bytes_as_through_serde(&[(-70_000_i64, vec![1_u8]), (3, Vec::new())]);
    same_bytes_as_through_serde(&[(vec![1_f32, 2.0], 5_u32)]);
    let endless = (u64::MAX, 1_u8);
    let mut bytes = Vec::new();
    format::Encoder::new(&mut bytes).append(&endless).unwrap();
    assert!(Rows::<Vec<u8>>::compact().decode(&bytes, 1, &mut Vec::new()).is_err());
    assert!(Rows::<Vec<f64>>::compact().decode(&bytes, 1, &mut Vec::new()).is_err());
}

#[test]
fn other_rows_have_no_fixed_form() {
    assert!(Rows::<String>::fixed().is_none());
    assert!(Rows::<(u64, u64, u64)>::fixed().is_none());
    assert!(Rows::<bool>::fixed().is_none());
}

#[test]
fn the_fixed_form_takes_no_other_number_of_bytes() {
    let fixed = Rows::<(u32, u32)>::fixed().unwrap();
    let mut out = vec![(1, 2)];

    assert!(fixed.decode(&[0; 15], 2, &mut out).is_err());
    assert!(fixed.decode(&[0; 17], 2, &mut out).is_err());
    assert!(fixed.decode(&[0; 8], usize::MAX, &mut out).is_err());
    assert_eq!(out, [(1, 2)]);
}

#[test]
fn rows_without_bytes_come_back() {
    comes_back(&[(); 1000]);
    comes_back(&vec![(); FRAME_ROWS_MAX as usize + 1]);
    assert!(Rows::<()>::compact().decode(&[], usize::MAX, &mut Vec::new()).is_err());
}

#[test]
fn no_rows_are_no_bytes() {
    assert!(write::<(String, u64)>(Compression::Lz4, &[]).is_empty());
    assert!(read::<(String, u64)>(&[]).unwrap().is_empty());
}

#[test]
fn a_frame_is_written_when_its_rows_are_long_enough() {
    let rows = vec!["x".repeat(1000); 1000];
    let bytes = write(Compression::None, &rows);
    let mut frames = FrameReader::new(&bytes[..]);
    let mut raw = Vec::new();
    let mut lengths = Vec::new();
    while frames.next_frame(&mut raw).unwrap().is_some() {
        lengths.push(raw.len());
    }

    assert_eq!(lengths.len(), 4);
    assert!(
        lengths[..3].iter().all(|length| (FRAME_TARGET..FRAME_TARGET + 1002).contains(length)),
        "{lengths:?}"
    );
}

#[test]
fn a_row_longer_than_a_frame_is_one_frame() {
    comes_back(&["short".to_owned(), "long ".repeat(FRAME_TARGET), "end".to_owned()]);
}

#[test]
fn batches_are_frames() {
    let rows: Vec<u64> = (0..100_000).collect();
    let bytes = write(Compression::None, &rows);
    let mut reader = RowsReader::new(&bytes[..]);
    let mut batch = vec![7_u64];

    assert!(reader.next_batch(&mut batch).unwrap());
    assert_eq!(batch.len(), 1 + FRAME_TARGET / 8);
    while reader.next_batch(&mut batch).unwrap() {}

    assert_eq!(batch[1..], rows);
}

#[test]
fn a_row_that_cannot_be_written_names_its_type() {
    let mut writer = RowsWriter::new(FrameWriter::new(Vec::new(), Compression::Lz4).unwrap());
    writer.push(&vec![(); 3]).unwrap();

    let error = writer.push(&vec![(); 1 << 20]).unwrap_err();

    assert!(error.to_string().contains("alloc::vec::Vec<()>"), "{error}");
    assert!(!error.is_damage());
    let bytes = writer.finish().unwrap().into_inner();
    assert_eq!(read::<Vec<()>>(&bytes).unwrap(), [vec![(); 3]]);
}

#[test]
fn sound_bytes_of_another_type_are_an_error_once() {
    let bytes = write(Compression::None, &[(1_u64, 2_u64)]);
    let mut reader = RowsReader::<String, _>::new(&bytes[..]);

    let error = reader.next().unwrap().unwrap_err();

    assert!(matches!(error, CodecError::Decode { .. }), "{error}");
    assert!(reader.next().is_none());
}

#[test]
fn rows_before_a_damaged_frame_are_given_out_and_none_after() {
    let rows: Vec<u64> = (0..100_000).collect();
    let mut bytes = write(Compression::None, &rows);
    bytes[16 + FRAME_TARGET + 16 + 99] ^= 1;
    let mut given = 0;

    let error = RowsReader::<u64, _>::new(&bytes[..]).find_map(|row| match row {
        Ok(_) => {
            given += 1;
            None
        }
        Err(error) => Some(error),
    });

    assert!(error.unwrap().is_damage());
    assert_eq!(given, FRAME_TARGET / 8);
}

proptest! {
    #[test]
    fn rows_come_back_however_they_are_pushed(
        rows: Vec<(String, Option<u64>)>,
        cuts in prop::collection::vec(0_usize..20, 0..20),
        compression in prop::sample::select(ALL.to_vec()),
    ) {
        let mut writer = RowsWriter::new(FrameWriter::new(Vec::new(), compression).unwrap());
        let mut rest = &rows[..];
        for cut in cuts {
            let (part, after) = rest.split_at(cut.min(rest.len()));
            writer.extend(part).unwrap();
            writer.flush().unwrap();
            rest = after;
        }
        for row in rest {
            writer.push(row).unwrap();
        }
        let bytes = writer.finish().unwrap().into_inner();

        prop_assert_eq!(read::<(String, Option<u64>)>(&bytes).unwrap(), rows);
    }
}

/// Behaviours: SHUF-007.
#[test]
fn the_sum_of_content_depends_on_rows_and_partition_alone() {
    let sum = |compression, frame_bytes, partition, rows: &[(u32, u64)]| {
        let frames = FrameWriter::new(Vec::new(), compression).unwrap();
        let mut writer = RowsWriter::with_frame_bytes(frames, frame_bytes).with_content_sum(partition);
        writer.extend(rows).unwrap();
        writer.flush().unwrap();
        let sum = writer.content_sum().unwrap();
        let bytes = writer.finish().unwrap().into_inner();
        assert_eq!(read::<(u32, u64)>(&bytes).unwrap(), rows, "what is written is the same");
        sum
    };
    let rows: Vec<(u32, u64)> = (0..5000).map(|x| (x % 7, u64::from(x))).collect();
    let mut turned = rows.clone();
    turned.reverse();
    let mut changed = rows.clone();
    changed[4321].1 += 1;
    let mut twice = rows.clone();
    twice.extend([(1, 1), (1, 1)]);

    let expected = sum(Compression::Lz4, FRAME_TARGET, 3, &rows);
    for compression in ALL {
        assert_eq!(sum(compression, FRAME_TARGET, 3, &rows), expected, "{compression}");
        assert_eq!(sum(compression, 100, 3, &turned), expected, "{compression}");
    }
    let (part, rest) = rows.split_at(1234);
    let mut merged = sum(Compression::None, 100, 3, part);
    merged.merge(sum(Compression::Lz4, 100, 3, rest));
    assert_eq!(merged, expected, "in two files");
    for other in [&changed, &twice, &rows[1..].to_vec()] {
        assert_ne!(sum(Compression::Lz4, 100, 3, other), expected);
    }
    assert_ne!(sum(Compression::Lz4, 100, 4, &rows), expected, "in another partition");
    assert_eq!(sum(Compression::Lz4, 100, 3, &[]), ContentSum::default());
}
