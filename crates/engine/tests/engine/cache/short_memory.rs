//! More rows than there is memory for.

use std::{fs, path::Path};

use firesteel::{Accumulator, ContextBuilder, LongSum, StorageLevel, prelude::*};
use tempfile::TempDir;

use super::{files::blocks, levels};
use crate::support::each_backend_with;

/// A row of about a thousand bytes that is like no other, and that compression makes no smaller.
fn text(row: u64) -> (u64, String) {
    let mut state = row.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let words = (0..62).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        format!("{state:016x}")
    });
    (row, words.collect())
}

/// Runs `test` on each backend with 4 MiB of memory, all on one executor, and a folder for files.
fn with_little_memory(test: impl Fn(&Context, &Path)) {
    let folder = TempDir::new().unwrap();
    let parent = folder.path().to_str().unwrap();
    let set = |builder: ContextBuilder| {
        let builder = builder.set("firesteel.memory.budget", "4m").unwrap();
        builder.set("firesteel.local.dir", parent).unwrap().set("firesteel.cores.max", 1).unwrap()
    };
    each_backend_with(set, |ctx| test(&ctx, folder.path()));
}

/// So many rows with their texts; how many were computed is counted.
fn texts(
    ctx: &Context,
    rows: u64,
    partitions: u32,
) -> (impl Rdd<Item = (u64, String)> + use<>, Accumulator<LongSum>) {
    let computed = ctx.long_accumulator("computed");
    let rows = ctx.range_into(0..rows, partitions).with(computed.clone()).map(|computed, row| {
        computed.add(1);
        text(row)
    });
    (rows, computed)
}

/// Checks that the rows of a kept RDD are `0..rows`, with their texts.
fn check<R: Rdd<Item = (u64, String)>>(kept: &R, rows: u64) {
    let seen = kept.map(|(row, found)| (row, found == text(row).1)).collect().unwrap();
    assert!(seen.iter().copied().eq((0..rows).map(|row| (row, true))), "{} rows", seen.len());
}

/// Behaviours: BLK-005, BLK-008, BLK-019.
#[test]
fn memory_only_keeps_what_fits_and_computes_the_rest_again() {
    with_little_memory(|ctx, folder| {
        for level in [StorageLevel::MEMORY_ONLY, StorageLevel::MEMORY_ONLY_SER] {
            let (rows, computed) = texts(ctx, 6400, 16);
            let kept = rows.persist(level);
            check(&kept, 6400);

            for _ in 0..3 {
                computed.reset();
                check(&kept, 6400);
                let computed = computed.value().sum;
                assert!(
                    0 < computed && computed < 6400,
                    "{computed} of 6400 rows computed again at {level:?}"
                );
            }
            assert_eq!(blocks(folder).len(), 0);
        }
    });
}

/// Behaviours: BLK-007, BLK-008.
#[test]
fn levels_with_a_disk_compute_every_partition_once() {
    with_little_memory(|ctx, folder| {
        for level in
            [StorageLevel::MEMORY_AND_DISK, StorageLevel::MEMORY_AND_DISK_SER, StorageLevel::DISK_ONLY]
        {
            let (rows, computed) = texts(ctx, 6400, 16);
            let kept = rows.persist(level);
            for _ in 0..3 {
                check(&kept, 6400);
            }

            assert_eq!(computed.value().sum, 6400, "{level:?}");
            assert!(blocks(folder).len() >= 2, "some are on disk");
        }
    });
}

/// Behaviours: BLK-007, BLK-008.
#[test]
fn a_partition_larger_than_all_memory_is_streamed() {
    with_little_memory(|ctx, folder| {
        for level in levels().filter(|level| level.replication == 1) {
            let (rows, computed) = texts(ctx, 6000, 1);
            let kept = rows.persist(level);
            assert_eq!(kept.first().unwrap().0, 0);
            let collected = computed.value().sum;
            computed.reset();
            assert_eq!(
                collected < 6000,
                !level.disk,
                "given up when memory is full: {collected} at {level:?}"
            );
            check(&kept, 6000);
            check(&kept, 6000);

            let times = if level.disk { 0 } else { 2 };
            assert_eq!(computed.value().sum, times * 6000, "{level:?}");
            assert_eq!(blocks(folder).len(), usize::from(level.disk), "{level:?}");
            kept.unpersist();
        }
    });
}

