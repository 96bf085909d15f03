//! Gathers the input, applies every rule, prints what was found and closes with one line.

use anyhow::{Result, bail};

use super::problem::Problem;
use super::source::{self, SourceFile};
use super::{arrows, coverage, first_build, layers, modules, purity, reference, sizes, words};
use crate::process;

/// The text files of the project.
pub(crate) fn files() -> Result<Vec<SourceFile>> {
    source::collect(&process::root())
}

/// Checks all house rules; an error when any is broken.
pub(crate) fn run() -> Result<()> {
    let files = files()?;
    let mut problems = arrows::check()?;
    problems.extend(first_build::check()?);
    problems.extend(layers::check(&files));
    problems.extend(files.iter().flat_map(check_file));
    let (table, uncovered) = coverage::check(&files, coverage::REQUIRED_AREAS);
    problems.extend(uncovered);
    problems.extend(reference::check(&files));

    println!("{table}");
    for warning in files.iter().filter_map(sizes::warn_file) {
        println!("warning: {warning}");
    }
    for problem in &problems {
        println!("problem: {problem}");
    }
    if problems.is_empty() {
        println!("tidy: {} files, no problems", files.len());
        return Ok(());
    }
    let count = problems.len();
    bail!("tidy: {} files, {count} {}", files.len(), if count == 1 { "problem" } else { "problems" })
}

/// The rules that look at one file by itself.
fn check_file(file: &SourceFile) -> Vec<Problem> {
    let mut problems = words::check(file);
    problems.extend(sizes::check_file(file));
    if file.is_rust() {
        problems.extend(check_rust(file));
    }
    problems
}

fn check_rust(file: &SourceFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    problems.extend(modules::check_opening(file));
    problems.extend(purity::check(file));
    problems.extend(words::check_debug_prints(file));
    match syn::parse_file(&file.text) {
        Ok(syntax) => {
            problems.extend(sizes::check_functions(file, &syntax));
            problems.extend(modules::check_contents(file, &syntax));
        }
        Err(error) => {
            let line = error.span().start().line;
            problems.push(Problem::at(&file.path, line, format!("cannot be read as Rust: {error}")));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str, text: &str) -> Vec<String> {
        let file = SourceFile { path: path.to_owned(), text: text.to_owned() };
        check_file(&file).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn a_clean_file_passes_every_rule() {
        assert_eq!(shown("crates/scheduler/src/a.rs", "//! A.\n\nfn a() {}\n"), Vec::<String>::new());
    }

    #[test]
    fn every_rule_is_asked_about_a_file() {
        let long = "fn long() {\n".to_owned() + &"    step();\n".repeat(700) + "}\n";
        let text = format!("// {}\nuse HashMap;\nfn b() {{ dbg!(1) }}\n{long}", concat!("TO", "DO"));

        let found = shown("crates/scheduler/src/pool/mod.rs", &text);

        let words =
            ["stands in the text", "at most 700", "open with", "HashMap", "dbg", "at most 70:", "logic"];
        assert_eq!(found.len(), words.len(), "{found:#?}");
        for (problem, word) in found.iter().zip(words) {
            assert!(problem.contains(word), "{problem} should speak of {word}");
        }
    }

    #[test]
    fn text_that_is_not_rust_is_reported_once() {
        let found = shown("crates/a/src/a.rs", "//! A.\nfn {");

        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found[0].contains("cannot be read as Rust"), "{found:#?}");
    }
}
