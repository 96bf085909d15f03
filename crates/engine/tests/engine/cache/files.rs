//! Kept partitions on disk.

use std::{
    fs,
    path::{Path, PathBuf},
};

use firesteel::{StorageLevel, prelude::*};
use tempfile::TempDir;

use crate::{
    gate::{Gate, until},
    support::{each_backend_with, runs_here},
};

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

/// Asserts that no kept partition is on disk. Executors in other processes hear of it a little later.
fn assert_no_blocks(ctx: &Context, folder: &Path) {
    if !runs_here(ctx) {
        until(|| blocks(folder).is_empty());
    }
    assert_eq!(blocks(folder).len(), 0);
}

/// How many copies there are of a partition, at most one on each of the executors.
fn copies(ctx: &Context, level: StorageLevel) -> usize {
    let executors = if runs_here(ctx) { 1 } else { 2 };
    executors.min(level.replication.into())
}

/// Runs `test` on each backend with a folder of its own for the files, and one attempt for each task.
fn each_backend_in_folder(test: impl Fn(Context, &Path)) {
    let folder = TempDir::new().unwrap();
    let parent = folder.path().to_str().unwrap();
    each_backend_with(
        |builder| {
            let builder = builder.set("firesteel.local.dir", parent).unwrap();
            let builder = builder.set("firesteel.memory.budget", "64m").unwrap();
            builder.set("firesteel.task.maxFailures", 1).unwrap()
        },
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
        assert_no_blocks(&ctx, folder);

        let dropped = ctx.range_into(0..100_u64, 3).persist(StorageLevel::DISK_ONLY_2);
        assert_eq!(dropped.collect().unwrap(), (0..100).collect::<Vec<_>>());
        assert_eq!(blocks(folder).len(), 3 * copies(&ctx, StorageLevel::DISK_ONLY_2));
        drop(dropped);
        // A slot may be about to drop what it ran.
        until(|| blocks(folder).is_empty());

        let left = ctx.range_into(0..100_u64, 5).persist(StorageLevel::DISK_ONLY_3);
        left.count().unwrap();
        assert_eq!(blocks(folder).len(), 5 * copies(&ctx, StorageLevel::DISK_ONLY_3));
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
    each_backend_in_folder(|ctx, folder| {
        for level in [StorageLevel::DISK_ONLY, StorageLevel::MEMORY_ONLY] {
            let kept = ctx.range_into(0..100_u64, 1).persist(level);
            kept.count().unwrap();
            let gate = Gate::new();
            let reading = kept.with(gate.clone()).map(|gate, x| {
                if x == 50 {
                    gate.pass();
                }
                x
            });
            let job = reading.count_async();
            gate.until_reached();
            kept.unpersist();
            gate.open();

            assert_eq!(job.wait().unwrap(), 100);
            assert_no_blocks(&ctx, folder);
        }
    });
}

/// Behaviours: BLK-009.
#[test]
fn a_file_that_is_lost_or_damaged_fails_the_task_and_is_computed_again() {
    each_backend_in_folder(|ctx, folder| {
        let computed = ctx.long_accumulator("computed");
        let rows = ctx.range_into(0..100_u64, 1).with(computed.clone()).map(|computed, x| {
            computed.add(1);
            x
        });
        let kept = rows.persist(StorageLevel::DISK_ONLY);
        kept.count().unwrap();

        fs::remove_file(&blocks(folder)[0]).unwrap();
        let error = kept.count().unwrap_err().to_string();
        assert!(error.contains("is lost"), "{error}");
        assert_eq!(kept.count().unwrap(), 100);
        assert_eq!(computed.value().sum, 200);

        let path = blocks(folder).remove(0);
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        let error = kept.count().unwrap_err().to_string();
        assert!(error.contains("damaged"), "{error}");
        assert_eq!(kept.count().unwrap(), 100);

        assert_eq!(computed.value().sum, 300);
    });
}
