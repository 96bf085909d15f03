//! Damaged, cut, missing files and full disks.

use std::fs::{self, File};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use firesteel_types::PartitionId;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::support::*;
use crate::codec::{Checksum, CodecError, Compression};
use crate::disk::small_disk::SmallDisk;
use crate::disk::{DiskError, LocalDirs};
use crate::shuffle::files::*;

fn damage_of(error: ShuffleFileError) -> Damage {
    assert!(error.is_loss(), "{error}");
    match error {
        ShuffleFileError::Damaged { damage, .. } => damage,
        other => panic!("{other}"),
    }
}

fn three_blocks() -> Disk {
    let disk = Disk::new();
    disk.commit(3, &[(0, rows("0", 5)), (1, rows("1", 20)), (2, rows("2", 5))]);
    disk
}

#[test]
fn every_flipped_bit_of_an_index_is_found() {
    let disk = three_blocks();
    let path = disk.index_path();
    let sound = fs::read(&path).unwrap();
    for byte in 0..sound.len() {
        for bit in 0..8 {
            let mut damaged = sound.clone();
            damaged[byte] ^= 1 << bit;
            fs::write(&path, damaged).unwrap();

            let damage = damage_of(disk.open().unwrap_err());

            assert!(matches!(damage, Damage::Index { .. }), "byte {byte}: {damage}");
        }
    }
}

#[test]
fn an_index_cut_anywhere_is_found() {
    let disk = three_blocks();
    let path = disk.index_path();
    let sound = fs::read(&path).unwrap();
    for length in 0..sound.len() {
        fs::write(&path, &sound[..length]).unwrap();

        let damage = damage_of(disk.open().unwrap_err());

        assert!(matches!(damage, Damage::Index { .. }), "length {length}: {damage}");
    }
}

/// Puts something else in the place of a file.
fn plant(path: &Path, kind: FileType) {
    fs::remove_file(path).unwrap();
    match kind {
        FileType::Directory => fs::create_dir(path).unwrap(),
        kind => mknodat(CWD, path, kind, Mode::RUSR | Mode::WUSR, 0).unwrap(),
    }
}

/// What `f` gives, on a thread of its own: it must not wait for what may never come.
fn without_waiting<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || tell.send(f()));
    told.recv_timeout(Duration::from_secs(60)).expect("opening does not wait")
}

#[test]
fn what_is_no_file_any_more_is_lost_and_named_and_nothing_waits_for_it() {
    for kind in [FileType::Fifo, FileType::Directory] {
        for path_of in [Disk::index_path, Disk::data_path] {
            let disk = three_blocks();
            let path = path_of(&disk);
            plant(&path, kind);
            let dirs = disk.dirs.clone();

            let opened = without_waiting(move || MapOutputFile::open(&dirs, SHUFFLE, MAP).map(drop));

            let error = opened.unwrap_err();
            assert!(error.is_loss(), "{error}");
            assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
            assert!(error.to_string().contains("and not a file"), "{error}");
        }
    }
}

#[test]
fn a_task_that_runs_again_writes_its_output_where_a_fifo_was_planted() {
    let disk = three_blocks();
    plant(&disk.index_path(), FileType::Fifo);
    plant(&disk.data_path(), FileType::Fifo);

    let (disk, again) = without_waiting(move || {
        let again = disk.commit(3, &[(0, rows("0", 5))]);
        (disk, again)
    });

    assert!(again.is_ours);
    assert_eq!(read_block(&disk.open().unwrap(), 0), rows("0", 5));
}

#[test]
fn every_flipped_byte_of_data_is_found_in_its_block_only() {
    let disk = three_blocks();
    let path = disk.data_path();
    let sound = fs::read(&path).unwrap();
    let file = disk.open().unwrap();
    let block = file.block(PartitionId(1)).unwrap();
    for byte in block.offset()..block.offset() + block.len() {
        let mut damaged = sound.clone();
        damaged[byte as usize] ^= 0x10;
        fs::write(&path, damaged).unwrap();

        let (read_damage, verify_damage) =
            (damage_of(read(&block).unwrap_err()), damage_of(block.verify().unwrap_err()));

        assert!(matches!(read_damage, Damage::Checksum { .. }), "byte {byte}: {read_damage}");
        assert_eq!(read_damage, verify_damage);
        assert_eq!(read_block(&file, 0), rows("0", 5));
        assert_eq!(read_block(&file, 2), rows("2", 5));
        assert!(file.verify().is_err());
        assert!(file.range(0..3).unwrap().verify().is_err());
    }
}

#[test]
fn data_of_another_length_is_found_at_once() {
    let disk = three_blocks();
    let path = disk.data_path();
    let sound = fs::read(&path).unwrap();
    let expected = sound.len() as u64;
    for length in 0..sound.len() {
        fs::write(&path, &sound[..length]).unwrap();

        let damage = damage_of(disk.open().unwrap_err());

        assert_eq!(damage, Damage::Length { expected, actual: length as u64 });
    }
}

#[test]
fn data_cut_under_a_reader_is_diagnosed() {
    let disk = three_blocks();
    let file = disk.open().unwrap();
    let block = file.block(PartitionId(2)).unwrap();
    let length = block.offset() + 20;
    File::options().write(true).open(disk.data_path()).unwrap().set_len(length).unwrap();

    let (reading, verifying) = (read(&block).unwrap_err(), block.verify().unwrap_err());

    let expected = Damage::Length { expected: block.offset() + block.len(), actual: length };
    assert_eq!(damage_of(reading), expected);
    assert_eq!(damage_of(verifying), expected);
    assert_eq!(read_block(&file, 1), rows("1", 20));
}

