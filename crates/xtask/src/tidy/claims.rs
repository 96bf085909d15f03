//! Which tests claim which behaviours, by doc lines of the form `/// Behaviours: DAG-001, TSM-002.`
//!
//! The lines are read as text, because inside a `proptest!` block no parser sees functions. A line counts only
//! above a `#[test]`; anything that looks like such a line and is not one is a problem, so that no claim gets lost.

use super::catalogue::{Entry, Id};
use super::problem::Problem;
use super::source::SourceFile;

/// How far below the doc line the test attribute may stand.
const REACH_LINES: usize = 6;

/// Attributes that make a function a test.
const TEST_ATTRIBUTES: &[&str] = &["#[test]", "#[tokio::test]", "#[tokio::test("];

/// Whether claims are looked for in this file.
pub(crate) fn may_claim(file: &SourceFile) -> bool {
    let mut folders = file.path.split('/');
    let place = (folders.next(), folders.next(), folders.next());
    file.is_rust() && matches!(place, (Some("tests"), ..) | (Some("crates"), Some(_), Some("src" | "tests")))
}

/// Reads the claims of a file; reports lines that are malformed or stand above no test.
pub(crate) fn claims(file: &SourceFile) -> (Vec<Entry>, Vec<Problem>) {
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let mut claims = Vec::new();
    let mut problems = Vec::new();
    for (index, text) in lines.iter().enumerate() {
        let Some(list) = claim_text(text) else { continue };
        let line = index + 1;
        let mut report = |message: &str| problems.push(Problem::at(&file.path, line, message));
        let Some(ids) = parse_list(list) else {
            report(
                "cannot be read: write `/// Behaviours: DAG-001, TSM-002.` on one line, with the full stop",
            );
            continue;
        };
        match test_below(&lines[index + 1..]) {
            Below::Test => claims.extend(ids.into_iter().map(|id| Entry { id, line })),
            Below::IgnoredTest => report("claims behaviours for an ignored test, which proves nothing"),
            Below::Nothing => report("claims behaviours but stands above no `#[test]`"),
        }
    }
    (claims, problems)
}

/// What follows the word, when a line is a comment that begins like a claim.
fn claim_text(line: &str) -> Option<&str> {
    let comment = line.strip_prefix("//")?;
    let words = comment.trim_start_matches(['/', '!']).trim_start();
    let after = words.strip_prefix("Behaviours").or_else(|| words.strip_prefix("Behaviour"))?;
    // Prose that begins with the word is not a claim; a claim in another form is one that would get lost.
    after.starts_with(':').then_some(line)
}

fn parse_list(line: &str) -> Option<Vec<Id>> {
    let list = line.strip_prefix("/// Behaviours: ")?.strip_suffix('.')?;
    list.split(", ").map(Id::parse).collect()
}

enum Below {
    Test,
    IgnoredTest,
    Nothing,
}

/// Looks for the test attribute between the doc line and the function it belongs to.
fn test_below(lines: &[&str]) -> Below {
    let ends = |line: &str| line.is_empty() || !line.starts_with("//") && format!(" {line}").contains(" fn ");
    let end = lines.iter().position(|line| ends(line)).unwrap_or(lines.len());
    let attributes = &lines[..end];
    let is_test = attributes
        .iter()
        .take(REACH_LINES)
        .any(|line| TEST_ATTRIBUTES.iter().any(|attribute| line.starts_with(attribute)));
    match is_test {
        true if attributes.iter().any(|line| line.starts_with("#[ignore")) => Below::IgnoredTest,
        true => Below::Test,
        false => Below::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let (claims, problems) = claims(&file("a.rs", text));
        let ids = claims.iter().map(|claim| claim.id.to_string()).collect();
        (ids, problems.iter().map(Problem::to_string).collect())
    }

    #[test]
    fn a_doc_line_above_a_test_claims_its_behaviours() {
        let (ids, problems) = read(
            "mod tests {\n    /// The set closes.\n    /// Behaviours: DAG-001, TSM-002.\n    #[test]\n    fn a() {}\n\
             \n/// Behaviours: LOC-003.\n#[tokio::test]\nasync fn b() {}\n}",
        );

        assert_eq!(ids, ["DAG-001", "TSM-002", "LOC-003"]);
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn a_test_inside_a_proptest_block_claims_too() {
        let (ids, problems) = read(
            "proptest! {\n    /// Behaviours: POOL-004.\n    /// More.\n    #[test]\n    fn a(x in 0..9) {}\n}",
        );

        assert_eq!(ids, ["POOL-004"]);
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn a_claim_above_something_else_fails() {
        let (ids, problems) = read(
            "/// Behaviours: DAG-001.\nstruct A;\n\n#[test]\n/// Behaviours: DAG-002.\nfn late() {}\
             \n/// Behaviours: DAG-003.\n#[test]\n#[ignore = \"slow\"]\nfn ignored() {}",
        );

        assert_eq!(ids, Vec::<String>::new());
        assert_eq!(
            problems,
            [
                "a.rs:1: claims behaviours but stands above no `#[test]`",
                "a.rs:5: claims behaviours but stands above no `#[test]`",
                "a.rs:7: claims behaviours for an ignored test, which proves nothing",
            ]
        );
    }

    #[test]
    fn a_malformed_claim_fails() {
        let forms = [
            "/// Behaviours: DAG-001",
            "// Behaviours: DAG-001.",
            "/// Behaviour: DAG-001.",
            "/// Behaviours: D1.",
        ];

        for form in forms {
            let (ids, problems) = read(&format!("{form}\n#[test]\nfn a() {{}}"));

            assert_eq!(ids, Vec::<String>::new());
            assert_eq!(problems.len(), 1, "{form}");
        }
        assert_eq!(read("/// Behaviours are facts.\nfn a() {}"), (vec![], vec![]));
    }

    #[test]
    fn claims_are_looked_for_where_tests_live() {
        let paths = [
            "crates/a/src/b.rs",
            "crates/a/tests/b.rs",
            "tests/e2e/a.rs",
            "crates/a/benches/b.rs",
            "docs/a.md",
        ];

        assert_eq!(paths.map(|path| may_claim(&file(path, ""))), [true, true, true, false, false]);
    }
}
