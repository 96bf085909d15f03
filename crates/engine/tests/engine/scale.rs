//! Much more of everything than usual.

use firesteel::prelude::*;

use crate::{abuse::in_time, support::each_backend};

#[test]
fn fifty_thousand_partitions_are_one_job() {
    each_backend(|ctx| {
        let ctx = ctx.clone();
        let count = in_time("50,000 partitions", move || ctx.range_into(0..0_u64, 50_000).count());

        assert_eq!(count.unwrap(), 0);
    });
}

#[test]
fn five_thousand_jobs_of_eight_threads_all_give_their_value() {
    each_backend(|ctx| {
        let run = |ctx: &Context| (0..625).map(|_| ctx.range_into(0..3_u64, 2).count().unwrap()).sum::<u64>();
        let threads: Vec<_> = (0..8).map(|_| ctx.spawn(run).unwrap()).collect();

        let sum: u64 =
            in_time("5,000 jobs", || threads.into_iter().map(|thread| thread.join().unwrap()).sum());

        assert_eq!(sum, 15_000);
    });
}

#[test]
fn a_thousand_rdds_are_united() {
    each_backend(|ctx| {
        let rdds = (0..1000_u64).map(|n| ctx.range_into(n..n + 2, 2).boxed()).collect();
        let one_by_one = (0..100_u64).fold(ctx.range_into(0..1_u64, 1).boxed(), |all, n| {
            all.union(&ctx.range_into(n..n + 1, 1)).boxed()
        });

        assert_eq!(ctx.union(rdds).count().unwrap(), 2000);
        assert_eq!(one_by_one.count().unwrap(), 101);
    });
}

#[test]
fn three_thousand_shuffles_in_a_row_run_and_are_dropped() {
    each_backend(|ctx| {
        let ctx = ctx.clone();
        let count = in_time("3,000 shuffles", move || {
            let mut rdd = ctx.range_into(0..3_u64, 1).map(|x| (x, 1_u64)).boxed();
            for _ in 0..3000 {
                rdd = rdd.reduce_by_key(|a, b| a + b).boxed();
            }
            rdd.map_values(|x| x).group_by_key_into(2).count()
        });

        assert_eq!(count.unwrap(), 3);
    });
}

#[test]
fn a_long_chain_of_boxed_maps_runs_and_a_longer_one_is_refused_with_the_remedy() {
    each_backend(|ctx| {
        let chain = |length: u32| {
            (0..length).fold(ctx.range_into(0..2_u64, 2).boxed(), |rdd, _| rdd.map(|x| x + 1).boxed())
        };

        assert_eq!(chain(4000).collect().unwrap(), [4000, 4001]);
        let long = chain(20_000);
        let error = long.collect().unwrap_err().to_string();
        assert!(error.contains("more than 4096 RDDs") && error.contains("checkpoint"), "{error}");
        drop(long);
        assert_eq!(ctx.range(0..5).count().unwrap(), 5);
    });
}
