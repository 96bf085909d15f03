//! What a join costs: clones of what is given out, and no memory for what is not.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use firesteel::prelude::*;
use serde::{Deserialize, Serialize};

use crate::support::each_backend;

static CLONES: AtomicUsize = AtomicUsize::new(0);

/// A value that counts its clones.
#[derive(Serialize, Deserialize)]
struct Counted;

impl Clone for Counted {
    fn clone(&self) -> Self {
        CLONES.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

#[test]
fn a_join_clones_what_it_gives_out_and_nothing_else() {
    each_backend(|ctx| {
        let left = ctx.range_into(0..1000, 3).map(|x| (x, Counted));
        let right = ctx.range_into(0..200, 3).map(|x| (900 + x / 2, Counted));

        let before = CLONES.load(Ordering::Relaxed);
        assert_eq!(left.join_into(&right, 4).count().unwrap(), 200);
        assert_eq!(CLONES.load(Ordering::Relaxed) - before, 2 * 200, "two values for each pair");

        let before = CLONES.load(Ordering::Relaxed);
        assert_eq!(left.subtract_by_key_into(&right, 4).count().unwrap(), 900);
        let clones = CLONES.load(Ordering::Relaxed) - before;
        assert!(
            clones == 900 || clones == 0,
            "rows are cloned from where they are kept, or were read to be given: {clones}"
        );
    });
}

#[test]
fn a_key_with_very_many_pairs_streams_through() {
    each_backend(|ctx| {
        let (left, right) = (ctx.range(0..700).map(|x| (0_u8, x)), ctx.range(0..900).map(|x| (0_u8, x)));

        assert_eq!(left.join(&right).count().unwrap(), 700 * 900);
        assert_eq!(left.full_outer_join(&right).count().unwrap(), 700 * 900);
        assert_eq!(left.cogroup(&right).count().unwrap(), 1);
    });
}

static JOINING: AtomicBool = AtomicBool::new(false);

/// The join would run for hours: this test ends because the task looks for the order to end between pairs.
#[test]
fn a_join_in_the_middle_of_a_skewed_key_ends_when_its_job_is_cancelled() {
    each_backend(|ctx| {
        JOINING.store(false, Ordering::Relaxed);
        let rows = ctx.range(0..1_000_000).map(|x| (0_u8, x));
        let job = rows.join(&rows).map(|_| JOINING.store(true, Ordering::Relaxed)).count_async();
        while !JOINING.load(Ordering::Relaxed) {
            thread::yield_now();
        }

        ctx.cancel_all_jobs(None);

        assert!(job.wait().is_err());
    });
}
