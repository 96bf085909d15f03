//! Holds calls of cargo against the packages and targets of the workspace.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

/// A package of the workspace.
#[derive(Debug)]
pub(crate) struct Package {
    name: String,
    /// Kind and name, such as `("test", "keyed")`.
    targets: BTreeSet<(String, String)>,
}

/// Asks cargo for the packages.
pub(crate) fn packages() -> Result<Vec<Package>> {
    let text = process::output(&mut process::cargo(&["metadata", "--no-deps", "--format-version=1"]))?;
    let metadata: Value = serde_json::from_str(&text).context("cannot read what cargo metadata printed")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let targets = |package: &Value| {
        let targets = package["targets"].as_array().into_iter().flatten();
        targets.map(|target| (text(&target["kind"][0]), text(&target["name"]))).collect()
    };
    let package = |package: &Value| Package { name: text(&package["name"]), targets: targets(package) };
    Ok(packages.iter().map(package).collect())
}

/// What is wrong with the words behind `cargo`; only what the project documents is known.
pub(crate) fn check(words: &[String], packages: &[Package]) -> Vec<String> {
    let Some((subcommand, rest)) = words.split_first() else { return vec!["says nothing".to_owned()] };
    if !["build", "run", "test", "bench"].contains(&subcommand.as_str()) {
        return vec![format!("`cargo {subcommand}` is not known here")];
    }
    let (mut problems, mut selected, mut targets) = (Vec::new(), Vec::new(), Vec::new());
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().map(String::as_str).unwrap_or_default();
        match word.as_str() {
            "-p" | "--package" => {
                let name = value();
                match packages.iter().find(|package| package.name == name) {
                    Some(package) => selected.push(package),
                    None => problems.push(format!("there is no package `{name}`")),
                }
            }
            "--test" | "--bench" | "--example" | "--bin" => targets.push((&word[2..], value())),
            "--lib" | "--doc" | "--workspace" | "--release" => (),
            flag if flag.starts_with('-') => problems.push(format!("the option `{flag}` is not known here")),
            _ if subcommand == "test" => (),
            word => problems.push(format!("`{word}` is no option")),
        }
    }
    if selected.is_empty() {
        selected.extend(packages);
    }
    for (kind, name) in targets {
        let wanted = (kind.to_owned(), name.to_owned());
        if !selected.iter().any(|package| package.targets.contains(&wanted)) {
            problems.push(format!("there is no {kind} `{name}`"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(line: &str) -> Vec<String> {
        let package = |name: &str, kind: &str, target: &str| Package {
            name: name.to_owned(),
            targets: [(kind.to_owned(), target.to_owned())].into(),
        };
        let packages = [package("firesteel", "test", "keyed"), package("examples", "example", "pi")];
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        check(&words, &packages)
    }

    #[test]
    fn what_exists_has_no_problems() {
        for line in
            ["test -p firesteel --test keyed group", "run --release --example pi", "build --workspace"]
        {
            assert_eq!(problems(line), Vec::<String>::new());
        }
    }

    #[test]
    fn what_was_renamed_is_found() {
        assert_eq!(problems("test -p spark"), ["there is no package `spark`"]);
        assert_eq!(problems("test -p examples --test keyed"), ["there is no test `keyed`"]);
        assert_eq!(problems("run --example e"), ["there is no example `e`"]);
        assert_eq!(
            problems("bench --profile x"),
            ["the option `--profile` is not known here", "`x` is no option"]
        );
        assert_eq!(problems("clean"), ["`cargo clean` is not known here"]);
    }
}
