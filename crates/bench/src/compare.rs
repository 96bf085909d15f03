//! Systems side by side on the same workloads.

use std::{io::Write, path::Path, time::Duration};

use anyhow::Result;

use crate::{
    interrupt,
    machine::Machine,
    report::{Record, Report},
    results::Results,
    system::{self, Plan, System},
    workload::Workload,
};

/// How a comparison is done.
#[derive(Clone, Debug)]
pub struct Options {
    /// The factor of all sizes.
    pub scale: f64,
    /// How often each process times its workload; as often as usual when unset.
    pub runs: Option<usize>,
    /// How many processes each system gets for a workload, in turn with the others.
    pub rounds: usize,
    /// How long a process may take.
    pub timeout: Duration,
}

/// What came out.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Where it was done.
    pub machine: Machine,
    /// Every figure, in the order of the workloads and then of the systems.
    pub records: Vec<Record>,
    /// What did not work, and answers that differ.
    pub failures: Vec<String>,
}

impl Comparison {
    /// Adds a record, in the place of an earlier one of the same workload and system.
    pub fn keep(&mut self, record: Record) {
        let place = (&record.workload, &record.system, &record.master);
        let mut records = self.records.iter_mut();
        match records.find(|found| (&found.workload, &found.system, &found.master) == place) {
            Some(found) => *found = record,
            None => self.records.push(record),
        }
    }

    /// The versions of the peers.
    pub fn versions(&self) -> Vec<String> {
        let mut versions: Vec<String> = Vec::new();
        for record in &self.records {
            let version = record.version.as_ref().map(|version| format!("{} {version}", record.system));
            versions.extend(version.filter(|version| !versions.contains(version)));
        }
        versions
    }

    /// What a system gave for a workload.
    pub fn record(&self, workload: &str, system: &str, master: &str) -> Option<&Record> {
        let mut records = self.records.iter();
        records.find(|found| found.workload == workload && found.system == system && found.master == master)
    }
}

/// Runs every workload on every system, one process after the other, so that all of them meet the same machine.
///
/// A line is written to `progress` for each record, and the files of `results` after each workload. Failures are
/// collected: one system that fails does not keep the others from being measured.
pub fn compare(
    systems: &[Box<dyn System>],
    workloads: &[&'static Workload],
    options: &Options,
    data: &Path,
    results: &Path,
    progress: &mut dyn Write,
) -> Result<Comparison> {
    let machine = Machine::here();
    let results = Results::new(results, &machine, options.scale);
    let mut found = Comparison { machine, records: results.read()?, ..Comparison::default() };
    let mut files = Vec::new();
    for workload in workloads {
        let able: Vec<&dyn System> =
            systems.iter().map(|system| &**system).filter(|system| system.can_run(workload)).collect();
        let plan =
            Plan { workload, scale: options.scale, runs: options.runs, data, timeout: options.timeout };
        let mut records = Vec::new();
        for (system, outcome) in able.iter().zip(in_turn(&able, &plan, options.rounds)) {
            match outcome.and_then(|report| system::record_of(*system, &plan, report)) {
                Ok(record) => {
                    writeln!(progress, "{}", serde_json::to_string(&record)?)?;
                    records.push(record);
                }
                Err(error) => {
                    writeln!(progress, "failed: {error:#}")?;
                    found.failures.push(format!("{error:#}"));
                }
            }
        }
        interrupt::check()?;
        found.failures.extend(differences(&records));
        for record in records {
            found.keep(record);
        }
        files = results.write(&found)?;
        progress.flush()?;
    }
    writeln!(progress, "\nwritten: {}", files.join(", "))?;
    Ok(found)
}

/// What each system reports, all rounds together.
fn in_turn(systems: &[&dyn System], plan: &Plan<'_>, rounds: usize) -> Vec<Result<Report>> {
    let mut reports: Vec<Option<Result<Report>>> = systems.iter().map(|_| None).collect();
    for _ in 0..rounds.max(1) {
        for (system, report) in systems.iter().zip(&mut reports) {
            if interrupt::check().is_err() {
                break;
            }
            *report = Some(match report.take() {
                None => system::run(*system, plan),
                Some(Ok(before)) => system::run(*system, plan).and_then(|now| before.join(now)),
                Some(failed) => failed,
            });
        }
    }
    reports.into_iter().flatten().collect()
}

/// The records of one workload whose answer is not that of the first.
fn differences(records: &[Record]) -> Vec<String> {
    let Some((first, others)) = records.split_first() else { return Vec::new() };
    let differs = |other: &&Record| !other.checksum.agrees_with(&first.checksum);
    let tell = |other: &Record| {
        format!(
            "{}: {} {} gave {}, but {} {} gave {}",
            first.workload,
            other.system,
            other.master,
            other.checksum,
            first.system,
            first.master,
            first.checksum
        )
    };
    others.iter().filter(differs).map(tell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{checksum::Checksum, report::Metrics, workload};

    fn record(system: &str, rows: u64) -> Record {
        let report = Report {
            seconds: vec![1.0],
            checksum: Checksum::rows(rows),
            peak_resident_bytes: 1,
            metrics: Metrics::new(),
        };
        Record::new(workload::find("join").unwrap(), 1.0, system, "there", report).unwrap()
    }

    #[test]
    fn an_answer_of_its_own_is_told() {
        let records = [record("firesteel", 3), record("limit", 3), record("spark", 4)];

        assert_eq!(differences(&records), ["join: spark there gave 4, but firesteel there gave 3"]);
        assert_eq!(differences(&[]), Vec::<String>::new());
    }
}
