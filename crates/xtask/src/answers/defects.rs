//! Known defects, put back one at a time: the comparison has to find each.
//!
//! A defect is a patch in `crates/answers/defects` whose first lines, before the first `diff`, say what it is; a line
//! `cases: N` says within how many cases it has to be found, `backend: NAME` where they run. Patches are applied to a
//! copy of the committed tree below the target directory, which has a target directory of its own: cargo takes the same
//! crate of two trees for one, and would mix them. `docs/reliability.md` has a line for each.

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
const FIRST_SEED: u64 = 1;

/// The head of the table.
const HEAD: &str =
    "| defect | what it did | found at case | limit | how it showed itself |\n|---|---|---:|---:|---|";

/// What the comparison found.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// Which case it was, counted from one.
    case: u64,
    how: String,
}

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
    let mut table = vec![HEAD.to_owned()];
    let mut missed = Vec::new();
    for defect in defects.iter().filter(wanted) {
        let found = look_for(defect)?;
        let (case, how) = match &found {
            Some(Finding { case, how }) => (case.to_string(), how.as_str()),
            None => ("not found".to_owned(), ""),
        };
        table.push(format!("| {} | {} | {case} | {} | {how} |", defect.name, defect.what, defect.cases));
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

/// What the comparison finds with a defect put back.
fn look_for(defect: &Defect) -> Result<Option<Finding>> {
    let tree = target()?.join("defects");
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
    let program = build(&tree, &tree.join("target"))?;
    let mut run = Command::new(program);
    run.args(["run", "--failures", "1", "--as-drawn"]).args([
        "--seed",
        &FIRST_SEED.to_string(),
        "--cases",
        &defect.cases.to_string(),
    ]);
    if let Some(backend) = &defect.backend {
        run.args(["--backend", backend]);
    }
    // It fails when it finds something.
    let output = run.output().with_context(|| format!("cannot run the comparison with {}", defect.name))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{text}");
    match (output.status.success(), first_finding(&text)) {
        (true, _) => Ok(None),
        (false, Some(finding)) => Ok(Some(finding)),
        (false, None) => bail!("the comparison with {} failed and found nothing", defect.name),
    }
}

/// The failing case of the least seed in what the comparison printed.
fn first_finding(text: &str) -> Option<Finding> {
    let finding = |line: &str| {
        let (seed, how) = line.strip_prefix("seed ")?.split_once(": ")?;
        let case = seed.parse::<u64>().ok()? + 1 - FIRST_SEED;
        Some(Finding { case, how: how.to_owned() })
    };
    text.lines().filter_map(finding).min_by_key(|finding| finding.case)
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

    /// Where it is said when each was found.
    const DOCUMENT: &str = "docs/reliability.md";

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

    #[test]
    fn the_first_finding_is_the_one_of_the_least_seed() {
        let text = "90 cases in 3 s: 88 right; refused: none; failed: 2\n\nseed 81: rows: 3\nrepeat it\nseed 80: a: b\n";

        assert_eq!(first_finding(text), Some(Finding { case: 80, how: "a: b".to_owned() }));
        assert_eq!(first_finding("1 cases in 0 s: 1 right; refused: none; failed: 0\n"), None);
    }

    #[test]
    fn the_document_has_a_line_for_every_defect_within_its_limit() {
        let document = fs::read_to_string(process::root().join(DOCUMENT)).unwrap();
        let (_, table) = document.split_once(HEAD).expect("the document has the table");
        let lines: Vec<Vec<&str>> = table
            .lines()
            .skip(1)
            .take_while(|line| line.starts_with('|'))
            .map(|line| line.split('|').map(str::trim).collect())
            .collect();
        let defects = all(&process::root().join(FOLDER)).unwrap();

        assert_eq!(lines.len(), defects.len(), "a line for each patch");
        for (line, defect) in lines.iter().zip(&defects) {
            let limit = defect.cases.to_string();
            assert_eq!([line[1], line[2], line[4]], [&defect.name, &defect.what, limit.as_str()]);
            assert!(line[3].parse::<u64>().unwrap() <= defect.cases, "{} was found too late", defect.name);
            assert!(!line[5].is_empty(), "how did {} show itself?", defect.name);
        }
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
