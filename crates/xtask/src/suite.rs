//! `cargo xtask test`: every test of the workspace.
//!
//! Unit, property and integration tests, then the doc tests, which nextest leaves out; the examples are built on
//! the way. Everything uses the one dev profile, so nothing is compiled twice.

use anyhow::Result;

use crate::{needs, process};

/// Provides what the tests need, then runs them all.
pub(crate) fn run() -> Result<()> {
    needs::provide();
    for args in commands(process::is_installed(needs::NEXTEST)) {
        process::run(&mut process::cargo(args))?;
    }
    Ok(())
}

/// The cargo calls, in order.
fn commands(nextest: bool) -> &'static [&'static [&'static str]] {
    if nextest {
        &[
            &["nextest", "run", "--workspace", "--no-tests=pass"],
            &["test", "--workspace", "--doc"],
            &["build", "--workspace", "--examples"],
        ]
    } else {
        // Plain `cargo test` runs doc tests and builds the examples by itself.
        &[&["test", "--workspace"]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextest_is_joined_by_what_it_leaves_out() {
        let first_words: Vec<&str> = commands(true).iter().map(|args| args[0]).collect();

        assert_eq!(first_words, ["nextest", "test", "build"]);
        assert_eq!(commands(false), [["test", "--workspace"]]);
    }
}
