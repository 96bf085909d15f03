//! The report of a process that ran a workload, and the line that is kept of it.
//!
//! A [`Report`] is what a child process prints behind [`MARK`], whichever system it is of. A [`Record`] is the JSON object
//! of the results: the report with its workload and system, and the figures that follow from it.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::{checksum::Checksum, workload::Workload};

/// What a report begins with in the output of a process.
pub const MARK: &str = "RESULT ";

/// Figures by name, beside the time.
pub type Metrics = BTreeMap<String, f64>;

/// What one process measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The times of the runs.
    pub seconds: Vec<f64>,
    /// The whole answer.
    pub checksum: Checksum,
    /// The most memory that the process, and those that worked for it, had at once.
    pub peak_resident_bytes: u64,
    /// The median of each other figure.
    #[serde(default)]
    pub metrics: Metrics,
}

impl Report {
    /// The line that a child prints.
    pub fn line(&self) -> Result<String> {
        Ok(format!("{MARK}{}", serde_json::to_string(self)?))
    }

    /// Reads such a line; nothing if it is another one.
    pub fn read(line: &str) -> Option<Result<Self>> {
        let json = line.strip_prefix(MARK)?;
        Some(serde_json::from_str(json).with_context(|| format!("cannot read the report `{json}`")))
    }

    /// Both reports as one: of processes that ran the same workload on the same system.
    pub fn join(mut self, other: Self) -> Result<Self> {
        if !self.checksum.agrees_with(&other.checksum) {
            bail!("two runs gave two answers: {} and {}", self.checksum, other.checksum);
        }
        self.seconds.extend(other.seconds);
        self.peak_resident_bytes = self.peak_resident_bytes.max(other.peak_resident_bytes);
        for (name, value) in other.metrics {
            self.metrics
                .entry(name)
                .and_modify(|first| *first = f64::midpoint(*first, value))
                .or_insert(value);
        }
        Ok(self)
    }
}

/// One line of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The workload's name.
    pub workload: String,
    /// Who ran it: `firesteel`, `limit`, `spark`, `ray`, `dask`.
    pub system: String,
    /// Where, in the system's own words.
    pub master: String,
    /// Its version, if it is a peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The factor of the workload's size.
    pub scale: f64,
    /// The time in the middle.
    pub median_seconds: f64,
    /// The shortest time.
    pub best_seconds: f64,
    /// Every time, in order.
    pub seconds: Vec<f64>,
    /// What is counted.
    pub unit: String,
    /// How many of them a run has.
    pub units: f64,
    /// Units a second, at the median.
    pub rate: f64,
    /// The most memory at once.
    pub peak_resident_bytes: u64,
    /// The whole answer.
    pub checksum: Checksum,
    /// Other figures.
    #[serde(default, skip_serializing_if = "Metrics::is_empty")]
    pub metrics: Metrics,
}

impl Record {
    /// The record of what a system reported of a workload.
    pub fn new(workload: &Workload, scale: f64, system: &str, master: &str, report: Report) -> Result<Self> {
        let mut seconds = report.seconds;
        seconds.sort_by(f64::total_cmp);
        let Some(best_seconds) = seconds.first().copied() else {
            bail!("{system} reported no times for {}", workload.name)
        };
        let median_seconds = median(&seconds);
        let units = (workload.units)(&(workload.sizes)(scale));
        Ok(Self {
            workload: workload.name.to_owned(),
            system: system.to_owned(),
            master: master.to_owned(),
            version: None,
            scale,
            median_seconds,
            best_seconds,
            seconds,
            unit: workload.unit.to_owned(),
            units,
            rate: units / median_seconds,
            peak_resident_bytes: report.peak_resident_bytes,
            checksum: report.checksum,
            metrics: report.metrics,
        })
    }
}

/// The number in the middle of numbers in order, the mean of two; 0 of none.
pub fn median(sorted: &[f64]) -> f64 {
    match (sorted.len() / 2, sorted.len() % 2) {
        (0, 0) => 0.0,
        (half, 0) => f64::midpoint(sorted[half - 1], sorted[half]),
        (half, _) => sorted[half],
    }
}

/// The number below which `permille` thousandths of numbers in order lie; 0 of none.
pub fn quantile(sorted: &[f64], permille: usize) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((sorted.len() * permille / 1000).min(last)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload;

    fn report(seconds: &[f64], checksum: Checksum) -> Report {
        let metrics = Metrics::from([("p50".to_owned(), seconds[0])]);
        Report { seconds: seconds.to_vec(), checksum, peak_resident_bytes: 7, metrics }
    }

    #[test]
    fn a_report_survives_the_way_from_its_process() {
        let sent = report(&[1.5, 0.25], Checksum::rows(3));

        let read = Report::read(&sent.line().unwrap());

        assert_eq!(read.unwrap().unwrap(), sent);
        assert!(Report::read("something else").is_none());
        assert!(Report::read("RESULT {").unwrap().is_err());
    }

    #[test]
    fn reports_of_different_answers_are_not_joined() {
        let joined = report(&[1.0], Checksum::rows(3)).join(report(&[3.0], Checksum::rows(3))).unwrap();
        let refused = report(&[1.0], Checksum::rows(3)).join(report(&[3.0], Checksum::rows(4)));

        assert_eq!((joined.seconds, joined.metrics["p50"]), (vec![1.0, 3.0], 2.0));
        assert_eq!(refused.unwrap_err().to_string(), "two runs gave two answers: 3 and 4");
    }

    #[test]
    fn a_record_has_median_best_and_rate() {
        let workload = workload::find("empty_tasks").unwrap();

        let record =
            Record::new(workload, 0.1, "limit", "threads", report(&[4.0, 1.0, 2.0], Checksum::rows(3)));

        let record = record.unwrap();
        assert_eq!((record.median_seconds, record.best_seconds, record.rate), (2.0, 1.0, 1000.0));
        assert!(Record::new(workload, 1.0, "limit", "threads", report(&[0.0], Checksum::rows(1))).is_ok());
    }

    #[test]
    fn medians_and_quantiles_are_those_of_the_book() {
        let medians = [&[][..], &[3.0], &[1.0, 2.0], &[1.0, 5.0, 9.0]].map(median);
        assert_eq!(format!("{medians:?}"), "[0.0, 3.0, 1.5, 5.0]");
        let hundred: Vec<f64> = (0..100).map(f64::from).collect();
        let quantiles = [500, 990, 1000].map(|permille| quantile(&hundred, permille));
        assert_eq!(format!("{quantiles:?}"), "[50.0, 99.0, 99.0]");
    }
}
