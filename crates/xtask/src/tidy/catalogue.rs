//! The catalogue of behaviours and the list of deviations: documents whose entries begin with an ID.
//!
//! An entry is a line `- **AREA-nnn** …`. Everything else in the documents is prose and is not read.

use std::fmt;

use super::problem::Problem;
use super::source::SourceFile;

/// The name of one behaviour, such as `DAG-006`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    pub(crate) area: String,
    pub(crate) number: u32,
}

impl Id {
    /// Reads capitals, a hyphen and three digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (area, digits) = text.split_once('-')?;
        let is_area = !area.is_empty() && area.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_number = digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.parse().ok()?;
        (is_area && is_number).then(|| Self { area: area.to_owned(), number })
    }
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{:03}", self.area, self.number)
    }
}

/// An ID and the line it stands on, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) id: Id,
    pub(crate) line: usize,
}

/// Reads the entries of a document, in their order; reports entries that are malformed, empty or repeated.
pub(crate) fn entries(file: &SourceFile) -> (Vec<Entry>, Vec<Problem>) {
    let mut entries: Vec<Entry> = Vec::new();
    let mut problems = Vec::new();
    for (index, text) in file.text.lines().enumerate() {
        let Some((name, rest)) = text.strip_prefix("- **").and_then(|text| text.split_once("**")) else {
            continue;
        };
        let line = index + 1;
        let mut report = |message: String| problems.push(Problem::at(&file.path, line, message));
        let Some(id) = Id::parse(name) else {
            report(format!("`{name}` is not the ID of a behaviour; an entry begins like `- **DAG-006** `"));
            continue;
        };
        if rest.trim().is_empty() {
            report(format!("{id} has no text"));
        }
        if entries.iter().any(|entry| entry.id == id) {
            report(format!("{id} stands here a second time"));
        } else {
            entries.push(Entry { id, line });
        }
    }
    (entries, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let (entries, problems) =
            entries(&SourceFile { path: "docs/a.md".to_owned(), text: text.to_owned() });
        let ids = entries.iter().map(|entry| format!("{} at {}", entry.id, entry.line)).collect();
        (ids, problems.iter().map(Problem::to_string).collect())
    }

    #[test]
    fn entries_are_read_and_prose_is_not() {
        let (ids, problems) =
            read("# A\n\nSee **DAG-009**.\n- **DAG-001** One.\n- a point\n- **TSM-010** Two.\n");

        assert_eq!(ids, ["DAG-001 at 4", "TSM-010 at 6"]);
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn malformed_empty_and_repeated_entries_fail() {
        let (ids, problems) = read("- **DAG-1** One.\n- **DAG-002**\n- **DAG-002** Two.\n");

        assert_eq!(ids, ["DAG-002 at 2"]);
        assert_eq!(
            problems,
            [
                "docs/a.md:1: `DAG-1` is not the ID of a behaviour; an entry begins like `- **DAG-006** `",
                "docs/a.md:2: DAG-002 has no text",
                "docs/a.md:3: DAG-002 stands here a second time",
            ]
        );
    }

    #[test]
    fn an_id_is_capitals_and_three_digits() {
        let verdicts = ["DAG-006", "dag-006", "DAG-06", "DAG006", "-006", "DAG-0006"]
            .map(|text| Id::parse(text).is_some());

        assert_eq!(verdicts, [true, false, false, false, false, false]);
    }
}
