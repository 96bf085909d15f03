//! What a workload is.

use std::path::Path;

use firesteel::Context;

use super::{Job, Sizes};

/// A job that every system can run.
#[derive(Debug)]
pub struct Workload {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub what: &'static str,
    /// What is counted.
    pub unit: &'static str,
    /// How large it is, at a factor.
    pub sizes: fn(f64) -> Sizes,
    /// How many units a run of that size has.
    pub units: fn(&Sizes) -> f64,
    /// The job on the engine.
    pub engine: fn(&Setup<'_>) -> Job,
    /// The job by hand, where that means anything.
    pub limit: Option<fn(&Sizes, &Path) -> Job>,
    /// Whether it needs executors in processes of their own.
    pub cluster_only: bool,
    /// Whether what is timed is a whole process, from its start to its first result.
    pub cold: bool,
    /// Whether it reads the text that [`data::text`](crate::data::text) writes.
    pub reads_text: bool,
    /// How much memory the engine gets, where that is part of the workload.
    pub memory: Option<&'static str>,
    /// How often the engine and the program by hand run it by default, for one run of a peer.
    pub runs: usize,
    /// Whether a comparison has it without being told: those that take very long are left out.
    pub usual: bool,
    /// The figures we want to reach.
    pub targets: Targets,
}

/// What an engine's job has at hand.
#[derive(Debug)]
pub struct Setup<'a> {
    /// The application.
    pub ctx: &'a Context,
    /// Where it runs.
    pub master: &'a str,
    /// How large the run is.
    pub sizes: &'a Sizes,
    /// The folder with the input.
    pub data: &'a Path,
}

/// Figures to reach, on two cores; those that are not there are not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Targets {
    /// How many times as fast as Spark, both local.
    pub spark_local: Option<f64>,
    /// How many times as fast as Spark, both with two executors of one core.
    pub spark_cluster: Option<f64>,
    /// How many times the time of the program by hand, at most.
    pub limit: Option<f64>,
    /// How many seconds at most, local.
    pub seconds_local: Option<f64>,
    /// How many seconds at most, on a cluster.
    pub seconds_cluster: Option<f64>,
    /// How many units a second at least, local.
    pub rate: Option<f64>,
    /// Other figures by name, each with its most, local and on a cluster.
    pub figures: &'static [(&'static str, f64, f64)],
}

impl Targets {
    /// No figures.
    pub const NONE: Self = Self {
        spark_local: None,
        spark_cluster: None,
        limit: None,
        seconds_local: None,
        seconds_cluster: None,
        rate: None,
        figures: &[],
    };

    /// Times as fast as Spark, local and on a cluster.
    pub const fn spark(local: f64, cluster: f64) -> Self {
        Self { spark_local: Some(local), spark_cluster: Some(cluster), ..Self::NONE }
    }

    /// The same with a bound on the time against the program by hand.
    #[must_use]
    pub const fn limit(self, times: f64) -> Self {
        Self { limit: Some(times), ..self }
    }
}

impl Workload {
    /// What most workloads have in common; the rest is up to each.
    pub(super) const PLAIN: Self = Self {
        name: "",
        what: "",
        unit: "rows",
        sizes: |_| Sizes::default(),
        units: |sizes| sizes.of("rows") as f64,
        engine: |_| unreachable!("every workload has a job of its own"),
        limit: None,
        cluster_only: false,
        cold: false,
        reads_text: false,
        memory: None,
        runs: 5,
        usual: true,
        targets: Targets::NONE,
    };
}
