//! The cases of fixed seeds, in processes of their own.
//!
//! `cargo xtask answers --minutes M` runs as many others as there is time for.

use std::process::Command;

/// How many cases run with each change.
const CASES: &str = "250";

#[test]
fn the_answers_of_random_jobs_are_those_of_the_model() {
    let output = Command::new(env!("CARGO_BIN_EXE_firesteel-answers"))
        .args(["run", "--seed", "1", "--cases", CASES])
        .output()
        .unwrap();

    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}
