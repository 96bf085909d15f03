//! Behaviour coverage: every entry of the catalogue has a test that claims it, or a deviation that explains it.
//!
//! The table shows every area. Only the areas in [`REQUIRED_AREAS`] must be complete; the others belong to parts
//! that are still to come.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::catalogue::{self, Entry, Id};
use super::claims;
use super::problem::Problem;
use super::source::SourceFile;

/// The areas whose entries must all be tested or explained.
pub(crate) const REQUIRED_AREAS: &[&str] = &[
    "DAG", "TSM", "TSI", "POOL", "LOC", "SPEC", "EXCL", "MOT", "BAR", "RP", "ACC", "CANC", "COMMIT", "HB",
    "BACK", "MAST", "WORK", "LIS", "RDD", "CKPT", "MEM", "BC", "SHUF", "BLK", "EXE", "RES",
];

const CATALOGUE: &str = "docs/behaviours.md";
const DEVIATIONS: &str = "docs/deviations.md";

/// What one area has and lacks.
#[derive(Debug, Default, PartialEq, Eq)]
struct Area {
    entries: usize,
    tested: usize,
    deviations: usize,
    missing: Vec<u32>,
}

/// Checks coverage over all files; gives the table for the terminal and the problems.
pub(crate) fn check(files: &[SourceFile], required: &[&str]) -> (String, Vec<Problem>) {
    let mut problems = Vec::new();
    let catalogue = document(files, CATALOGUE, &mut problems);
    let known: BTreeSet<&Id> = catalogue.iter().map(|entry| &entry.id).collect();

    let deviations = document(files, DEVIATIONS, &mut problems);
    problems.extend(unknown(DEVIATIONS, &deviations, &known));
    let deviating: BTreeSet<&Id> = deviations.iter().map(|entry| &entry.id).collect();

    let mut tested: BTreeSet<Id> = BTreeSet::new();
    for file in files.iter().filter(|file| claims::may_claim(file)) {
        let (claims, malformed) = claims::claims(file);
        problems.extend(malformed);
        problems.extend(unknown(&file.path, &claims, &known));
        tested.extend(claims.into_iter().map(|claim| claim.id));
    }

    let areas = count(&catalogue, &tested, &deviating);
    problems.extend(missing(&areas, required));
    (table(&areas, required), problems)
}

fn document(files: &[SourceFile], path: &str, problems: &mut Vec<Problem>) -> Vec<Entry> {
    let Some(file) = files.iter().find(|file| file.path == path) else {
        problems.push(Problem::in_file(path, "is missing"));
        return Vec::new();
    };
    let (entries, malformed) = catalogue::entries(file);
    problems.extend(malformed);
    entries
}

fn unknown(path: &str, entries: &[Entry], known: &BTreeSet<&Id>) -> Vec<Problem> {
    let strangers = entries.iter().filter(|entry| !known.contains(&entry.id));
    let report = |entry: &Entry| {
        Problem::at(path, entry.line, format!("names {}, which {CATALOGUE} does not have", entry.id))
    };
    strangers.map(report).collect()
}

/// Sums up each area, by name.
fn count(catalogue: &[Entry], tested: &BTreeSet<Id>, deviating: &BTreeSet<&Id>) -> BTreeMap<String, Area> {
    let mut areas: BTreeMap<String, Area> = BTreeMap::new();
    for Entry { id, .. } in catalogue {
        let area = areas.entry(id.area.clone()).or_default();
        let (is_tested, deviates) = (tested.contains(id), deviating.contains(id));
        area.entries += 1;
        area.tested += usize::from(is_tested);
        area.deviations += usize::from(deviates);
        if !is_tested && !deviates {
            area.missing.push(id.number);
        }
    }
    areas
}

fn missing(areas: &BTreeMap<String, Area>, required: &[&str]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for name in required {
        let Some(area) = areas.get(*name) else {
            let message = format!(
                "has no area {name}, which REQUIRED_AREAS in crates/xtask/src/tidy/coverage.rs names"
            );
            problems.push(Problem::in_file(CATALOGUE, message));
            continue;
        };
        if !area.missing.is_empty() {
            let (count, entries) = (area.missing.len(), ranges(&area.missing));
            let message = format!(
                "{count} of {name} have neither a test with `/// Behaviours: {name}-nnn.` nor an entry in {DEVIATIONS}: {entries}"
            );
            problems.push(Problem::in_file(CATALOGUE, message));
        }
    }
    problems
}

