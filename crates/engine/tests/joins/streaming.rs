//! What a join costs: clones of what is given out, and no memory for what is not.

use std::sync::atomic::{AtomicUsize, Ordering};

use firesteel::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{
    gate::Gate,
    support::{each_backend, each_backend_here, each_backend_with_room},
};

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

/// In this process only: a clone has nothing by which another process could count it.
#[test]
fn a_join_clones_what_it_gives_out_and_nothing_else() {
    each_backend_here(|ctx| {
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

/// The join would run for hours: this test ends because the task looks for the order to end between pairs.
#[test]
fn a_join_in_the_middle_of_a_skewed_key_ends_when_its_job_is_cancelled() {
    // All values of a key have to fit.
    each_backend_with_room(|ctx| {
        let joining = Gate::new();
        let rows = ctx.range(0..1_000_000).map(|x| (0_u8, x));
        let pairs = rows.join(&rows).with(joining.clone()).map(|joining, (_, (x, y))| {
            if x == y {
                joining.arrive();
            }
        });
        let job = pairs.count_async();
        joining.until_reached();

        ctx.cancel_all_jobs(None);

        assert!(job.wait().is_err());
    });
}
