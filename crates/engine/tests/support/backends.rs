//! The switch that runs a test on each backend.
//!
//! `FIRESTEEL_TEST_BACKENDS` names them, separated by semicolons: a master URL, with `+shipped` behind it where tasks
//! are to run from their shipped form, and `+tight` where they are to have so little memory that everything spills. On
//! `local-cluster[…]` the executors are processes of the test's own executable, so a test must not look for what its tasks
//! did in its own memory: accumulators and the `Gate` of `gate.rs` reach over.

#![allow(dead_code, reason = "no test binary needs all of it")]

use firesteel::{ContextBuilder, prelude::*, settings};
use firesteel_types::MasterUrl;

const BACKENDS: &str = "local[2];local[2]+shipped;local-cluster[2,1,1024]";

/// Runs `test` once on each backend.
pub(crate) fn each_backend(test: impl Fn(&Context)) {
    each_backend_with(|builder| builder, |ctx| test(&ctx));
}

/// Runs `test` once on each backend whose tasks run in this process: for tests that give tasks something which no other
/// process could have, such as a context, or count in a `static` what no function of the user's sees.
pub(crate) fn each_backend_here(test: impl Fn(&Context)) {
    let here = |backend: &str| backend.starts_with("local[");
    on_backends(here, str::to_owned, |builder| builder, |ctx| test(&ctx));
}

/// Runs `test` once on each backend, where tasks are tried three times at least.
pub(crate) fn each_backend_that_retries(test: impl Fn(&Context)) {
    on_backends(
        |_| true,
        |master| master.replace("local[2]", "local[2,3]"),
        |builder| builder,
        |ctx| test(&ctx),
    );
}

/// Runs `test` once on each backend with memory for what it keeps, also where tasks have little.
pub(crate) fn each_backend_with_room(test: impl Fn(&Context)) {
    each_backend_with(|builder| builder.set("firesteel.memory.budget", "64m").unwrap(), |ctx| test(&ctx));
}

/// Whether the tasks of a context run in this process.
pub(crate) fn runs_here(ctx: &Context) -> bool {
    matches!(ctx.conf().get(settings::MASTER), MasterUrl::Local { .. })
}

/// Runs `test` once on each backend, with the settings that `set` makes. The context is the test's own.
pub(crate) fn each_backend_with(set: impl Fn(ContextBuilder) -> ContextBuilder, test: impl Fn(Context)) {
    on_backends(|_| true, str::to_owned, set, test);
}

fn on_backends(
    is_wanted: impl Fn(&str) -> bool,
    master: impl Fn(&str) -> String,
    set: impl Fn(ContextBuilder) -> ContextBuilder,
    test: impl Fn(Context),
) {
    let backends = std::env::var("FIRESTEEL_TEST_BACKENDS").unwrap_or_else(|_| BACKENDS.to_owned());
    for backend in backends.split(';').filter(|backend| is_wanted(backend)) {
        let mut parts = backend.split('+');
        let mut builder = Context::builder().master(master(parts.next().unwrap_or_default()));
        for flag in parts {
            builder = match flag {
                "shipped" => builder.shipped(true),
                "tight" => builder.set("firesteel.memory.budget", "64k").unwrap(),
                unknown => panic!("{backend} has an unknown flag: {unknown}"),
            };
        }
        // What a test sets itself wins.
        let ctx = set(builder).start();
        let ctx = ctx.unwrap_or_else(|error| panic!("cannot start a context on {backend}: {error}"));
        // The name of the backend in the output of a test that fails.
        println!("on {backend}");
        test(ctx);
    }
}
