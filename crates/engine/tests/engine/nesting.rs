//! What cannot be done inside a task.

use firesteel::prelude::*;

use crate::support::{each_backend, each_backend_with};

#[test]
fn many_threads_run_jobs_on_one_context() {
    each_backend(|ctx| {
        let thread = |n: u64| {
            let rows =
                move |ctx: &Context| ctx.range_into(0..1000_u64, 4).with(n).map(|n, x| (x % (n + 1), 1_u64));
            ctx.spawn(move |ctx| rows(ctx).reduce_by_key(|a, b| a + b).count().unwrap()).unwrap()
        };
        let threads: Vec<_> = (0..8).map(thread).collect();

        let counts: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();

        assert_eq!(counts, (1..9).collect::<Vec<_>>());
    });
}

#[test]
fn a_result_that_makes_all_too_large_fails_the_job() {
    each_backend_with(
        |builder| builder.set("firesteel.driver.maxResultSize", "1m").unwrap(),
        |ctx| {
            let error = ctx.range_into(0..400_000_u64, 4).collect().unwrap_err().to_string();

            assert!(error.contains("firesteel.driver.maxResultSize"), "{error}");
            assert_eq!(ctx.range(0..3).count().unwrap(), 3);
        },
    );
}
