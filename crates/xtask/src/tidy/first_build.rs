//! What a first build compiles: the tree of the examples, which have the features that an application has by default.
//!
//! A newcomer waits for it, and so does every application. It must stay short, and nothing in it may be
//! there for the tests or for a feature that is off.

use std::collections::BTreeSet;

use anyhow::Result;

use super::problem::Problem;
use crate::process;

const EXAMPLES: &str = "firesteel-examples";

/// The most crates, ours included.
const CRATES_MAX: usize = 150;

/// Crates that belong to a feature or to the tests, and to which.
const NEVER: &[(&str, &str)] = &[
    ("aws-lc-rs", "a second TLS implementation, in C"),
    ("aws-lc-sys", "a second TLS implementation, in C"),
    ("bzip2", "of the feature `bzip2`"),
    ("object_store", "of the feature `cloud`"),
    ("proptest", "of tests"),
    ("reqwest", "of the feature `cloud`"),
    ("ring", "of the feature `tls`"),
    ("rustls", "of the feature `tls`"),
    ("twox-hash", "of the feature `lz4`"),
    ("url", "of the feature `cloud`"),
];

/// Asks cargo for the tree and checks it.
pub(crate) fn check() -> Result<Vec<Problem>> {
    let args = ["tree", "--package", EXAMPLES, "--edges", "normal,build", "--prefix", "none"];
    Ok(check_tree(&process::output(&mut process::cargo(&args))?))
}

/// Checks the lines of `cargo tree --prefix none`: a name, a version, and marks of repetition.
fn check_tree(tree: &str) -> Vec<Problem> {
    let lines = tree.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.is_empty());
    let crates: BTreeSet<&str> = lines.collect();
    let report = |message: String| Problem::in_file(&format!("crate {EXAMPLES}"), message);
    let mut problems = Vec::new();
    if crates.len() > CRATES_MAX {
        let count = crates.len();
        problems.push(report(format!(
            "has {count} crates in its tree, at most {CRATES_MAX}: a first build is short"
        )));
    }
    let names: BTreeSet<&str> = crates.iter().filter_map(|line| line.split_whitespace().next()).collect();
    for (name, what) in NEVER.iter().filter(|(name, _)| names.contains(name)) {
        problems
            .push(report(format!("has {name}, {what}, in its tree: features that cost are off by default")));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_tree_passes_and_repetitions_do_not_count() {
        let tree = "serde v1.0.0\nserde v1.0.0 (*)\n\n".repeat(CRATES_MAX);

        assert_eq!(check_tree(&tree), []);
    }

    #[test]
    fn a_long_tree_and_what_belongs_to_features_fail() {
        let mut crates: Vec<String> = (0..CRATES_MAX).map(|n| format!("crate-{n} v1.0.0")).collect();
        crates.push("ring v0.17.0".to_owned());

        let found = check_tree(&crates.join("\n"));

        let found: Vec<String> = found.iter().map(Problem::to_string).collect();
        assert_eq!(
            found,
            [
                "crate firesteel-examples: has 151 crates in its tree, at most 150: a first build is short",
                "crate firesteel-examples: has ring, of the feature `tls`, in its tree: features that cost are off \
                 by default",
            ]
        );
    }
}