/// The table: required areas first, in their order, then the others.
fn table(areas: &BTreeMap<String, Area>, required: &[&str]) -> String {
    let later = areas.keys().map(String::as_str).filter(|name| !required.contains(name));
    let mut text = "area     entries  tested  deviations  missing\n".to_owned();
    let mut total = Area::default();
    for name in required.iter().copied().chain(later) {
        let Some(area) = areas.get(name) else { continue };
        let mark = if required.contains(&name) { "" } else { " (not required yet)" };
        let missing = if area.missing.is_empty() { "-".to_owned() } else { ranges(&area.missing) };
        push_row(&mut text, name, area, &format!("{missing}{mark}"));
        total.entries += area.entries;
        total.tested += area.tested;
        total.deviations += area.deviations;
        total.missing.extend(&area.missing);
    }
    push_row(&mut text, "all", &total, &total.missing.len().to_string());
    text
}

fn push_row(text: &mut String, name: &str, area: &Area, missing: &str) {
    let Area { entries, tested, deviations, .. } = area;
    writeln!(text, "{name:<8} {entries:>7}  {tested:>6}  {deviations:>10}  {missing}")
        .expect("writing to a string cannot fail");
}

/// Numbers in ascending order, neighbours joined: `001-003, 007`.
fn ranges(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|before, after| before + 1 == *after);
    let shown = runs.map(|run| match run {
        [first, .., last] => format!("{first:03}-{last:03}"),
        [only] => format!("{only:03}"),
        [] => unreachable!("chunk_by gives no empty run"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(catalogue: &str, deviations: &str, tests: &str) -> Vec<SourceFile> {
        let documents = [(CATALOGUE, catalogue), (DEVIATIONS, deviations), ("crates/a/src/lib.rs", tests)];
        documents.map(|(path, text)| SourceFile { path: path.to_owned(), text: text.to_owned() }).to_vec()
    }

    fn problems(files: &[SourceFile]) -> Vec<String> {
        check(files, &["DAG"]).1.iter().map(Problem::to_string).collect()
    }

    const TWO: &str = "- **DAG-001** One.\n- **DAG-002** Two.\n- **RDD-001** Later.\n";

    #[test]
    fn tests_and_deviations_together_cover_an_area() {
        let files = files(TWO, "- **DAG-002** Why.\n", "/// Behaviours: DAG-001.\n#[test]\nfn a() {}");

        let (table, problems) = check(&files, &["DAG"]);

        assert_eq!(problems, []);
        assert_eq!(
            table,
            "area     entries  tested  deviations  missing\n\
             DAG            2       1           1  -\n\
             RDD            1       0           0  001 (not required yet)\n\
             all            3       1           1  1\n"
        );
    }

    #[test]
    fn an_entry_with_neither_fails_in_a_required_area() {
        let found = problems(&files(TWO, "", ""));

        assert_eq!(
            found,
            [
                "docs/behaviours.md: 2 of DAG have neither a test with `/// Behaviours: DAG-nnn.` nor an entry in \
              docs/deviations.md: 001-002"
            ]
        );
    }

    #[test]
    fn unknown_ids_fail_wherever_they_stand() {
        let all = "/// Behaviours: DAG-001, DAG-002, DAG-900.\n#[test]\nfn a() {}";

        let found = problems(&files(TWO, "- **DAG-901** Why.\n", all));

        assert_eq!(
            found,
            [
                "docs/deviations.md:1: names DAG-901, which docs/behaviours.md does not have",
                "crates/a/src/lib.rs:1: names DAG-900, which docs/behaviours.md does not have",
            ]
        );
    }

    #[test]
    fn a_missing_document_or_area_fails() {
        let found = problems(&[]);

        assert_eq!(
            found,
            [
                "docs/behaviours.md: is missing",
                "docs/deviations.md: is missing",
                "docs/behaviours.md: has no area DAG, which REQUIRED_AREAS in crates/xtask/src/tidy/coverage.rs names",
            ]
        );
    }

    #[test]
    fn neighbouring_numbers_are_joined() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "001-003, 007, 009-010");
    }
}
