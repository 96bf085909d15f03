//! The switch that runs a test on each backend.
//!
//! `FIRESTEEL_TEST_BACKENDS` names them, separated by semicolons: a master URL, with `+shipped` behind it where tasks
//! are to run from their shipped form.

use firesteel::prelude::*;

const BACKENDS: &str = "local[2];local[2]+shipped";

/// Runs `test` once on each backend.
pub(crate) fn each_backend(test: impl Fn(&Context)) {
    let backends = std::env::var("FIRESTEEL_TEST_BACKENDS").unwrap_or_else(|_| BACKENDS.to_owned());
    for backend in backends.split(';') {
        let (master, shipped) = match backend.strip_suffix("+shipped") {
            Some(master) => (master, true),
            None => (backend, false),
        };
        let ctx = Context::builder().master(master).shipped(shipped).start();
        let ctx = ctx.unwrap_or_else(|error| panic!("cannot start a context on {backend}: {error}"));
        // The name of the backend in the output of a test that fails.
        println!("on {backend}");
        test(&ctx);
    }
}
