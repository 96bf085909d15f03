//! The switch that runs a test on each backend.
//!
//! `FIRESTEEL_TEST_BACKENDS` names them, separated by semicolons: a master URL, with `+shipped` behind it where tasks
//! are to run from their shipped form, and `+tight` where they are to have so little memory that everything spills.

use firesteel::{ContextBuilder, prelude::*};

const BACKENDS: &str = "local[2];local[2]+shipped";

/// Runs `test` once on each backend.
pub(crate) fn each_backend(test: impl Fn(&Context)) {
    each_backend_with(|builder| builder, |ctx| test(&ctx));
}

/// Runs `test` once on each backend, with the settings that `set` makes. The context is the test's own.
pub(crate) fn each_backend_with(set: impl Fn(ContextBuilder) -> ContextBuilder, test: impl Fn(Context)) {
    let backends = std::env::var("FIRESTEEL_TEST_BACKENDS").unwrap_or_else(|_| BACKENDS.to_owned());
    for backend in backends.split(';') {
        let mut parts = backend.split('+');
        let mut builder = set(Context::builder()).master(parts.next().unwrap_or_default());
        for flag in parts {
            builder = match flag {
                "shipped" => builder.shipped(true),
                "tight" => builder.set("firesteel.memory.budget", "64k").unwrap(),
                unknown => panic!("{backend} has an unknown flag: {unknown}"),
            };
        }
        let ctx = builder.start();
        let ctx = ctx.unwrap_or_else(|error| panic!("cannot start a context on {backend}: {error}"));
        // The name of the backend in the output of a test that fails.
        println!("on {backend}");
        test(ctx);
    }
}
