//! From records to tables: one for each place where Firesteel ran, one for other figures.

use super::{
    Cell, Grid,
    number::{bytes, rate, seconds, times},
};
use crate::{
    child::is_local,
    compare::Comparison,
    report::Record,
    workload::{Targets, WORKLOADS},
};

/// How much of Spark's memory we want to take at most.
const MEMORY_SHARE: f64 = 1.0 / 3.0;

/// The tables of a comparison.
pub fn grids(comparison: &Comparison) -> Vec<Grid> {
    let mut masters: Vec<&str> = Vec::new();
    for record in comparison.records.iter().filter(|record| record.system == "firesteel") {
        if !masters.contains(&record.master.as_str()) {
            masters.push(&record.master);
        }
    }
    let mut grids: Vec<Grid> = masters.iter().map(|master| side_by_side(comparison, master)).collect();
    grids.push(other_figures(comparison));
    grids.retain(|grid| !grid.rows.is_empty());
    grids
}

/// A system beside Firesteel in a table.
struct Other<'a> {
    system: &'a str,
    master: &'a str,
}

/// Those that are to stand beside a master of ours: all of them beside a local one, a cluster beside a cluster.
fn others(comparison: &Comparison, local: bool) -> Vec<Other<'_>> {
    let mut others: Vec<Other<'_>> = Vec::new();
    for record in comparison.records.iter().filter(|record| record.system != "firesteel") {
        let beside = if local { record.master != SPARK_CLUSTER } else { record.master == SPARK_CLUSTER };
        let known = others.iter().any(|other| other.system == record.system && other.master == record.master);
        if beside && !known {
            others.push(Other { system: &record.system, master: &record.master });
        }
    }
    others
}

const SPARK_CLUSTER: &str = "standalone[2,1]";

fn side_by_side(comparison: &Comparison, master: &str) -> Grid {
    let local = is_local(master);
    let others = others(comparison, local);
    let mut head = ["workload", "median", "best", "rate", "peak memory"].map(str::to_owned).to_vec();
    for other in &others {
        match other.system {
            "limit" => head.extend(["by hand".to_owned(), "time against by hand".to_owned()]),
            "spark" => head.extend(["Spark", "faster than Spark", "of Spark's memory"].map(str::to_owned)),
            name => head.extend([name.to_owned(), format!("faster than {name}")]),
        }
    }
    let rows = WORKLOADS.iter().filter_map(|workload| {
        let ours = comparison.record(workload.name, "firesteel", master)?;
        let mut row = our_cells(ours, &workload.targets, local);
        for other in &others {
            let theirs = comparison.record(workload.name, other.system, other.master);
            row.extend(their_cells(ours, theirs, other.system, &workload.targets, local));
        }
        Some(row)
    });
    let rows = rows.collect();
    Grid { title: format!("Firesteel on {master}"), head, rows }
}

fn our_cells(ours: &Record, targets: &Targets, local: bool) -> Vec<Cell> {
    let bound = if local { targets.seconds_local } else { targets.seconds_cluster };
    let time = seconds(ours.median_seconds);
    let time = match bound {
        Some(bound) => Cell::judged(&time, &format!("≤ {}", seconds(bound)), ours.median_seconds <= bound),
        None => Cell::plain(time),
    };
    let speed = match targets.rate.filter(|_| local) {
        Some(bound) => {
            let percent = |value: f64| format!("{:.1} %", value * 100.0);
            Cell::judged(&percent(ours.rate), &format!("≥ {}", percent(bound)), ours.rate >= bound)
        }
        None => Cell::plain(rate(ours.rate, &ours.unit)),
    };
    let peak = Cell::plain(bytes(ours.peak_resident_bytes));
    vec![Cell::plain(&ours.workload), time, Cell::plain(seconds(ours.best_seconds)), speed, peak]
}

fn their_cells(
    ours: &Record,
    theirs: Option<&Record>,
    system: &str,
    targets: &Targets,
    local: bool,
) -> Vec<Cell> {
    let columns = if system == "spark" { 3 } else { 2 };
    let Some(theirs) = theirs else { return vec![Cell::plain("–"); columns] };
    let time = Cell::plain(seconds(theirs.median_seconds));
    let faster = theirs.median_seconds / ours.median_seconds;
    match system {
        "limit" => {
            let slower = ours.median_seconds / theirs.median_seconds;
            vec![time, bounded(slower, targets.limit.filter(|_| local), "≤", slower_or_equal)]
        }
        "spark" => {
            let bound = if local { targets.spark_local } else { targets.spark_cluster };
            let share = ours.peak_resident_bytes as f64 / theirs.peak_resident_bytes as f64;
            let percent = format!("{:.0} %", share * 100.0);
            let memory = Cell::judged(&percent, "≤ 33 %", share <= MEMORY_SHARE);
            vec![time, bounded(faster, bound, "≥", |value, bound| value >= bound), memory]
        }
        _ => vec![time, Cell::plain(times(faster))],
    }
}