/// Behaviours: BLK-005, BLK-007.
#[test]
fn the_partition_that_was_not_used_for_the_longest_time_makes_room() {
    with_little_memory(|ctx, folder| {
        for level in [StorageLevel::MEMORY_ONLY, StorageLevel::MEMORY_AND_DISK] {
            let all = [0, 1, 2].map(|_| texts(ctx, 1300, 1));
            let computed = || all.each_ref().map(|(_, computed)| computed.value().sum);
            let kept = all.each_ref().map(|(rows, _)| rows.persist(level));
            // Two have room. Of these the first was used last when the third one comes.
            for which in [0, 1, 0, 2, 0, 2] {
                check(&kept[which], 1300);
            }
            assert_eq!(computed(), [1300, 1300, 1300], "{level:?}");
            assert_eq!(blocks(folder).len(), usize::from(level.disk), "the second one left memory");

            check(&kept[1], 1300);
            let times = if level.disk { 1 } else { 2 };
            assert_eq!(computed(), [1300, times * 1300, 1300], "{level:?}");
            for kept in kept {
                kept.unpersist();
            }
        }
    });
}

#[test]
fn many_tasks_that_keep_more_than_there_is_room_for_all_come_to_an_end() {
    with_little_memory(|ctx, _| {
        let kept: Vec<_> = (0..6_u64)
            .map(|which| {
                let level = [StorageLevel::MEMORY_ONLY, StorageLevel::MEMORY_AND_DISK][which as usize % 2];
                ctx.range_into(0..2000, 8).map(text).persist(level)
            })
            .collect();
        for _ in 0..2 {
            let jobs: Vec<_> = kept.iter().map(|kept| kept.count_async()).collect();
            for job in jobs {
                assert_eq!(job.wait().unwrap(), 2000);
            }
        }
        for kept in &kept {
            check(kept, 2000);
        }
    });
}

/// Behaviours: CKPT-007.
#[test]
fn a_local_checkpoint_gives_up_nothing_and_says_what_to_do_when_a_file_is_lost() {
    with_little_memory(|ctx, folder| {
        let rdd = ctx.range_into(0..6400_u64, 16).map(text).local_checkpoint();
        rdd.count().unwrap();
        assert!(rdd.is_checkpointed());
        check(&rdd, 6400);

        for path in blocks(folder) {
            fs::remove_file(path).unwrap();
        }
        let error = rdd.count().unwrap_err().to_string();
        assert!(error.contains("local checkpoint is lost") && error.contains("`checkpoint`"), "{error}");
    });
}

/// Behaviours: BLK-005, BLK-007.
#[test]
fn what_was_evicted_is_in_memory_again_when_it_was_read_and_there_is_room() {
    with_little_memory(|ctx, folder| {
        for level in [StorageLevel::MEMORY_AND_DISK, StorageLevel::MEMORY_AND_DISK_SER] {
            let (rows, computed) = texts(ctx, 1200, 4);
            let kept = rows.persist(level);
            check(&kept, 1200);
            assert_eq!(blocks(folder).len(), 0, "there is room for it");
            let (others, _) = texts(ctx, 3200, 8);
            let others = others.persist(level);
            check(&others, 3200);
            assert!(!blocks(folder).is_empty(), "there is no room for both");
            others.unpersist();

            check(&kept, 1200);
            for file in blocks(folder) {
                // One of the others may go by itself.
                let _ = fs::remove_file(file);
            }
            check(&kept, 1200);

            assert_eq!(computed.value().sum, 1200, "no file was needed any more");
        }
    });
}