#[test]
fn files_that_are_gone_are_named() {
    let disk = three_blocks();
    fs::remove_file(disk.data_path()).unwrap();
    let error = disk.open().unwrap_err();
    assert!(error.is_loss());
    assert_eq!(error.to_string(), "the data file of the output of map 4 of shuffle-1 is missing");

    fs::remove_file(disk.index_path()).unwrap();
    let error = disk.open().unwrap_err();
    assert_eq!(error.to_string(), "the index file of the output of map 4 of shuffle-1 is missing");
}

#[test]
fn a_file_deleted_under_a_reader_is_read_to_its_end() {
    let disk = three_blocks();
    let file = disk.open().unwrap();

    remove_shuffle(&disk.dirs, SHUFFLE).unwrap();

    assert_eq!(read_block(&file, 1), rows("1", 20));
}

#[test]
fn bytes_that_were_written_wrong_are_told_from_bytes_that_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nonsense");
    let nonsense = b"never was a frame, and has the right checksum";
    fs::write(&path, nonsense).unwrap();
    let file = Arc::new(File::open(&path).unwrap());
    let range = FileRange::new(
        file,
        path.into(),
        0,
        Summary { checksum: Checksum::of(nonsense), rows: 1, raw_bytes: 1 },
    );

    let damage = damage_of(read(&range).unwrap_err());

    assert!(matches!(damage, Damage::Decode { from: 0, to: 45, .. }), "{damage}");
}

#[test]
fn rows_of_another_type_are_no_loss() {
    let disk = three_blocks();
    let block = disk.open().unwrap().block(PartitionId(1)).unwrap();

    let error = block.rows::<(u8, bool)>().find_map(Result::err).unwrap();
    let error = block.diagnose(error);

    assert!(!error.is_loss());
    assert!(matches!(error, ShuffleFileError::Codec(CodecError::Decode { .. })), "{error}");
}

#[test]
fn a_spill_cut_before_it_is_copied_is_found() {
    for count in [100, 50_000] {
        let disk = Disk::new();
        let spill = spill(&disk.dirs, Compression::None, &[(0, rows("x", count))]);
        let block = spill.block(0).unwrap();
        let cut = File::options().write(true).open(block.path()).unwrap();
        cut.set_len(block.len() - 5).unwrap();
        let mut writer = disk.writer(1, Compression::Lz4);
        writer.start(PartitionId(0));

        let damage = damage_of(writer.append(&block).unwrap_err());

        assert_eq!(damage, Damage::Length { expected: block.len(), actual: block.len() - 5 });
    }
}

#[test]
fn a_spill_damaged_before_it_is_copied_is_found_by_the_reader() {
    for count in [100, 50_000] {
        let disk = Disk::new();
        let spill = spill(&disk.dirs, Compression::None, &[(0, rows("x", count))]);
        let block = spill.block(0).unwrap();
        damage(block.path(), |bytes| bytes[40] ^= 1);
        let mut writer = disk.writer(1, Compression::Lz4);
        writer.start(PartitionId(0));
        writer.append(&block).unwrap();
        writer.commit().unwrap();

        let copied = disk.open().unwrap().block(PartitionId(0)).unwrap();

        assert!(matches!(damage_of(read(&copied).unwrap_err()), Damage::Checksum { .. }));
    }
}

/// What would not shrink, so that it fills a disk.
fn noise(bytes: usize) -> Vec<Row> {
    let mut rng = firesteel_types::Rng::new(3);
    (0..bytes / 24).map(|_| (format!("{:016x}", rng.next_u64()), rng.next_u64())).collect()
}

fn assert_full(error: &ShuffleFileError, small: &SmallDisk) {
    let ShuffleFileError::Disk(DiskError::Full { path, .. }) = error else { panic!("{error}") };
    assert!(path.starts_with(small.path()));
    assert!(!error.is_loss(), "nothing that was there is lost");
}

#[test]
fn a_full_disk_is_a_typed_error_and_leaves_nothing() {
    let Some(small) = SmallDisk::mount() else { return };
    let dirs = LocalDirs::create(&[small.path().to_owned()], "test").unwrap();
    let mut spill = SpillWriter::new(&dirs, Compression::None);
    spill.start(0);

    let error = spill.rows().extend(&noise(3 << 20)).unwrap_err();

    assert_full(&error, &small);
    drop(spill);
    assert_eq!(dirs.remove_matching(|_| true).unwrap(), 0, "no file is left");
}

#[test]
fn a_disk_that_fills_while_blocks_are_copied_is_a_typed_error() {
    let Some(small) = SmallDisk::mount() else { return };
    let dirs = LocalDirs::create(&[small.path().to_owned()], "test").unwrap();
    let disk = Disk::new();
    let block_of = |bytes| spill(&disk.dirs, Compression::None, &[(0, noise(bytes))]);

    for bytes in [100 << 10, 3 << 20] {
        let spill = block_of(bytes);
        let block = spill.block(0).unwrap();
        let mut writer =
            MapOutputWriter::new(&dirs, SHUFFLE, MAP, 1, Compression::Lz4, firesteel_types::AttemptId(0));
        writer.start(PartitionId(0));

        let error = (0..40).find_map(|_| writer.append(&block).err()).unwrap();

        assert_full(&error, &small);
        drop(writer);
        assert_eq!(dirs.remove_matching(|_| true).unwrap(), 0, "no file is left");
    }
}
