//! RDDs that are kept.

use std::sync::atomic::{AtomicUsize, Ordering};

use firesteel::{StorageLevel, prelude::*};

use crate::support::each_backend;

const LEVELS: [StorageLevel; 2] = [StorageLevel::MEMORY_ONLY, StorageLevel::MEMORY_ONLY_SER];

#[test]
fn a_kept_partition_is_computed_once_and_again_after_unpersist() {
    static COMPUTED: AtomicUsize = AtomicUsize::new(0);
    each_backend(|ctx| {
        for level in LEVELS {
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
