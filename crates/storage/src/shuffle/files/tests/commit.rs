//! Outputs as they are written, found, replaced and removed.

use std::fs;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};

use firesteel_types::{AttemptId, PartitionId, ShuffleId};

use super::support::*;
use crate::codec::{Checksum, Compression, ContentSum};
use crate::shuffle::files::*;

/// Behaviours: SHUF-002.
#[test]
fn blocks_lie_in_order_and_empty_ones_take_no_bytes() {
    let disk = Disk::new();

    let committed = disk.commit(5, &[(1, rows("one", 10)), (2, Vec::new()), (3, rows("three", 100_000))]);

    assert!(committed.is_ours);
    let lengths = &committed.file.lengths();
    assert_eq!(
        lengths.iter().map(|length| *length > 0).collect::<Vec<_>>(),
        [false, true, false, true, false]
    );
    assert_eq!(fs::metadata(disk.data_path()).unwrap().len(), lengths.iter().sum::<u64>());
    let index = fs::read(disk.index_path()).unwrap();
    let offset = |at: usize| u64::from_le_bytes(index[28 + 8 * at..][..8].try_into().unwrap());
    let offsets: Vec<u64> = (0..6).map(offset).collect();
    assert_eq!(offsets, [0, 0, lengths[1], lengths[1], lengths[1] + lengths[3], lengths[1] + lengths[3]]);

    let file = disk.open().unwrap();
    assert_eq!(file.lengths(), *lengths);
    assert_eq!(read_block(&file, 1), rows("one", 10));
    assert_eq!(read_block(&file, 3), rows("three", 100_000));
    assert_eq!(read_block(&committed.file, 3), rows("three", 100_000));
    assert!([0, 2, 4].iter().all(|reduce| file.block(PartitionId(*reduce)).is_none()));
}

/// Behaviours: SHUF-002.
#[test]
fn output_without_rows_is_an_index_of_a_few_bytes() {
    let disk = Disk::new();

    let committed = disk.commit(1_000_000, &[]);

    assert_eq!(committed.file.lengths(), vec![0; 1_000_000]);
    assert_eq!(disk.names(), ["shuffle_1_4.index"]);
    assert_eq!(fs::metadata(disk.index_path()).unwrap().len(), 36);
    let file = disk.open().unwrap();
    assert_eq!(file.partitions(), 1_000_000);
    assert!(file.range(0..1_000_000).is_none());
    file.verify().unwrap();
    assert!(!disk.commit(1_000_000, &[(0, rows("late", 1))]).is_ours, "an empty output is one too");
}

/// Behaviours: SHUF-003.
#[test]
fn the_first_valid_output_stays() {
    let disk = Disk::new();
    let first = disk.commit(2, &[(0, rows("first", 50))]);

    let second = disk.commit(2, &[(1, rows("second", 9))]);

    assert!(!second.is_ours);
    assert_eq!(second.file.lengths(), first.file.lengths());
    assert_eq!(read_block(&disk.open().unwrap(), 0), rows("first", 50));
    assert_eq!(disk.names(), ["shuffle_1_4.data", "shuffle_1_4.index"]);
}

/// Behaviours: SHUF-003.
#[test]
fn files_that_do_not_belong_together_are_replaced() {
    let breakages: [(&str, fn(&Disk)); 6] = [
        ("data cut", |disk| damage(&disk.data_path(), |bytes| bytes.truncate(bytes.len() - 1))),
        ("data too long", |disk| damage(&disk.data_path(), |bytes| bytes.push(0))),
        ("data gone", |disk| fs::remove_file(disk.data_path()).unwrap()),
        ("index gone", |disk| fs::remove_file(disk.index_path()).unwrap()),
        ("index cut", |disk| damage(&disk.index_path(), |bytes| bytes.truncate(30))),
        ("index of another job", |disk| damage(&disk.index_path(), |bytes| bytes[9] ^= 1)),
    ];
    for (breakage, break_it) in breakages {
        let disk = Disk::new();
        disk.commit(2, &[(0, rows("old", 50))]);
        break_it(&disk);

        let committed = disk.commit(2, &[(1, rows("new", 9))]);

        assert!(committed.is_ours, "{breakage}");
        let file = disk.open().unwrap();
        assert_eq!(file.lengths(), committed.file.lengths(), "{breakage}");
        assert_eq!(read_block(&file, 1), rows("new", 9), "{breakage}");
        assert_eq!(disk.names(), ["shuffle_1_4.data", "shuffle_1_4.index"], "{breakage}");
    }
}

