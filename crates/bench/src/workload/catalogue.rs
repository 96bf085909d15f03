//! The list of all workloads.

use anyhow::{Result, bail};

use super::{
    Workload,
    broadcast_join::BROADCAST_JOIN,
    cached_scan::CACHED_SCAN,
    cold_start::COLD_START,
    efficiency::{EFFICIENCY_1MS, EFFICIENCY_10MS, EFFICIENCY_100MS, EFFICIENCY_100US},
    empty_tasks::EMPTY_TASKS,
    executor_loss::EXECUTOR_LOSS,
    group_by_key::GROUP_BY_KEY,
    join::JOIN,
    kmeans::KMEANS,
    latency::LATENCY,
    many_stages::MANY_STAGES,
    narrow_pipeline::NARROW_PIPELINE,
    pagerank::PAGERANK,
    reduce_by_key::REDUCE_BY_KEY,
    skewed_join::SKEWED_JOIN,
    sort_by_key::SORT_BY_KEY,
    terasort::TERASORT,
    terasort::TERASORT_SPILL,
    tiny_jobs::TINY_JOBS,
    tiny_shuffle_jobs::TINY_SHUFFLE_JOBS,
    wide::WIDE,
    wordcount::{WORDCOUNT, WORDCOUNT_STRINGS},
};

/// Every workload, in the order in which they are listed and run.
pub static WORKLOADS: [Workload; 26] = [
    EMPTY_TASKS,
    TINY_JOBS,
    TINY_SHUFFLE_JOBS,
    NARROW_PIPELINE,
    WORDCOUNT,
    WORDCOUNT_STRINGS,
    REDUCE_BY_KEY,
    GROUP_BY_KEY,
    SORT_BY_KEY,
    JOIN,
    PAGERANK,
    CACHED_SCAN,
    TERASORT,
    TERASORT_SPILL,
    KMEANS,
    SKEWED_JOIN,
    BROADCAST_JOIN,
    MANY_STAGES,
    WIDE,
    COLD_START,
    EXECUTOR_LOSS,
    LATENCY,
    EFFICIENCY_100US,
    EFFICIENCY_1MS,
    EFFICIENCY_10MS,
    EFFICIENCY_100MS,
];

/// The workload of this name.
pub fn find(name: &str) -> Result<&'static Workload> {
    match WORKLOADS.iter().find(|workload| workload.name == name) {
        Some(workload) => Ok(workload),
        None => bail!("there is no workload `{name}`: `firesteel-bench list` shows all of them"),
    }
}

/// The workloads of a list of names with commas between; `all` is everything, and nothing the usual ones.
pub fn select(names: Option<&str>) -> Result<Vec<&'static Workload>> {
    match names {
        None => Ok(WORKLOADS.iter().filter(|workload| workload.usual).collect()),
        Some("all") => Ok(WORKLOADS.iter().collect()),
        Some(names) => names.split(',').map(|name| find(name.trim())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_are_found() {
        for (index, workload) in WORKLOADS.iter().enumerate() {
            assert!(WORKLOADS[..index].iter().all(|other| other.name != workload.name), "{}", workload.name);
            assert_eq!(find(workload.name).unwrap().what, workload.what);
        }
    }

    #[test]
    fn lists_of_names_are_read() {
        let names = |list| select(list).unwrap().iter().map(|workload| workload.name).collect::<Vec<_>>();

        assert_eq!(names(Some("join, wide")), ["join", "wide"]);
        assert_eq!(names(Some("all")).len(), WORKLOADS.len());
        assert!(!names(None).contains(&"terasort_spill"));
        let error = select(Some("jion")).err().unwrap().to_string();
        assert_eq!(error, "there is no workload `jion`: `firesteel-bench list` shows all of them");
    }

    #[test]
    fn every_workload_has_work_at_any_scale() {
        for workload in &WORKLOADS {
            for scale in [1e-9, 1.0, 16.0] {
                assert!((workload.units)(&(workload.sizes)(scale)) > 0.0, "{} at {scale}", workload.name);
            }
        }
    }
}
