//! The text files of the project, as git sees them.
//!
//! Files that are not text are left out. Where there is no git (an unpacked archive), the tree is walked instead.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;

/// One text file and where it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceFile {
    /// From the root of the repository, with `/` between names.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl SourceFile {
    pub(crate) fn is_rust(&self) -> bool {
        self.extension() == Some("rs")
    }

    pub(crate) fn extension(&self) -> Option<&str> {
        Path::new(&self.path).extension()?.to_str()
    }

    /// The last name of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether the whole file is test code: a `tests.rs`, or anything below a folder `tests`.
    pub(crate) fn is_test(&self) -> bool {
        self.name() == "tests.rs" || self.path.split('/').rev().skip(1).any(|folder| folder == "tests")
    }
}

/// Reads every text file below `root`, in the order of the paths.
pub(crate) fn collect(root: &Path) -> Result<Vec<SourceFile>> {
    let mut paths = listed_by_git(root).or_else(|_| walk(root))?;
    paths.sort_unstable();
    let mut files = Vec::new();
    for path in paths {
        // A path can be gone, when it was deleted and not yet committed, or be a link to a folder.
        let Ok(bytes) = fs::read(root.join(&path)) else { continue };
        if let Ok(text) = String::from_utf8(bytes)
            && !text.contains('\0')
        {
            files.push(SourceFile { path, text });
        }
    }
    Ok(files)
}

/// Tracked files, and new ones that are not ignored: a rule must hold before `git add` too.
fn listed_by_git(root: &Path) -> Result<Vec<String>> {
    let mut git = Command::new("git");
    // A checkout often belongs to another user than the one who runs CI; listing names is harmless.
    git.args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let names = process::output(git.current_dir(root))?;
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}

fn walk(root: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root.join(&folder)).with_context(|| format!("cannot list `{folder}`"))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_file() {
                paths.push(path);
            } else if kind.is_dir() && name != "target" && name != ".git" {
                folders.push(path);
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: String::new() }
    }

    #[test]
    fn files_of_tests_are_known_by_their_place() {
        let verdicts =
            ["crates/a/src/b/tests.rs", "crates/a/tests/b.rs", "crates/tests.txt", "crates/a/src/b.rs"]
                .map(|path| file(path).is_test());

        assert_eq!(verdicts, [true, true, false, false]);
    }

    #[test]
    fn walking_finds_this_very_file() {
        let paths = walk(&process::root().join("crates/xtask")).expect("the crate can be read");

        assert!(paths.contains(&"src/tidy/source.rs".to_owned()));
    }
}