#[test]
fn data_without_an_index_is_removed_by_an_empty_output() {
    let disk = Disk::new();
    disk.commit(2, &[(0, rows("old", 50))]);
    fs::remove_file(disk.index_path()).unwrap();

    assert!(disk.commit(2, &[]).is_ours);

    assert_eq!(disk.names(), ["shuffle_1_4.index"]);
}

#[test]
fn an_output_of_other_partitions_is_replaced() {
    let disk = Disk::new();
    disk.commit(2, &[(0, rows("two", 5))]);

    assert!(disk.commit(3, &[(2, rows("three", 5))]).is_ours);

    assert_eq!(disk.open().unwrap().partitions(), 3);
}

#[test]
fn a_later_generation_replaces_an_earlier_one_and_never_the_other_way_round() {
    let disk = Disk::new();
    let commit = |generation: u64, name: &str| {
        let mut writer = disk.writer(1, Compression::Lz4).of_generation(generation);
        writer.set_content_sum(ContentSum::from_value(generation * 10));
        write_block(&mut writer, 0, &rows(name, 5));
        let is_ours = writer.commit().unwrap().is_ours;
        let file = disk.open().unwrap();
        (is_ours, read_block(&file, 0)[0].0.clone(), file.generation(), file.content_sum().unwrap().value())
    };
    let first = |name: &str| rows(name, 1)[0].0.clone();

    assert_eq!(commit(3, "three"), (true, first("three"), 3, 30));
    assert_eq!(commit(3, "same"), (false, first("three"), 3, 30), "the first of a generation wins");
    assert_eq!(commit(5, "five"), (true, first("five"), 5, 50));
    assert_eq!(commit(4, "late"), (false, first("five"), 5, 50));

    let empty = disk.writer(1, Compression::Lz4).of_generation(6).commit().unwrap();
    assert!(empty.is_ours);
    let file = disk.open().unwrap();
    assert_eq!((file.generation(), file.content_sum(), file.lengths()), (6, None, vec![0]));
}

/// Behaviours: SHUF-004.
#[test]
fn nothing_is_left_of_a_writer_that_gave_up() {
    let disk = Disk::new();
    let mut writer = disk.writer(3, Compression::Lz4);
    writer.start(PartitionId(0));
    assert_eq!(disk.names(), [""; 0], "no file before the first row");
    write_block(&mut writer, 1, &rows("lost", 5));
    assert_eq!(disk.names().len(), 1);
    let mut spill = SpillWriter::new(&disk.dirs, Compression::None);
    spill.start(0);
    spill.rows().extend(&rows("lost", 100_000)).unwrap();

    drop((writer, spill));

    assert_eq!(disk.names(), [""; 0]);
    assert!(matches!(disk.open(), Err(ShuffleFileError::Missing { part: "index", .. })));
}

/// Behaviours: SHUF-005.
#[test]
fn of_several_attempts_at_once_readers_see_one() {
    const ATTEMPTS: u64 = 4;
    for round in 0..10 {
        let disk = Disk::new();
        let barrier = Barrier::new(ATTEMPTS as usize + 1);
        let outcomes: Vec<Committed> = std::thread::scope(|scope| {
            let attempt = |number: u64| {
                let dirs = &disk.dirs;
                let barrier = &barrier;
                scope.spawn(move || {
                    let attempt = AttemptId(number);
                    let mut writer = MapOutputWriter::new(dirs, SHUFFLE, MAP, 2, Compression::Lz4, attempt);
                    write_block(&mut writer, 0, &rows("block 0", 100 + number));
                    write_block(&mut writer, 1, &rows("block 1", 100 + number));
                    barrier.wait();
                    writer.commit().unwrap()
                })
            };
            let attempts: Vec<_> = (0..ATTEMPTS).map(attempt).collect();
            barrier.wait();
            while attempts.iter().any(|attempt| !attempt.is_finished()) {
                match disk.open() {
                    Ok(file) => assert_eq!(read_block(&file, 0).len(), read_block(&file, 1).len()),
                    Err(error) => assert!(matches!(error, ShuffleFileError::Missing { .. }), "{error}"),
                }
            }
            attempts.into_iter().map(|attempt| attempt.join().unwrap()).collect()
        });

        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ours).count(), 1, "round {round}");
        let lengths = disk.open().unwrap().lengths();
        assert!(outcomes.iter().all(|outcome| outcome.file.lengths() == lengths), "round {round}");
        assert_eq!(disk.names(), ["shuffle_1_4.data", "shuffle_1_4.index"]);
    }
}

