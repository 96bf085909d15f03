//! The size of a benchmark: the full one by `cargo bench`, a tiny one by `cargo test`, which only sees that it works.
//!
//! Cargo tells the two apart by `--bench`, which it gives to benchmarks and not to tests.

use std::{env, process};

/// The word that the user gave behind `--`, if any. To be called first: a test runner that asks for a list of tests is
/// answered here, and the program ends.
pub(crate) fn start() -> Option<String> {
    if has("--list") {
        if !has("--ignored") {
            println!("tiny: test");
        }
        process::exit(0);
    }
    let word = env::args().skip(1).find(|word| !word.starts_with("--"));
    // What follows the options of a test runner is the name that it read in the list above.
    word.filter(|_| has("--bench"))
}

/// The figure for the size of this run.
pub(crate) fn sized<T>(full: T, tiny: T) -> T {
    if has("--bench") { full } else { tiny }
}

fn has(option: &str) -> bool {
    env::args().any(|word| word == option)
}
