//! The files that a comparison leaves: raw figures, and the tables that are made of them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{compare::Comparison, machine::Machine, report::Record, table};

/// Files of one day, one commit and one size, in one folder.
///
/// They are written anew after every workload, so that a comparison that is stopped has lost nothing, and a later one of the
/// same commit adds to them: what takes hours can be measured in pieces.
#[derive(Clone, Debug)]
pub struct Results {
    folder: PathBuf,
    name: String,
}

impl Results {
    /// The files for what is measured here and now with sizes times `scale`.
    pub fn new(folder: &Path, machine: &Machine, scale: f64) -> Self {
        let commit = machine.commit.split_whitespace().nth(2).unwrap_or("unknown");
        #[expect(clippy::float_cmp, reason = "the scale is the one that was written down")]
        let size = if scale == 1.0 { String::new() } else { format!("-x{scale}") };
        Self { folder: folder.to_owned(), name: format!("{}-{commit}{size}", machine.day) }
    }

    /// What was measured before.
    pub fn read(&self) -> Result<Vec<Record>> {
        let path = self.path("jsonl");
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            text => text.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let record = |line| {
            serde_json::from_str(line).with_context(|| {
                format!(
                    "{} has a line that is no record; remove the file to begin anew: {line}",
                    path.display()
                )
            })
        };
        text.lines().map(record).collect()
    }

    /// Writes raw figures and tables; gives the names of the files.
    pub fn write(&self, found: &Comparison) -> Result<Vec<String>> {
        let folder = &self.folder;
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let raw: Vec<String> = found.records.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        let raw = raw.iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
        let files = [("jsonl", raw), ("md", table::markdown(found)), ("svg", table::svg(found))];
        let write = |(extension, text): (&str, String)| {
            let path = self.path(extension);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            Ok(path.display().to_string())
        };
        files.into_iter().map(write).collect()
    }

    fn path(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checksum::Checksum,
        report::{Metrics, Report},
        workload::find,
    };

    fn machine() -> Machine {
        Machine {
            day: "2026-01-02".to_owned(),
            commit: "0.1.0, commit abc123".to_owned(),
            ..Machine::default()
        }
    }

    fn record(workload: &str, time: f64) -> Record {
        let report = Report {
            seconds: vec![time],
            checksum: Checksum::rows(1),
            peak_resident_bytes: 1,
            metrics: Metrics::new(),
        };
        Record::new(find(workload).unwrap(), 1.0, "firesteel", "local[2]", report).unwrap()
    }

    #[test]
    fn files_are_named_by_day_commit_and_size() {
        let folder = tempfile::tempdir().unwrap();

        Results::new(folder.path(), &machine(), 1.0).write(&Comparison::default()).unwrap();
        Results::new(folder.path(), &machine(), 0.5).write(&Comparison::default()).unwrap();

        let entries = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        let names: Vec<&str> =
            names.iter().map(|name| name.trim_start_matches("2026-01-02-abc123")).collect();
        assert_eq!(names, ["-x0.5.jsonl", "-x0.5.md", "-x0.5.svg", ".jsonl", ".md", ".svg"]);
    }

    #[test]
    fn a_later_comparison_adds_to_an_earlier_one_and_replaces_what_it_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let results = Results::new(folder.path(), &machine(), 1.0);
        let mut first = Comparison::default();
        first.keep(record("join", 1.0));
        first.keep(record("pagerank", 2.0));
        results.write(&first).unwrap();

        let mut second = Comparison { records: results.read().unwrap(), ..Comparison::default() };
        second.keep(record("join", 3.0));

        assert_eq!(second.records, [record("join", 3.0), record("pagerank", 2.0)]);
    }

    #[test]
    fn a_file_that_is_none_of_ours_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let results = Results::new(folder.path(), &machine(), 1.0);
        fs::write(folder.path().join("2026-01-02-abc123.jsonl"), "something else\n").unwrap();

        let error = results.read().unwrap_err().to_string();

        assert!(error.contains("abc123.jsonl") && error.contains("begin anew"), "{error}");
    }
}