/// Behaviours: SHUF-005.
#[test]
fn of_attempts_that_commit_at_the_same_moment_one_wins() {
    const ATTEMPTS: u64 = 4;
    let disk = Disk::new();
    let barrier = Barrier::new(ATTEMPTS as usize);
    let winners: Vec<AtomicU32> = (0..200).map(|_| AtomicU32::new(0)).collect();

    std::thread::scope(|scope| {
        for number in 0..ATTEMPTS {
            let (dirs, barrier, winners) = (&disk.dirs, &barrier, &winners);
            scope.spawn(move || {
                for (map, winners) in (0..).map(PartitionId).zip(winners) {
                    let attempt = AttemptId(number);
                    let mut writer = MapOutputWriter::new(dirs, SHUFFLE, map, 1, Compression::Lz4, attempt);
                    write_block(&mut writer, 0, &rows("row", 1));
                    barrier.wait();
                    if writer.commit().unwrap().is_ours {
                        winners.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });

    assert!(winners.iter().all(|winners| winners.load(Ordering::Relaxed) == 1), "{winners:?}");
}

/// Behaviours: SHUF-018.
#[test]
fn consecutive_blocks_are_one_block() {
    let disk = Disk::new();
    let blocks = [(0, rows("0", 5)), (2, rows("2", 70_000)), (3, rows("3", 1)), (5, rows("5", 9))];
    disk.commit(7, &blocks);
    let file = disk.open().unwrap();

    for start in 0..7 {
        for end in start..=7 {
            let inside = blocks.iter().filter(|(reduce, _)| (start..end).contains(reduce));
            let expected: Vec<Row> = inside.flat_map(|(_, rows)| rows.clone()).collect();

            let range = file.range(start..end);

            let found = range.map_or_else(Vec::new, |range| read(&range).unwrap());
            assert_eq!(found, expected, "{start}..{end}");
        }
    }
}

/// Behaviours: SHUF-007.
#[test]
fn every_block_has_the_checksum_of_its_bytes() {
    let disk = Disk::new();
    disk.commit(3, &[(0, rows("0", 5)), (2, rows("2", 70_000))]);
    let data = fs::read(disk.data_path()).unwrap();
    let file = disk.open().unwrap();

    for reduce in [0, 2] {
        let block = file.block(PartitionId(reduce)).unwrap();
        let bytes = &data[block.offset() as usize..][..block.len() as usize];

        assert_eq!(block.checksum(), Checksum::of(bytes));
        block.verify().unwrap();
    }
}

#[test]
fn removing_a_shuffle_leaves_others_and_what_is_being_written() {
    let disk = Disk::new();
    let write = |shuffle: u32, map: u32| {
        let (shuffle, map) = (ShuffleId(shuffle), PartitionId(map));
        let mut writer = MapOutputWriter::new(&disk.dirs, shuffle, map, 1, Compression::Lz4, AttemptId(0));
        write_block(&mut writer, 0, &rows("x", 3));
        writer
    };
    for (shuffle, map) in [(1, 0), (1, 1), (11, 0), (2, 1)] {
        write(shuffle, map).commit().unwrap();
    }
    let unfinished = write(1, 2);

    assert_eq!(remove_shuffle(&disk.dirs, ShuffleId(1)).unwrap(), 4);

    assert!(unfinished.commit().unwrap().is_ours);
    remove_map_output(&disk.dirs, ShuffleId(1), PartitionId(2)).unwrap();
    let left = ["shuffle_11_0.data", "shuffle_11_0.index", "shuffle_2_1.data", "shuffle_2_1.index"];
    assert_eq!(disk.names(), left);
    let open = MapOutputFile::open(&disk.dirs, ShuffleId(1), PartitionId(0));
    assert!(matches!(open, Err(ShuffleFileError::Missing { .. })));
}

#[test]
#[should_panic(expected = "partition-2 of 2 partitions")]
fn a_partition_that_does_not_exist_is_refused() {
    Disk::new().writer(2, Compression::Lz4).start(PartitionId(2));
}

#[test]
#[should_panic(expected = "partition 1 after Some(1)")]
fn partitions_must_ascend() {
    let disk = Disk::new();
    let mut writer = disk.writer(2, Compression::Lz4);
    writer.start(PartitionId(1));

    writer.start(PartitionId(1));
}