fn slower_or_equal(value: f64, bound: f64) -> bool {
    value <= bound
}

fn bounded(value: f64, bound: Option<f64>, sign: &str, reached: fn(f64, f64) -> bool) -> Cell {
    match bound {
        Some(bound) => Cell::judged(&times(value), &format!("{sign} {bound}"), reached(value, bound)),
        None => Cell::plain(times(value)),
    }
}

/// Figures beside times, such as latencies: a row for each.
fn other_figures(comparison: &Comparison) -> Grid {
    let head = ["workload", "system", "figure", "value"].map(str::to_owned).to_vec();
    let mut rows = Vec::new();
    for record in &comparison.records {
        let targets = WORKLOADS.iter().find(|workload| workload.name == record.workload);
        let targets = targets.map_or(&[][..], |workload| workload.targets.figures);
        for (name, value) in record.metrics.iter().filter(|(name, _)| *name != crate::measure::CPU_SECONDS) {
            let bound =
                targets.iter().find(|(known, _, _)| known == name).filter(|_| record.system == "firesteel");
            let text = format!("{value:.1}");
            let value = match bound {
                Some((_, local, cluster)) => {
                    let bound = if is_local(&record.master) { *local } else { *cluster };
                    Cell::judged(&text, &format!("≤ {bound}"), *value <= bound)
                }
                None => Cell::plain(text),
            };
            let system = format!("{} {}", record.system, record.master);
            rows.push(vec![Cell::plain(&record.workload), Cell::plain(system), Cell::plain(name), value]);
        }
    }
    Grid { title: "Other figures".to_owned(), head, rows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checksum::Checksum,
        report::{Metrics, Report},
        workload::find,
    };

    fn record(workload: &str, system: &str, master: &str, time: f64, peak: u64, metrics: Metrics) -> Record {
        let report =
            Report { seconds: vec![time], checksum: Checksum::rows(1), peak_resident_bytes: peak, metrics };
        Record::new(find(workload).unwrap(), 1.0, system, master, report).unwrap()
    }

    fn texts(row: &[Cell]) -> Vec<String> {
        row.iter().map(Cell::marked).collect()
    }

    #[test]
    fn ratios_are_judged_by_the_figures_we_want() {
        let records = vec![
            record("join", "firesteel", "local[2]", 0.5, 100_000_000, Metrics::new()),
            record("join", "limit", "2 threads", 0.2, 50_000_000, Metrics::new()),
            record("join", "spark", "local[2]", 10.0, 1_000_000_000, Metrics::new()),
            record("join", "firesteel", "local-cluster[2,1,4096]", 1.0, 100_000_000, Metrics::new()),
            record("join", "spark", "standalone[2,1]", 11.0, 1_000_000_000, Metrics::new()),
        ];

        let grids = grids(&Comparison { records, ..Comparison::default() });

        assert_eq!(grids.len(), 2);
        let expected = [
            "join",
            "500 ms",
            "500 ms",
            "4.00 M rows/s",
            "100 MB",
            "200 ms",
            "2.50× (≤ 2) ✗",
            "10.0 s",
            "20.0× (≥ 18) ✓",
            "10 % (≤ 33 %) ✓",
        ];
        assert_eq!(texts(&grids[0].rows[0]), expected);
        assert_eq!(texts(&grids[1].rows[0])[5..], ["11.0 s", "11.0× (≥ 12) ✗", "10 % (≤ 33 %) ✓"]);
    }

    #[test]
    fn efficiency_and_latency_have_figures_of_their_own() {
        let waits = Metrics::from([("p50_us".to_owned(), 120.0), ("cpu_seconds".to_owned(), 1.0)]);
        let records = vec![
            record("efficiency_1ms", "firesteel", "local[2]", 1.25, 1, Metrics::new()),
            record("latency", "firesteel", "local[2]", 1.0, 1, waits),
        ];

        let grids = grids(&Comparison { records, ..Comparison::default() });

        assert_eq!(grids[0].rows[1][3].marked(), "80.0 % (≥ 90.0 %) ✗");
        assert_eq!(texts(&grids[1].rows[0]), ["latency", "firesteel local[2]", "p50_us", "120.0 (≤ 100) ✗"]);
    }

    #[test]
    fn a_system_that_does_not_have_a_workload_leaves_its_cells_empty() {
        let records = vec![
            record("join", "firesteel", "local[2]", 0.5, 1, Metrics::new()),
            record("tiny_jobs", "firesteel", "local[2]", 0.5, 1, Metrics::new()),
            record("tiny_jobs", "ray", "2 processes", 5.0, 1, Metrics::new()),
        ];

        let grids = grids(&Comparison { records, ..Comparison::default() });

        let last: Vec<Vec<String>> = grids[0].rows.iter().map(|row| texts(&row[5..])).collect();
        assert_eq!(last, [["5.00 s", "10.0×"], ["–", "–"]]);
    }
}
