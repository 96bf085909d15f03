//! Rows that come in another order in each run, and executors that die meanwhile: the answer is of one run.
//!
//! Where rows go that are dealt in turn depends on their order. What is left of one run and what a later one made again
//! do not fit together: some rows come twice, and others not at all.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicBool, Ordering},
};

use firesteel::{HashPartitioner, StorageLevel, prelude::*};
use rustix::process::Signal;
use serde::{Deserialize, Serialize, Serializer};

use crate::{
    gate::wait_until,
    process::{executors, is_alive, signal},
};

const ROWS: u64 = 4000;

/// A cluster whose executors take their map outputs with them.
fn cluster() -> Context {
    let builder = Context::builder().master("local-cluster[2,1,1024]");
    builder.set("firesteel.shuffle.service.enabled", false).unwrap().start().unwrap()
}

/// Numbers in four partitions, dealt in turn from rows in an order that no two runs share.
fn dealt(ctx: &Context) -> impl Rdd<Item = u64> + use<> {
    let pairs = ctx.range_into(0..ROWS, 4).map(|x| (x, x)).partition_by(HashPartitioner::new(4));
    let in_any_order = pairs.map_partitions(|rows| {
        let order = RandomState::new();
        let mut rows: Vec<u64> = rows.map(|(x, _)| x).collect();
        rows.sort_by_cached_key(|row| order.hash_one(row));
        Rows::new(rows)
    });
    in_any_order.repartition(4)
}

/// How many rows there are, and how many different ones.
fn counts(rows: impl IntoIterator<Item = u64>) -> (usize, usize) {
    let rows: Vec<_> = rows.into_iter().collect();
    (rows.len(), rows.iter().collect::<BTreeSet<_>>().len())
}

/// Half of the outputs of every shuffle are lost between two jobs.
///
/// Behaviours: DAG-050.
#[test]
fn a_second_job_on_what_is_left_reads_rows_of_one_run() {
    let ctx = cluster();
    let rows = dealt(&ctx).map(|x| (x, x)).partition_by(HashPartitioner::new(4)).values();
    assert_eq!(counts(rows.collect().unwrap()), (4000, 4000));
    let victim = executors(&ctx, 2)[0];

    signal(victim, Signal::KILL);
    wait_until("the victim is gone", || !is_alive(victim));
    assert!(!executors(&ctx, 2).contains(&victim), "the driver knows, and another one came in its place");

    assert_eq!(counts(rows.collect().unwrap()), (4000, 4000));
}

/// Half of the stored partitions are lost with their executor, and so are map outputs. What is left was made from the first
/// run, and what is computed again would be made from the second.
///
/// Behaviours: DAG-050.
#[test]
fn stored_partitions_are_of_one_run() {
    for level in [StorageLevel::MEMORY_ONLY, StorageLevel::DISK_ONLY] {
        let ctx = cluster();
        let rows = dealt(&ctx).persist(level);
        let doubled = rows.map(|x| 2 * x).persist(level);
        assert_eq!(doubled.count().unwrap(), 4000);
        let victim = executors(&ctx, 2)[0];

        signal(victim, Signal::KILL);
        wait_until("the victim is gone", || !is_alive(victim));
        assert!(!executors(&ctx, 2).contains(&victim), "the driver knows, and another one came in its place");

        assert_eq!(counts(rows.collect().unwrap()), (4000, 4000), "{level:?}");
        assert_eq!(counts(doubled.collect().unwrap()), (4000, 4000), "{level:?}");
    }
}

/// The error of an action that would have to mix two runs.
fn assert_does_not_mix(error: &Error) {
    let error = error.to_string();
    assert!(error.contains("indeterminate output ran again"), "{error}");
    assert!(error.contains("handed out"), "{error}");
}

/// The first partition comes alone. The task of the next one ends its executor, whose map outputs go with it.
///
/// Behaviours: DAG-051.
#[test]
fn take_does_not_go_on_with_rows_of_another_run() {
    let ctx = cluster();
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("was killed").to_str().unwrap().to_owned();
    let rows = dealt(&ctx).with(marker).map_partitions(|marker, rows| {
        let is_second = TaskContext::current().unwrap().partition().0 == 1;
        if is_second && std::fs::File::create_new(marker).is_ok() {
            signal(std::process::id(), Signal::KILL);
        }
        rows
    });

    assert_does_not_mix(&rows.take(1500).unwrap_err());

    assert_eq!(counts(rows.take(4001).unwrap()), (4000, 4000), "once all rows are of one run they come");
}

/// Behaviours: DAG-051.
#[test]
fn rows_that_come_one_partition_at_a_time_are_of_one_run() {
    let ctx = cluster();
    let dealt = dealt(&ctx);
    let mut rows = dealt.to_local_iterator();
    assert!(rows.next().unwrap().is_ok());
    let victim = executors(&ctx, 2)[0];

    signal(victim, Signal::KILL);
    wait_until("the victim is gone", || !is_alive(victim));
    assert!(!executors(&ctx, 2).contains(&victim), "the driver knows, and another one came in its place");

    let mut rest: Vec<Result<u64>> = rows.collect();
    assert_does_not_mix(&rest.pop().unwrap().unwrap_err());
    assert!(rest.len() < 2000 && rest.iter().all(Result::is_ok), "those of the first partition had come");
    assert_eq!(counts(dealt.to_local_iterator().map(Result::unwrap)), (4000, 4000));
}

/// Whether the process ends when it reports the next accumulator.
static ENDS_AT_REPORT: AtomicBool = AtomicBool::new(false);

/// An update of an accumulator that may end the process which sends it.
#[derive(Clone, Debug, Deserialize)]
struct Deadly;

impl Serialize for Deadly {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if ENDS_AT_REPORT.load(Ordering::Relaxed) {
            signal(std::process::id(), Signal::KILL);
        }
        serializer.serialize_unit_struct("Deadly")
    }
}

/// The rows of the first run of the stage that computes them end its executors between the commit and the report.
fn dies_before_its_report<R: Rdd<Item = u64>>(ctx: &Context, rows: &R) -> impl Rdd<Item = u64> + use<R> {
    let deadly = ctx.collection_accumulator::<Deadly>("deadly");
    rows.with(deadly).map_partitions(|deadly, rows| {
        let is_first_run = TaskContext::current().unwrap().stage().attempt == 0;
        ENDS_AT_REPORT.store(is_first_run, Ordering::Relaxed);
        deadly.add(Deadly);
        rows
    })
}

/// Both executors have written and committed a file each when they end. The map outputs go with them, so all is dealt
/// anew, and what the files have is of no use.
#[test]
fn a_saved_folder_has_the_rows_of_one_run() {
    let ctx = cluster();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let rows = dies_before_its_report(&ctx, &dealt(&ctx));

    rows.save_as_text_file(out.to_str().unwrap()).unwrap();

    let saved = ctx.text_file(out.to_str().unwrap()).unwrap().collect().unwrap();
    assert_eq!(counts(saved.iter().map(|line| line.parse().unwrap())), (4000, 4000));
    let mut names: Vec<_> =
        std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["_SUCCESS", "part-00000", "part-00001", "part-00002", "part-00003"]);
}
