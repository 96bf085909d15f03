//! RDDs that are kept.

mod files;
mod short_memory;

use firesteel::{StorageLevel, prelude::*};

use crate::support::{each_backend, each_backend_that_retries, each_backend_with_room, runs_here};

/// All levels that keep anything.
fn levels() -> impl Iterator<Item = StorageLevel> {
    StorageLevel::NAMED.into_iter().map(|(_, level)| level).filter(|level| level.is_persisted())
}

/// Behaviours: BLK-001, BLK-010, BLK-018.
#[test]
fn a_kept_partition_is_computed_once_and_again_after_unpersist() {
    each_backend_with_room(|ctx| {
        for level in levels() {
            let computed = ctx.long_accumulator("computed");
            let rows = ctx.range_into(0..100_u64, 4).with(computed.clone()).map(|computed, x| {
                computed.add(1);
                x * 2
            });
            let kept = rows.persist(level);

            let sums = [kept.collect().unwrap(), kept.collect().unwrap(), kept.map(|x| x).collect().unwrap()];
            assert_eq!(computed.value().sum, 100, "{level:?}");
            kept.unpersist();
            kept.count().unwrap();

            assert_eq!(computed.value().sum, 200);
            assert_eq!(sums[0], (0..100).map(|x| x * 2).collect::<Vec<_>>());
            assert!(sums.iter().all(|rows| *rows == sums[0]));
        }
    });
}

#[test]
fn a_shuffle_behind_a_kept_rdd_is_not_run_again() {
    each_backend(|ctx| {
        let mapped = ctx.long_accumulator("mapped");
        let pairs = ctx.range_into(0..100_u64, 4).with(mapped.clone()).map(|mapped, x| {
            mapped.add(1);
            (x % 10, 1_u64)
        });
        let counts = pairs.reduce_by_key(|a, b| a + b).cache();

        for _ in 0..3 {
            assert_eq!(counts.count().unwrap(), 10);
        }

        assert_eq!(mapped.value().sum, 100);
        assert_eq!(ctx.status().unwrap().jobs().len(), 3);
    });
}

/// Behaviours: BLK-001.
#[test]
fn a_level_cannot_be_changed_but_to_none() {
    each_backend(|ctx| {
        let kept = ctx.range(0..9).cache();

        assert!(kept.persist(StorageLevel::MEMORY_ONLY).is_ok(), "the same level again");
        assert!(kept.persist(StorageLevel::MEMORY_ONLY_SER).is_err());
        kept.unpersist();

        assert!(kept.persist(StorageLevel::MEMORY_ONLY_SER).is_ok());
        assert_eq!(kept.storage_level(), StorageLevel::MEMORY_ONLY_SER);
    });
}

/// Behaviours: BLK-019.
#[test]
fn a_computation_that_fails_while_it_is_kept_leaves_nothing_and_succeeds_on_retry() {
    each_backend_that_retries(|ctx| {
        let rows = ctx.range_into(0..10_u64, 2).map(|x| {
            let task = TaskContext::current().unwrap();
            assert!(
                x != 7 || task.attempt_number().0 > 0,
                "fails once in the middle of the second partition"
            );
            x
        });
        let kept = rows.cache();

        assert_eq!(kept.collect().unwrap(), (0..10).collect::<Vec<_>>());
        assert_eq!(kept.count().unwrap(), 10);
    });
}

#[test]
fn rows_of_all_kinds_come_back_from_every_level() {
    each_backend(|ctx| {
        for level in levels() {
            let texts = ctx.range_into(0..1000_u64, 3).map(|x| (x % 7, format!("row {x}"))).persist(level);
            let sums = texts.reduce_by_key(|a, b| if a.len() < b.len() { a } else { b }).persist(level);
            let empty = ctx.range_into(0..10_u32, 4).filter(|x| *x > 10).persist(level);
            let units = ctx.range_into(0..10_000_u32, 2).map(|_| ()).persist(level);

            for _ in 0..2 {
                assert_eq!(texts.map(|(_, text)| text).collect().unwrap()[999], "row 999", "{level:?}");
                assert_eq!(sums.count().unwrap(), 7);
                assert_eq!(empty.count().unwrap(), 0);
                assert_eq!(units.count().unwrap(), 10_000);
            }
            assert_eq!(texts.cartesian(&empty).count().unwrap(), 0);
            assert_eq!(texts.zip(&texts).filter(|(a, b)| a == b).count().unwrap(), 1000);
            assert_eq!(texts.take(3).unwrap().len(), 3);
        }
    });
}

/// Behaviours: BLK-001.
#[test]
fn a_level_of_no_or_too_many_copies_fails_the_job() {
    each_backend(|ctx| {
        for copies in [0, 40] {
            let kept = ctx.range(0..9).persist(StorageLevel::MEMORY_ONLY.replicated(copies));
            let error = kept.count().unwrap_err().to_string();

            assert!(error.contains("1 to 39 copies"), "{error}");
        }
    });
}

/// In this process only: two executors do not wait for each other, and may both compute it.
#[test]
fn two_jobs_at_once_compute_a_kept_partition_once() {
    each_backend_with_room(|ctx| {
        if !runs_here(ctx) {
            return;
        }
        let computed = ctx.long_accumulator("computed");
        let rows = ctx.range_into(0..1_u64, 1).with(computed.clone()).map(|computed, x| {
            computed.add(1);
            x
        });
        let kept = rows.cache();

        let (one, two) = (kept.count_async(), kept.count_async());
        assert_eq!((one.wait().unwrap(), two.wait().unwrap()), (1, 1));

        assert_eq!(computed.value().sum, 1);
    });
}
