//! Who may know whom: the crate arrows, and what the scheduler may have in its tree.
//!
//! [`ALLOWED`] is the picture of the architecture; a new crate adds its line there. All kinds of dependencies
//! count, also those of tests and build scripts; that a crate names itself, to have its own features in its tests, is
//! no arrow. Does not look at `use` lines: Cargo enforces what is declared.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde_json::Value;

use super::problem::Problem;
use crate::process;

const TABLE: &str = "ALLOWED in crates/xtask/src/tidy/arrows.rs";

/// Which crates of the project a crate may depend on.
enum May {
    KnowNoCrate,
    /// All of them know the types as well.
    Know(&'static [&'static str]),
    /// Only those of this list: what an application may know.
    KnowOnly(&'static [&'static str]),
    /// Everything but the chores.
    KnowAll,
}

const TYPES: &str = "firesteel-types";
const SCHEDULER: &str = "firesteel-scheduler";
const FILES: &str = "firesteel-files";
const LISTENER: &str = "firesteel-listener";
const STATS: &str = "firesteel-stats";
const CHORES: &str = "xtask";

const ALLOWED: &[(&str, May)] = &[
    (TYPES, May::KnowNoCrate),
    (SCHEDULER, May::Know(&[])),
    ("firesteel-sim", May::Know(&[SCHEDULER])),
    ("firesteel-storage", May::Know(&["firesteel-net"])),
    ("firesteel-net", May::Know(&[])),
    ("firesteel-macros", May::Know(&[])),
    (STATS, May::Know(&[])),
    (FILES, May::Know(&["firesteel-storage"])),
    // The engine in its examples only; Cargo refuses a circle of anything else.
    (LISTENER, May::Know(&["firesteel-ui", "firesteel"])),
    (
        "firesteel",
        May::Know(&[
            SCHEDULER,
            FILES,
            LISTENER,
            STATS,
            "firesteel-storage",
            "firesteel-net",
            "firesteel-deploy",
            "firesteel-macros",
            "firesteel-ui",
        ]),
    ),
    ("firesteel-deploy", May::Know(&[SCHEDULER, "firesteel-net", "firesteel-storage"])),
    ("firesteel-ui", May::Know(&[SCHEDULER, "firesteel-net", "firesteel-deploy"])),
    ("firesteel-cli", May::KnowAll),
    ("firesteel-bench", May::KnowAll),
    ("firesteel-answers", May::Know(&["firesteel"])),
    ("firesteel-examples", May::KnowOnly(&["firesteel"])),
    (CHORES, May::Know(&[])),
];

/// All that the scheduler may have in its tree: data structures, and what derives plain data.
const SCHEDULER_TREE: &[&str] = &[
    SCHEDULER,
    TYPES,
    "cobs",
    "equivalent",
    "fixedbitset",
    "hashbrown",
    "indexmap",
    "postcard",
    "proc-macro2",
    "quote",
    "rustc-hash",
    "serde",
    "serde_core",
    "serde_derive",
    "syn",
    "thiserror",
    "thiserror-impl",
    "unicode-ident",
    "xxhash-rust",
];

/// Crates that would turn the scheduler into something else, and what each is.
const NEVER: &[(&str, &str)] = &[
    ("async-std", "an async runtime"),
    ("env_logger", "a logging crate"),
    ("futures", "a part of async runtimes"),
    ("futures-core", "a part of async runtimes"),
    ("log", "a logging crate"),
    ("mio", "a part of async runtimes"),
    ("slog", "a logging crate"),
    ("smol", "an async runtime"),
    ("tokio", "an async runtime"),
    ("tracing", "a logging crate"),
    ("tracing-core", "a logging crate"),
];

