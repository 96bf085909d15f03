//! Kept partitions on disk.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use firesteel::{StorageLevel, prelude::*};
use tempfile::TempDir;

use crate::support::each_backend_with;

/// All files below a folder.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// The files of kept partitions, whole or not, below a folder.
pub(super) fn blocks(folder: &Path) -> Vec<PathBuf> {
    let is_block = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("rdd_");
    files(folder).into_iter().filter(is_block).collect()
}

/// Waits for something that must come to be.
fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        thread::yield_now();
    }
}

/// Runs `test` on each backend with a folder of its own for the files.
fn each_backend_in_folder(test: impl Fn(Context, &Path)) {
    let folder = TempDir::new().unwrap();
    let parent = folder.path().to_str().unwrap();
    each_backend_with(
        |builder| builder.set("firesteel.local.dir", parent).unwrap(),
        |ctx| test(ctx, folder.path()),
    );
}

#[test]
fn only_levels_with_a_disk_alone_write_files_and_these_go_with_unpersist_or_the_rdd_or_the_context() {
    each_backend_in_folder(|ctx, folder| {
        for level in
            [StorageLevel::MEMORY_ONLY, StorageLevel::MEMORY_AND_DISK, StorageLevel::MEMORY_AND_DISK_SER]
        {
            ctx.range_into(0..100_u64, 4).persist(level).count().unwrap();
            assert_eq!(blocks(folder).len(), 0, "{level:?} has room in memory");
        }

        let kept = ctx.range_into(0..100_u64, 4).persist(StorageLevel::DISK_ONLY);
        kept.count().unwrap();
        assert_eq!(blocks(folder).len(), 4);
        kept.unpersist();
        assert_eq!(blocks(folder).len(), 0);

        let dropped = ctx.range_into(0..100_u64, 3).persist(StorageLevel::DISK_ONLY_2);
        assert_eq!(dropped.collect().unwrap(), (0..100).collect::<Vec<_>>());
        assert_eq!(blocks(folder).len(), 3);
        drop(dropped);
        // A slot may be about to drop what it ran.
        until(|| blocks(folder).is_empty());

        let left = ctx.range_into(0..100_u64, 5).persist(StorageLevel::DISK_ONLY_3);
        left.count().unwrap();
        assert_eq!(blocks(folder).len(), 5);
        ctx.stop().unwrap();
        assert_eq!(blocks(folder).len(), 0);
        drop((kept, left, ctx));
        // The folder of the application goes with the last that knows it.
        until(|| fs::read_dir(folder).unwrap().count() == 0);
    });
}

/// Behaviours: BLK-019.
#[test]
fn a_computation_that_fails_leaves_no_file() {
    each_backend_in_folder(|ctx, folder| {
        let rows = ctx.range_into(0..100_000_u64, 1).map(|x| 1 / (99_999 - x.cast_signed()));
        let kept = rows.persist(StorageLevel::DISK_ONLY);

        let error = kept.count().unwrap_err().to_string();

        assert!(error.contains("divide by zero"), "{error}");
        assert_eq!(files(folder).iter().filter(|path| path.to_string_lossy().contains("rdd_")).count(), 0);
    });
}

#[test]
fn a_partition_that_a_task_reads_is_removed_when_the_task_has_ended() {
    static GATE: Barrier = Barrier::new(2);
    each_backend_in_folder(|ctx, folder| {
        for level in [StorageLevel::DISK_ONLY, StorageLevel::MEMORY_ONLY] {
            let kept = ctx.range_into(0..100_u64, 1).persist(level);
            kept.count().unwrap();
            let reading = kept.map(|x| {
                if x == 50 {
                    GATE.wait();
                    GATE.wait();
                }
                x
            });
            let job = reading.count_async();
            GATE.wait();
            kept.unpersist();
            GATE.wait();

            assert_eq!(job.wait().unwrap(), 100);
            assert_eq!(blocks(folder).len(), 0);
        }
    });
}

/// Behaviours: BLK-009.
#[test]
fn a_file_that_is_lost_or_damaged_fails_the_task_and_is_computed_again() {
    static COMPUTED: AtomicUsize = AtomicUsize::new(0);
    each_backend_in_folder(|ctx, folder| {
        COMPUTED.store(0, Ordering::Relaxed);
        let rows = ctx.range_into(0..100_u64, 1).map(|x| {
            COMPUTED.fetch_add(1, Ordering::Relaxed);
            x
        });
        let kept = rows.persist(StorageLevel::DISK_ONLY);
        kept.count().unwrap();

        fs::remove_file(&blocks(folder)[0]).unwrap();
        let error = kept.count().unwrap_err().to_string();
        assert!(error.contains("is lost"), "{error}");
        assert_eq!(kept.count().unwrap(), 100);
        assert_eq!(COMPUTED.load(Ordering::Relaxed), 200);

        let path = blocks(folder).remove(0);
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        let error = kept.count().unwrap_err().to_string();
        assert!(error.contains("damaged"), "{error}");
        assert_eq!(kept.count().unwrap(), 100);

        assert_eq!(COMPUTED.load(Ordering::Relaxed), 300);
    });
}
