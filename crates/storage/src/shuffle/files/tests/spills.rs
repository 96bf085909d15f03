//! Spills, and outputs made of them.

use std::collections::BTreeMap;

use firesteel_types::PartitionId;
use proptest::prelude::*;

use super::support::*;
use crate::codec::Compression;
use crate::disk::LocalDirs;
use crate::disk::small_disk::SmallDisk;
use crate::shuffle::files::*;

#[test]
fn a_spill_is_read_by_partition_and_removed_with_its_last_owner() {
    let disk = Disk::new();
    let spill = spill(
        &disk.dirs,
        Compression::Lz4,
        &[(3, rows("3", 10)), (4, Vec::new()), (900, rows("900", 50_000))],
    );

    assert_eq!(spill.partitions().collect::<Vec<_>>(), [3, 900]);
    assert!(spill.block(4).is_none());
    let block = spill.block(900).unwrap();
    assert_eq!(spill.bytes(), spill.block(3).unwrap().len() + block.len());
    drop(spill);

    assert_eq!(disk.names(), [""; 0]);
    assert_eq!(read(&block).unwrap(), rows("900", 50_000), "who reads it still can");
}

#[test]
fn a_spill_without_rows_makes_no_file() {
    let disk = Disk::new();
    let mut empty = SpillWriter::new(&disk.dirs, Compression::Lz4);
    empty.start(1);
    empty.rows::<Row>().finish().unwrap();
    assert_eq!(empty.bytes(), 0);

    let empty = empty.finish().unwrap();

    assert_eq!(disk.names(), [""; 0]);
    assert_eq!(empty.partitions().count(), 0);
}

/// Behaviours: SHUF-014.
#[test]
fn spills_and_outputs_may_be_compressed_differently() {
    let (lz4, zstd) = (Compression::Lz4, Compression::Zstd { level: 1 });
    for (spilled, written) in [(lz4, zstd), (zstd, Compression::None), (Compression::None, lz4), (lz4, lz4)] {
        let disk = Disk::new();
        let spill = spill(&disk.dirs, spilled, &[(0, rows("spilled", 1000))]);
        let mut writer = disk.writer(1, written);
        write_block(&mut writer, 0, &rows("before", 1000));
        writer.append(&spill.block(0).unwrap()).unwrap();
        let mut out = writer.rows();
        out.extend(&rows("after", 1000)).unwrap();
        out.finish().unwrap();
        writer.commit().unwrap();

        let expected = [rows("before", 1000), rows("spilled", 1000), rows("after", 1000)].concat();
        assert_eq!(read_block(&disk.open().unwrap(), 0), expected, "{spilled} then {written}");
    }
}

/// Long enough for the kernel to copy it.
fn long() -> Vec<(u32, Vec<Row>)> {
    vec![(0, rows("a", 30_000)), (1, rows("b", 3)), (2, rows("c", 25_000))]
}

#[track_caller]
fn copies_whole(from: &LocalDirs, disk: &Disk) {
    let spill = spill(from, Compression::None, &long());
    assert!(spill.block(0).unwrap().len() > 256 * 1024);
    let mut writer = disk.writer(3, Compression::Lz4);
    for partition in spill.partitions() {
        write_block(&mut writer, partition, &rows("first", 2));
        writer.append(&spill.block(partition).unwrap()).unwrap();
    }
    let bytes = writer.bytes();
    let committed = writer.commit().unwrap();

    assert_eq!(committed.file.lengths().iter().sum::<u64>(), bytes);
    let file = disk.open().unwrap();
    for (partition, expected) in long() {
        assert_eq!(read_block(&file, partition), [rows("first", 2), expected].concat());
    }
}

#[test]
fn long_blocks_are_copied_whole() {
    let disk = Disk::new();
    copies_whole(&disk.dirs, &disk);
}

#[test]
fn blocks_are_copied_between_file_systems() {
    let Some(small) = SmallDisk::mount() else { return };
    let from = LocalDirs::create(&[small.path().to_owned()], "test").unwrap();

    copies_whole(&from, &Disk::new());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Behaviours: SHUF-004.
    #[test]
    fn spills_put_together_are_what_they_were(
        spills in prop::collection::vec(
            prop::collection::btree_map(0_u32..8, prop::collection::vec(any::<(String, u64)>(), 0..20), 0..8),
            0..5,
        ),
    ) {
        let disk = Disk::new();
        let blocks = |spill: &BTreeMap<u32, Vec<Row>>| spill.clone().into_iter().collect::<Vec<_>>();
        let files: Vec<SpillFile> =
            spills.iter().map(|rows| spill(&disk.dirs, Compression::Lz4, &blocks(rows))).collect();
        let mut writer = disk.writer(8, Compression::Lz4);
        for reduce in 0..8 {
            writer.start(PartitionId(reduce));
            for block in files.iter().filter_map(|file| file.block(reduce)) {
                writer.append(&block).unwrap();
            }
        }
        drop(files);
        writer.commit().unwrap();

        let file = disk.open().unwrap();
        file.verify().unwrap();
        for reduce in 0..8 {
            let expected: Vec<Row> = spills.iter().filter_map(|spill| spill.get(&reduce)).flatten().cloned().collect();
            prop_assert_eq!(read_block(&file, reduce), expected);
        }
    }
}