/// Asks cargo for the workspace and the scheduler's tree, and checks both.
pub(crate) fn check() -> Result<Vec<Problem>> {
    let metadata = process::output(&mut process::cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata = serde_json::from_str(&metadata).context("cannot read what `cargo metadata` printed")?;
    let mut problems = check_arrows(&metadata);
    // `cargo metadata` joins the features of all crates, so its tree of one crate is too large.
    let args = ["tree", "--package", SCHEDULER, "--edges", "normal", "--target", "all", "--prefix", "none"];
    problems.extend(check_scheduler_tree(&process::output(&mut process::cargo(&args))?));
    Ok(problems)
}

/// Checks every dependency between crates of the workspace against [`ALLOWED`].
fn check_arrows(metadata: &Value) -> Vec<Problem> {
    let packages = list(&metadata["packages"]);
    let names: BTreeSet<&str> = packages.iter().map(|package| text(&package["name"])).collect();
    let mut problems = Vec::new();
    for package in packages {
        let name = text(&package["name"]);
        let manifest = format!("crate {name}");
        let Some((_, may)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
            let message = format!("is unknown to tidy: say whom it may know by a line in {TABLE}");
            problems.push(Problem::in_file(&manifest, message));
            continue;
        };
        let known: BTreeSet<&str> =
            list(&package["dependencies"]).iter().map(|known| text(&known["name"])).collect();
        for target in known.intersection(&names).filter(|target| **target != name && !is_allowed(may, target))
        {
            let message = format!("may not know {target}; if the architecture changes, change {TABLE}");
            problems.push(Problem::in_file(&manifest, message));
        }
    }
    problems
}

fn is_allowed(may: &May, target: &str) -> bool {
    match may {
        May::KnowNoCrate => false,
        May::Know(targets) => target == TYPES || targets.contains(&target),
        May::KnowOnly(targets) => targets.contains(&target),
        May::KnowAll => target != CHORES,
    }
}

/// Checks the lines of `cargo tree --prefix none`, each of which begins with a crate's name.
fn check_scheduler_tree(tree: &str) -> Vec<Problem> {
    let names: BTreeSet<&str> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let strangers = names.into_iter().filter(|name| !SCHEDULER_TREE.contains(name));
    let report = |name: &str| {
        let message = match NEVER.iter().find(|(never, _)| *never == name) {
            Some((_, what)) => format!("has {name}, {what}, in its tree: the scheduler is pure"),
            None => format!(
                "has {name} in its tree: do without it, or argue for it in SCHEDULER_TREE in \
                 crates/xtask/src/tidy/arrows.rs"
            ),
        };
        Problem::in_file(&format!("crate {SCHEDULER}"), message)
    };
    strangers.map(report).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn metadata(crates: &[(&str, &[&str])]) -> Value {
        let package = |(name, known): &(&str, &[&str])| {
            let dependencies: Vec<Value> = known.iter().map(|known| json!({ "name": known })).collect();
            json!({ "name": name, "dependencies": dependencies })
        };
        json!({ "packages": crates.iter().map(package).collect::<Vec<_>>() })
    }

    fn shown(problems: &[Problem]) -> Vec<String> {
        problems.iter().map(Problem::to_string).collect()
    }

    #[test]
    fn the_drawn_arrows_pass() {
        let crates: &[(&str, &[&str])] = &[
            (TYPES, &["serde"]),
            (SCHEDULER, &[TYPES, "indexmap"]),
            ("firesteel", &[TYPES, SCHEDULER]),
            ("firesteel-cli", &[TYPES, SCHEDULER, "firesteel"]),
            (CHORES, &[TYPES, "syn"]),
        ];

        assert_eq!(check_arrows(&metadata(crates)), []);
    }

    #[test]
    fn an_arrow_that_is_not_drawn_fails() {
        let crates: &[(&str, &[&str])] = &[
            (TYPES, &[]),
            (SCHEDULER, &["firesteel-net"]),
            ("firesteel-net", &[]),
            (CHORES, &[SCHEDULER]),
            ("firesteel-cli", &[CHORES]),
            ("firesteel-examples", &[TYPES]),
        ];

        let found = shown(&check_arrows(&metadata(crates)));

        let remedy = format!("if the architecture changes, change {TABLE}");
        assert_eq!(
            found,
            [
                format!("crate firesteel-scheduler: may not know firesteel-net; {remedy}"),
                format!("crate xtask: may not know firesteel-scheduler; {remedy}"),
                format!("crate firesteel-cli: may not know xtask; {remedy}"),
                format!("crate firesteel-examples: may not know firesteel-types; {remedy}"),
            ]
        );
    }

    #[test]
    fn an_unknown_crate_fails_and_says_where_to_add_it() {
        let found = shown(&check_arrows(&metadata(&[("firesteel-utils", &[])])));

        assert_eq!(
            found,
            ["crate firesteel-utils: is unknown to tidy: say whom it may know by a line in \
              ALLOWED in crates/xtask/src/tidy/arrows.rs"]
        );
    }

    #[test]
    fn a_scheduler_of_plain_data_passes() {
        let tree = "firesteel-scheduler v0.1.0 (/a)\nserde v1.0.0\nserde_derive v1.0.0 (proc-macro)\nserde v1.0.0 (*)\n";

        assert_eq!(check_scheduler_tree(tree), []);
    }

    #[test]
    fn a_runtime_a_logger_or_a_stranger_in_the_scheduler_fails() {
        let found = shown(&check_scheduler_tree("tokio v1.0.0\nlog v0.4.0\nchrono v0.4.0\n"));

        assert_eq!(
            found,
            [
                "crate firesteel-scheduler: has chrono in its tree: do without it, or argue for it in \
                 SCHEDULER_TREE in crates/xtask/src/tidy/arrows.rs",
                "crate firesteel-scheduler: has log, a logging crate, in its tree: the scheduler is pure",
                "crate firesteel-scheduler: has tokio, an async runtime, in its tree: the scheduler is pure",
            ]
        );
    }
}
