//! What is kept when nothing is left to keep.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::Driver;
use crate::prelude::*;

fn is_empty(driver: &Driver) -> bool {
    driver.query(firesteel_scheduler::Scheduler::is_quiescent)
        && driver.jobs.lock().is_empty()
        && driver.shuffles.lock().is_empty()
        && driver.core.lock().stages.is_empty()
        && driver.environment.is_empty()
}

/// The slot that ran the last task may not have let go of it yet.
fn assert_empty_soon(driver: &Driver) {
    let began = Instant::now();
    while !is_empty(driver) {
        assert!(began.elapsed() < Duration::from_secs(60), "something is kept");
        thread::yield_now();
    }
}

#[test]
fn nothing_is_kept_when_jobs_are_over_and_rdds_are_dropped() {
    for shipped in [false, true] {
        let ctx = Context::builder().master("local[2]").shipped(shipped).start().unwrap();
        for round in 0..20_u64 {
            let pairs = ctx.range_into(0..40_u64, 4).map(|x| (x % 5, x));
            let sums = pairs.reduce_by_key(|a, b| a + b).cache();
            let table = ctx.broadcast(vec![round]).unwrap();
            let joined = sums.join(&pairs).with(table).map(|table, x| x.0 + table.value()[0]);
            assert_eq!(joined.count().unwrap(), 40);
            assert!(sums.map(|x| 1 / (x.0 / 9)).count().is_err());
            let endless = pairs.flat_map(std::iter::repeat).group_by_key().count_async();
            endless.cancel();
            assert!(endless.wait().is_err());
            assert!(!is_empty(ctx.driver()), "the RDDs are still there");
        }

        assert_empty_soon(ctx.driver());
    }
}
