//! Random runs of the whole scheduler.
//!
//! A run draws a configuration, a lineage and a sequence of steps from a seed: jobs are submitted and cancelled,
//! executors come and go, tasks end in every way, and reports are late, repeated or wrong. After each call the
//! scheduler checks itself, and a naive [`judge::Judge`] compares events and effects. Then the faults stop, and
//! everything must come to an end. At last the same events go to a second scheduler, which must give the same
//! bytes.
//!
//! A failing run is made small and printed; the bug it shows gets a test of its own in `regressions`.

#![expect(unreachable_pub, reason = "a test binary has no public face")]
#![expect(clippy::panic, reason = "the judge panics when a promise is broken")]

mod case;
mod driver;
mod faults;
mod honest;
mod judge;
mod lineage;
mod settings;
mod steps;
mod world;

#[path = "../behaviours/harness.rs"]
#[expect(dead_code, reason = "made for the tests of behaviours")]
mod harness;
mod regressions;
#[path = "../behaviours/show.rs"]
mod show;

use case::Flavour;

/// Cases of each flavour.
const CASES: u64 = 5000;

#[test]
fn calm_runs_keep_every_promise() {
    driver::run_many(Flavour::Calm, CASES);
}

#[test]
fn runs_with_losses_keep_every_promise() {
    driver::run_many(Flavour::Losses, CASES);
}

#[test]
fn runs_with_cancellations_keep_every_promise() {
    driver::run_many(Flavour::Cancellations, CASES);
}

#[test]
fn runs_with_lies_keep_every_promise() {
    driver::run_many(Flavour::Lies, CASES);
}

#[test]
fn runs_with_queues_on_executors_keep_every_promise() {
    driver::run_many(Flavour::Queues, CASES);
}
