//! RDDs that are kept.

mod files;
mod short_memory;

use std::sync::atomic::{AtomicUsize, Ordering};

use firesteel::{StorageLevel, prelude::*};

use crate::support::each_backend;

/// All levels that keep anything.
fn levels() -> impl Iterator<Item = StorageLevel> {
    StorageLevel::NAMED.into_iter().map(|(_, level)| level).filter(|level| level.is_persisted())
}

/// Behaviours: BLK-001, BLK-010, BLK-018.
#[test]
fn a_kept_partition_is_computed_once_and_again_after_unpersist() {
    static COMPUTED: AtomicUsize = AtomicUsize::new(0);
    each_backend(|ctx| {
        for level in levels() {
            COMPUTED.store(0, Ordering::Relaxed);
            let rows = ctx.range_into(0..100_u64, 4).map(|x| {
                COMPUTED.fetch_add(1, Ordering::Relaxed);
                x * 2
            });
            let kept = rows.persist(level);

            let sums = [kept.collect().unwrap(), kept.collect().unwrap(), kept.map(|x| x).collect().unwrap()];
            assert_eq!(COMPUTED.load(Ordering::Relaxed), 100, "{level:?}");
            kept.unpersist();
            kept.count().unwrap();

            assert_eq!(COMPUTED.load(Ordering::Relaxed), 200);
            assert_eq!(sums[0], (0..100).map(|x| x * 2).collect::<Vec<_>>());
            assert!(sums.iter().all(|rows| *rows == sums[0]));
        }
    });
}

#[test]
fn a_shuffle_behind_a_kept_rdd_is_not_run_again() {
    static MAPPED: AtomicUsize = AtomicUsize::new(0);
    each_backend(|ctx| {
        MAPPED.store(0, Ordering::Relaxed);
        let pairs = ctx.range_into(0..100_u64, 4).map(|x| {
            MAPPED.fetch_add(1, Ordering::Relaxed);
            (x % 10, 1_u64)
        });
        let counts = pairs.reduce_by_key(|a, b| a + b).cache();

        for _ in 0..3 {
            assert_eq!(counts.count().unwrap(), 10);
        }

        assert_eq!(MAPPED.load(Ordering::Relaxed), 100);
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
    let ctx = Context::builder().master("local[2,2]").start().unwrap();
    let rows = ctx.range_into(0..10_u64, 2).map(|x| {
        let task = TaskContext::current().unwrap();
        assert!(x != 7 || task.attempt_number().0 > 0, "fails once in the middle of the second partition");
        x
    });
    let kept = rows.cache();

    assert_eq!(kept.collect().unwrap(), (0..10).collect::<Vec<_>>());
    assert_eq!(kept.count().unwrap(), 10);
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

#[test]
fn two_jobs_at_once_compute_a_kept_partition_once() {
    static COMPUTED: AtomicUsize = AtomicUsize::new(0);
    each_backend(|ctx| {
        COMPUTED.store(0, Ordering::Relaxed);
        let rows = ctx.range_into(0..1_u64, 1).map(|x| {
            COMPUTED.fetch_add(1, Ordering::Relaxed);
            x
        });
        let kept = rows.cache();

        let (one, two) = (kept.count_async(), kept.count_async());
        assert_eq!((one.wait().unwrap(), two.wait().unwrap()), (1, 1));

        assert_eq!(COMPUTED.load(Ordering::Relaxed), 1);
    });
}
