//! Known defects, put back one at a time: the comparison has to find each.
//!
//! A defect is a patch in `crates/answers/defects` whose first lines, before the first `diff`, say what it is; a line
//! `cases: N` says within how many cases it has to be found, `backend: NAME` where they run. Patches are applied to a
//! copy of the committed tree below the target directory.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use super::{build, target};
use crate::process;

/// Where the patches are.
const FOLDER: &str = "crates/answers/defects";

/// The seed of the first case.
const FIRST_SEED: &str = "1";

/// A defect that was mended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Defect {
    name: String,
    patch: PathBuf,
    what: String,
    /// Within how many cases it has to be found.
    cases: u64,
    backend: Option<String>,
}

/// Puts the named defects back, or all.
pub(super) fn run(names: &[String]) -> Result<()> {
    let defects = all(&process::root().join(FOLDER))?;
    if let Some(unknown) = names.iter().find(|name| !defects.iter().any(|defect| defect.name == **name)) {
        bail!("there is no defect `{unknown}` in {FOLDER}");
    }
    let wanted = |defect: &&Defect| names.is_empty() || names.contains(&defect.name);
    let mut table = vec!["| defect | what | found after | of at most |\n|---|---|---:|---:|".to_owned()];
    let mut missed = Vec::new();
    for defect in defects.iter().filter(wanted) {
        let found = look_for(defect)?;
        let after = found.map_or_else(|| "not found".to_owned(), |cases| cases.to_string());
        table.push(format!("| {} | {} | {after} | {} |", defect.name, defect.what, defect.cases));
        if found.is_none() {
            missed.push(defect.name.as_str());
        }
    }
    println!("\n{}\n", table.join("\n"));
    if !missed.is_empty() {
        bail!("not found: {}", missed.join(", "));
    }
    Ok(())
}

/// After how many cases the comparison finds a defect, if it does.
fn look_for(defect: &Defect) -> Result<Option<u64>> {
    let target = target()?;
    let tree = target.join("defects");
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(args);
        git
    };
    if !tree.join(".git").exists() {
        let tree = tree.to_string_lossy();
        process::run(
            git(&["worktree", "add", "--force", "--detach", &tree, "HEAD"]).current_dir(process::root()),
        )?;
    }
    let head = process::output(git(&["rev-parse", "HEAD"]).current_dir(process::root()))?;
    process::run(git(&["checkout", "--quiet", "--force", head.trim()]).current_dir(&tree))?;
    process::run(git(&["apply"]).arg(&defect.patch).current_dir(&tree))?;
    let program = build(&tree, &target, "")?;
    let mut run = Command::new(program);
    run.args(["run", "--seed", FIRST_SEED, "--failures", "1", "--as-drawn", "--cases"])
        .arg(defect.cases.to_string());
    if let Some(backend) = &defect.backend {
        run.args(["--backend", backend]);
    }
    // It fails when it finds something.
    let output = run.output().with_context(|| format!("cannot run the comparison with {}", defect.name))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{text}");
    let cases = text.split_whitespace().next().and_then(|cases| cases.parse().ok());
    let cases = cases.with_context(|| format!("the comparison with {} said nothing", defect.name))?;
    Ok((!output.status.success()).then_some(cases))
}

/// The defects in a folder, by name.
fn all(folder: &Path) -> Result<Vec<Defect>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut defects = Vec::new();
    for entry in entries {
        let patch = entry?.path();
        if patch.extension().is_some_and(|extension| extension == "patch") {
            let text = fs::read_to_string(&patch)?;
            defects.push(read(&patch, &text).with_context(|| format!("in {}", patch.display()))?);
        }
    }
    defects.sort_by(|one, two| one.name.cmp(&two.name));
    Ok(defects)
}

fn read(patch: &Path, text: &str) -> Result<Defect> {
    let head: Vec<&str> = text.lines().take_while(|line| !line.starts_with("diff ")).collect();
    let value = |name: &str| head.iter().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let name = patch.file_stem().context("a patch has a name")?.to_string_lossy().into_owned();
    let cases = value("cases:").context("no line `cases: N`")?.parse().context("`cases:` is no number")?;
    let what = value("what:").context("no line `what: …`")?.to_owned();
    Ok(Defect { name, patch: patch.to_owned(), what, cases, backend: value("backend:").map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_patch_says_what_it_is() {
        let text = "what: a key comes twice\ncases: 300\n\ndiff --git a/x b/x\nwhat: no\n";

        let defect = read(Path::new("/d/twice.patch"), text).unwrap();

        assert_eq!(
            (defect.name.as_str(), defect.what.as_str(), defect.cases),
            ("twice", "a key comes twice", 300)
        );
        assert_eq!(defect.backend, None);
    }

    /// Code moves on, and a patch that no longer applies proves nothing.
    #[test]
    fn every_patch_applies_to_this_tree() {
        for defect in all(&process::root().join(FOLDER)).unwrap() {
            let checked = Command::new("git")
                .args(["apply", "--check"])
                .arg(&defect.patch)
                .current_dir(process::root())
                .status();

            assert!(checked.unwrap().success(), "{} does not apply: make it again", defect.name);
        }
    }
}
